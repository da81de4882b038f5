"""Two stages: BM25 finds documents, a matcher re-ranks them, a weight from dev joins the two."""

from matchwork import BM25, MODELS, Matcher, Pipeline, WordEmbedding, WordTokenizer, toy, train


def main() -> None:
    """Index everything, train a matcher, search."""
    data = toy()
    documents = {id: text for split in data.splits.values() for id, text in split.documents.items()}
    tokenizer = WordTokenizer.fit(data["train"].texts)
    encoder = WordEmbedding.from_vocabulary(tokenizer.vocabulary, dim=50, trainable=True)
    entry = MODELS["bag"]
    matcher = Matcher(tokenizer, entry.model(entry.config({}), encoder))
    train(matcher, data, max_epochs=5, seed=7)

    pipeline = Pipeline(BM25.fit(documents, stemmer="english"), matcher, depth=20)
    pipeline = pipeline.fit_weight(data["dev"])
    print(f"the matcher's share is {pipeline.weight:g}")
    for hit in pipeline.rank("which sentence tells who wrote hamlet", top_k=3):
        print(hit.rank, f"{hit.score:.3f}", hit.document.text)


if __name__ == "__main__":
    main()
