"""Search in two stages: BM25 retrieves, a matcher re-ranks, and both scores are fused."""

from matchwork import BM25, Pipeline, toy, train
from matchwork.matcher import Matcher


def main() -> None:
    """Index everything, train a matcher, search."""
    data = toy()
    documents = {id: text for split in data.splits.values() for id, text in split.documents.items()}
    matcher = Matcher.build("bag", data["train"].texts)
    train(matcher, data, max_epochs=5, seed=7)

    # Equal weights; with enough dev queries, use `matchwork.evaluate.fusion.fit_weight`.
    pipeline = Pipeline(BM25.fit(documents, stemmer="english"), matcher, depth=20, weight=0.5)
    for hit in pipeline.search("author of the play hamlet", top_k=3):
        print(hit.rank, f"{hit.score:.3f}", hit.document.text)


if __name__ == "__main__":
    main()
