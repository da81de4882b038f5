"""One query and 1,000 texts re-ranked on two threads, beside sentence-transformers.

Both read the same cross-encoder: MiniLM trained for 30 steps on relevant texts and others. Orders
are compared over 200 of the texts for each of 10 questions.
"""

import sys
from collections.abc import Callable
from itertools import product
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter, process_time
from typing import Any

if not __package__:  # started as a file
    sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import numpy as np
import torch
from scipy.stats import spearmanr

from benchmarks.as_file import CORES, options, read, tell, threads
from benchmarks.clock import medians
from benchmarks.figures import Figure, Figures, Target
from benchmarks.fine_tuning import on_gpu
from benchmarks.rerank_model import STEPS, make_cross_encoder
from benchmarks.workload import lengths
from matchwork.data import Dataset, load, toy
from matchwork.errors import MatchworkError
from matchwork.matcher import Matcher
from matchwork.types import TextPair

QUERY, SECOND_QUERY = "how are glacier caves formed ?", "who wrote the first novel in english ?"
DOCUMENTS, WORDS = 1_000, 60
QUERIES, FEW = 10, 200  # questions and texts of which orders are compared
GPU_PURPOSE = "Training ADDAX on a GPU, beside a plain cross-encoder; its time by parts."
PEER = "sentence-transformers"


def run(quick: bool) -> Figures:
    """Cross-encoders of equal weights, in full and in int8; then documents encoded once."""
    from sentence_transformers import CrossEncoder

    data = toy() if quick else load("wikiqa" if has_wikiqa() else "pydocs")
    cores, steps, repeats, num_queries, num_documents = (
        (1, 1, 1, 2, 6) if quick else (CORES, STEPS, 5, QUERIES, DOCUMENTS)
    )
    documents, queries = passages(data, num_documents), list(data["test"].queries.values())
    queries = queries[:: len(queries) // num_queries][:num_queries]
    with TemporaryDirectory() as folder:
        with threads(1):  # the same weights on any machine
            make_cross_encoder(Path(folder), data["train"], steps)
        full, rounded = Matcher.load(folder), Matcher.load(folder, precision="int8")
        peer = CrossEncoder(folder, device="cpu")
    with threads(cores):
        figures = _speeds(full, rounded, peer, documents, repeats)
        figures |= _orders(full, rounded, list(product(queries, documents[:FEW])), num_queries)
        for name in ("minilm-maxsim", "minilm-cosine"):
            figures[f"second query, {name}"] = _second_query(name, documents, 1 if quick else 5)
    return figures


def passages(data: Dataset, num: int) -> list[str]:
    """Texts of all splits; those of `pydocs` are long, and only their beginnings are taken."""
    rng = np.random.default_rng(0)
    found = {text for split in data.splits.values() for text in split.documents.values()}
    drawn: list[str] = rng.permutation(sorted(found))[:num].tolist()
    if data.name != "pydocs":
        return drawn
    sizes = lengths(len(drawn), WORDS, rng, spread=0.5)
    return [" ".join(t.split()[:size]) for t, size in zip(drawn, sizes.tolist(), strict=True)]


def has_wikiqa() -> bool:
    """Whether the data set is on this machine."""
    try:
        load("wikiqa", splits=["dev"])
    except MatchworkError:
        return False
    return True


def _speeds(
    full: Matcher, rounded: Matcher, peer: Any, documents: list[str], repeats: int
) -> Figures:
    """By the clock on two threads; and by processor time, on which others have little influence."""
    few = documents[:FEW]
    pairs = [(QUERY, document) for document in few]
    expected = peer.predict(pairs, activation_fn=torch.nn.Identity(), show_progress_bar=False)
    np.testing.assert_allclose(full.score(pairs), expected, atol=1e-5)

    def jobs(texts: list[str]) -> list[Callable[[], object]]:
        return [
            lambda: full.rerank(QUERY, texts),
            lambda: rounded.rerank(QUERY, texts),
            lambda: peer.rank(QUERY, texts, show_progress_bar=False),
        ]

    with threads(1):
        alone = medians(repeats, *jobs(few), clock=process_time)
    together = medians(repeats, *jobs(documents), warm=True)
    ours, fewer, theirs = (len(documents) / seconds for seconds in together)
    return {
        "cross-encoder": _speed(ours, theirs, Target("ratio", "least", 1.0)),
        "cross-encoder, int8": _speed(fewer, theirs, Target("ratio", "least", 2.0)),
        **{
            f"{name}, processor time of one thread": _speed(len(few) / spent, len(few) / alone[2])
            for name, spent in zip(("cross-encoder", "cross-encoder, int8"), alone, strict=False)
        },
    }


def _speed(value: float, peer: float, target: Target | None = None) -> Figure:
    return Figure(value=value, unit="pairs/s", peer=peer, peer_name=PEER, target=target)


def _orders(full: Matcher, rounded: Matcher, pairs: list[TextPair], num_queries: int) -> Figures:
    """How like each other the orders of both precisions are, query by query."""
    exact, nearly = (matcher.score(pairs).reshape(num_queries, -1) for matcher in (full, rounded))
    found = [float(spearmanr(*both).statistic) for both in zip(exact, nearly, strict=True)]
    return {
        "cross-encoder, int8, order": _order(
            float(np.mean(found)), Target("value", "least", 0.995)
        ),
        "cross-encoder, int8, order, worst query": _order(min(found)),
    }


def _order(value: float, target: Target | None = None) -> Figure:
    return Figure(
        value=value, unit="Spearman's rho", peer=1.0, peer_name="in 32 bits", target=target
    )


def _second_query(name: str, documents: list[str], repeats: int) -> Figure:
    """The first pays for the documents; of the second, the median of several."""
    matcher = Matcher.load(name)
    began = perf_counter()
    index = matcher.index(documents)
    index.search(QUERY)
    first = perf_counter() - began
    (second,) = medians(repeats, lambda: index.search(SECOND_QUERY))
    return Figure(
        value=1e3 * second,
        unit="ms",
        peer=1e3 * first,
        peer_name="first query",
        target=Target("ratio", "most", 1 / 50),
    )


def main() -> None:
    """`python benchmarks/rerank.py`: as a file of its own, it has options of its own."""
    given = read(options(__doc__))
    figures = on_gpu("cuda", given.quick) if given.gpu else run(given.quick)
    texts = "sentences of WikiQA" if has_wikiqa() else "beginnings of docstrings"
    purpose = f"{' '.join(str(__doc__).split())} The texts are {texts}."
    tell("rerank", given, figures, GPU_PURPOSE if given.gpu else purpose)


if __name__ == "__main__":
    main()
