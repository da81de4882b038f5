"""A two-stage LangChain retriever: BM25 retrieves candidates, a matcher re-ranks them."""

from langchain_core.callbacks import CallbackManagerForRetrieverRun
from langchain_core.documents import Document
from langchain_core.retrievers import BaseRetriever

from matchwork import BM25, toy, train
from matchwork.integrations.langchain import MatchworkRerank
from matchwork.matcher import Matcher

DATA = toy()
TEXTS = [text for split in DATA.splits.values() for text in split.documents.values()]


class TwoStages(BaseRetriever):
    """Retrieve with BM25 and re-rank."""

    index: BM25
    rerank: MatchworkRerank

    def _get_relevant_documents(
        self, query: str, *, run_manager: CallbackManagerForRetrieverRun
    ) -> list[Document]:
        (found,) = self.index.search([query], top_k=20)
        return self.rerank.compress_documents(
            [Document(TEXTS[int(place)]) for place in found], query
        )


def main() -> None:
    """Train a matcher, build the retriever, ask it."""
    matcher = Matcher.build("bag", DATA["train"].texts)
    train(matcher, DATA, max_epochs=5, seed=7)
    retriever = TwoStages(index=BM25.fit(TEXTS), rerank=MatchworkRerank(model=matcher, top_n=3))
    for document in retriever.invoke("author of the play hamlet"):
        print(f"{document.metadata['relevance_score']:.3f}", document.page_content)


if __name__ == "__main__":
    main()
