"""`Matcher.score` on texts of very different length, beside padding all to the longest."""

import numpy as np
import torch

from benchmarks.clock import medians
from benchmarks.figures import Figure, Figures, Target
from benchmarks.workload import matcher, texts
from matchwork.matcher import Matcher
from matchwork.text import PairBatch, Sequences, batches_by_length
from matchwork.types import Scores, TextPair

SPREADS = (0.4, 0.6, 0.8)  # deviation of the log of the length; real data sets have 0.4 to 0.6


def run(quick: bool) -> Figures:
    """1,000 documents of 60 words (mean) for a query of 20; both ways tokenize."""
    iasm = matcher("iasm-dynamic")
    return {f"lengths of spread {spread}": _compare(iasm, spread, quick) for spread in SPREADS}


def _compare(iasm: Matcher, spread: float, quick: bool) -> Figure:
    num = 50 if quick else 1_000
    rng = np.random.default_rng(0)
    (query,) = texts(1, 20, rng, spread=0)
    pairs = [(query, document) for document in texts(num, 60, rng, spread)]
    np.testing.assert_allclose(iasm.score(pairs), score_padded(iasm, pairs), atol=1e-5)
    ours, padded = medians(
        1 if quick else 7, lambda: iasm.score(pairs), lambda: score_padded(iasm, pairs)
    )
    return Figure(
        value=num / ours,
        unit="pairs/s",
        peer=num / padded,
        peer_name="all padded to the longest",
        target=Target("ratio", "least", 2.5),
    )


@torch.inference_mode()
def score_padded(matcher: Matcher, pairs: list[TextPair]) -> Scores:
    """The plain way: as many batches as `score` makes, unsorted, as wide as the longest text."""
    queries = matcher.tokenizer.encode([query for query, _ in pairs])
    documents = matcher.tokenizer.encode([document for _, document in pairs])
    everything = np.arange(len(pairs))
    query, document = queries.gather(everything), documents.gather(everything)
    num_batches = len(
        batches_by_length(queries.lengths, documents.lengths, *matcher.inference.batch_limits)
    )
    matcher.model.eval()
    parts = [
        matcher.model(PairBatch(_rows(query, rows), _rows(document, rows))).scores
        for rows in torch.from_numpy(everything).chunk(num_batches)
    ]
    return torch.cat(parts).double().numpy()


def _rows(sequences: Sequences, rows: torch.Tensor) -> Sequences:
    return Sequences(sequences.ids[rows], sequences.mask[rows])
