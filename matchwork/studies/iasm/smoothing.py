"""Smoothing of the matching matrix: the variance of the last one against the first.

Zhao et al., ICDM 2020, table VII, counts the pairs of a text and its match whose last matching
matrix has a smaller variance than the first, and takes that as something the model learnt.
Untrained weights do much the same (ReLU rows are averages over all words and cannot be negative),
so every number is given for untrained copies as well: the same architecture over the same encoder,
with new random weights.

Variances are population variances over the cells of words, in float64.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from matchwork.data import Split
from matchwork.errors import ConfigError, DataError
from matchwork.interact import Interaction
from matchwork.matcher import Matcher
from matchwork.types import Progress, TextPair

_TABLE = re.compile(r"matching_(\d+)")


class Smoothness(NamedTuple):
    """Share of pairs whose last matrix is smoother, and median ratio of the two variances."""

    share: float
    ratio: float


@dataclass(frozen=True)
class SplitSmoothing:
    """A matcher and its untrained copies on the relevant pairs of one split.

    `num_empty` more pairs are left out: a text has no words, hence the pair no matrix.
    """

    num_pairs: int
    num_empty: int
    trained: Smoothness
    untrained: tuple[Smoothness, ...]

    def control(self, part: Callable[[Smoothness], float]) -> tuple[float, float, float]:
        """Return mean, lowest and highest value of the untrained copies."""
        values = [part(one) for one in self.untrained]
        return fmean(values), min(values), max(values)

    def to_dict(self) -> dict[str, Any]:
        """Return plain values."""
        return {
            "num_pairs": self.num_pairs,
            "num_empty": self.num_empty,
            "trained": self.trained._asdict(),
            "untrained": [one._asdict() for one in self.untrained],
        }


@dataclass(frozen=True)
class Smoothing:
    """Comparison of the last matching matrix with the first, split by split."""

    model: str
    first: str
    last: str
    seeds: tuple[int, ...]
    splits: Mapping[str, SplitSmoothing]

    def to_dict(self) -> dict[str, Any]:
        """Return plain values."""
        return {
            "model": self.model,
            "first": self.first,
            "last": self.last,
            "untrained_seeds": list(self.seeds),
            "splits": {name: split.to_dict() for name, split in self.splits.items()},
        }


def smoothing(
    matcher: Matcher,
    splits: Iterable[Split],
    *,
    seeds: Sequence[int] = (0, 1, 2),
    progress: Progress | None = None,
) -> Smoothing:
    """Compare the last matching matrix with the first on the relevant pairs of each split.

    Args:
        matcher: A matcher with several matching matrices.
        splits: Splits to measure.
        seeds: Seeds of the untrained copies.
        progress: Called while pairs are read.
    """
    names = matching_matrices(matcher)
    if len(names) < 2:
        raise ConfigError(
            f"smoothing compares the last matching matrix with the first, and {matcher.name!r} "
            f"has {len(names)}; take a model that renews its matrix, such as 'iasm-dynamic'"
        )
    first, last = names[0], names[-1]
    copies = [untrained(matcher, seed) for seed in seeds]
    given = {
        split.name: [(pair.query, pair.document) for pair in split.pairs() if pair.label > 0]
        for split in splits
    }
    pairs = {name: _with_words(matcher, name, texts) for name, texts in given.items()}
    done, total = 0, sum(map(len, pairs.values())) * (1 + len(copies))

    def advance(number: int) -> None:
        nonlocal done
        done += number
        if progress is not None:
            progress(done, total)

    def measure(each: Matcher, texts: Sequence[TextPair]) -> Smoothness:
        return _smoothness(variances(each, texts, (first, last), advance))

    measured = {
        name: SplitSmoothing(
            len(texts),
            len(given[name]) - len(texts),
            measure(matcher, texts),
            tuple(measure(copy, texts) for copy in copies),
        )
        for name, texts in pairs.items()
    }
    return Smoothing(matcher.name, first, last, tuple(seeds), measured)


def untrained(matcher: Matcher, seed: int) -> Matcher:
    """Return a copy with the same encoder and links and new random weights."""
    model = matcher.model
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        fresh = type(model)(model.config, model.encoder)
    state = model.state_dict()
    kept = {name: state[name] for name in model.frozen_names()}
    fresh.load_state_dict(kept, strict=False, assign=True)
    return Matcher(
        matcher.tokenizer,
        fresh.to(matcher.device),
        name=f"{matcher.name}, untrained",
        max_query_length=matcher.max_query_length,
        max_document_length=matcher.max_document_length,
    )


def variances(
    matcher: Matcher,
    pairs: Sequence[TextPair],
    tables: Sequence[str],
    advance: Callable[[int], None] = lambda number: None,
) -> npt.NDArray[np.float64]:
    """Return the variance of each named table of each pair, shape (pairs, tables)."""
    found = np.empty((len(pairs), len(tables)))
    for positions, output in matcher.outputs(pairs):
        with torch.inference_mode():
            for column, name in enumerate(tables):
                table = output.evidence[name]
                assert isinstance(table, Interaction)
                found[positions, column] = _variance(table).cpu().numpy()
        advance(len(positions))
    return found


def _variance(table: Interaction) -> Tensor:
    """Return the population variance over the unmasked cells of every pair, shape (batch,)."""
    # Contiguous, so that a transposed table gives the same sum as an equal one.
    values, mask = table.values.double().contiguous(), table.mask
    count = mask.sum(dim=(1, 2)).clamp_min(1)
    mean = values.masked_fill(~mask, 0.0).sum(dim=(1, 2)) / count
    deviation = (values - mean[:, None, None]).masked_fill(~mask, 0.0)
    return deviation.square().sum(dim=(1, 2)) / count


def _smoothness(found: npt.NDArray[np.float64]) -> Smoothness:
    first, last = found[:, 0], found[:, 1]
    even = first == 0  # a constant matrix: no ratio, and never smoother
    ratio = float(np.median(last[~even] / first[~even])) if not even.all() else 1.0
    return Smoothness(float((last < first).mean()), ratio)


def _with_words(matcher: Matcher, split: str, pairs: Sequence[TextPair]) -> list[TextPair]:
    """Return the pairs with words on both sides; the others have no matrix."""
    kept = [pair for pair in pairs if all(matcher.tokens(*pair))]
    if not kept:
        raise DataError(f"split {split!r} has no relevant pair with words on both sides")
    return kept


def matching_matrices(matcher: Matcher) -> list[str]:
    """Return the names of the matching matrices of a matcher, first to last."""
    with torch.inference_mode():  # evidence is computed on access
        names = list(matcher.output("a", "b").evidence)
    layers = sorted(int(found[1]) for found in map(_TABLE.fullmatch, names) if found)
    return [f"matching_{layer}" for layer in layers]
