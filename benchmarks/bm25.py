"""Queries a second of BM25 search, beside bm25s by itself on the same index."""

from typing import Any

import numpy as np

from benchmarks.clock import medians
from benchmarks.figures import Figure, Figures
from benchmarks.workload import texts
from matchwork.rank import BM25

TOP_K = 100


def run(quick: bool) -> Figures:
    """Queries of 8 words in documents of 60."""
    num_queries, num_documents = (5, 100) if quick else (200, 20_000)
    rng = np.random.default_rng(0)
    queries, documents = texts(num_queries, 8, rng), texts(num_documents, 60, rng)
    index, alone = BM25.fit(documents), _bm25s(documents)
    words = [query.split() for query in queries]
    top_k = min(TOP_K, num_documents)
    ours, theirs = medians(
        1 if quick else 5,
        lambda: index.search(queries, top_k),
        lambda: alone.retrieve(words, k=top_k, show_progress=False, backend_selection="numpy"),
    )
    return {
        "queries searched": Figure(
            value=num_queries / ours,
            unit="queries/s",
            peer=num_queries / theirs,
            peer_name="bm25s alone",
        )
    }


def _bm25s(documents: list[str]) -> Any:
    import bm25s

    engine = bm25s.BM25(method="lucene", dtype="float64", backend="numpy")
    engine.index([text.split() for text in documents], show_progress=False)
    return engine
