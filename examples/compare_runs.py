"""Compare two rankings of the same queries with a paired test."""

import matchwork as mw
from matchwork.data import read_qrels, read_run, write_qrels, write_run


def main() -> None:
    """Compare BM25 with and without stemming, by way of TREC run files."""
    data = mw.toy()
    queries, documents, qrels = {}, {}, {}
    for split in data.splits.values():
        queries |= split.queries
        documents |= split.documents
        qrels |= split.qrels
    write_qrels("toy.qrels", qrels)
    for name, stemmer in (("plain", None), ("stemmed", "english")):
        found = mw.BM25.fit(documents, stemmer=stemmer).retrieve(queries, 10)
        write_run(f"{name}.run", found, name)

    judged = read_qrels("toy.qrels")
    plain, stemmed = (
        mw.evaluate(read_run(f"{name}.run"), judged, ["AP", "RR"]) for name in ("plain", "stemmed")
    )
    for measure, found in mw.compare(stemmed, plain).items():
        low, high = stemmed.interval(measure)
        print(
            f"{measure}: {found.baseline:.3f} -> {found.value:.3f} [{low:.3f}, {high:.3f}], "
            f"p {found.p_value:.3f} (Holm {found.adjusted_p:.3f}), "
            f"{found.wins} won, {found.losses} lost, {found.ties} equal"
        )


if __name__ == "__main__":
    main()
