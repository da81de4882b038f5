"""Texts of natural shape and the matchers that read them; the same on every machine."""

import numpy as np
import numpy.typing as npt
import torch

from matchwork.data import Split
from matchwork.encode import WordEmbedding
from matchwork.matcher import Matcher
from matchwork.models import MODELS
from matchwork.text import WordTokenizer

DIM = 100
_VOCABULARY = np.array([f"word{rank}" for rank in range(30_000)])
_KNOWN = 20_000  # the rarer third is unknown to the matchers, as in real text
_FREQUENCIES = 1 / np.arange(10, 10 + len(_VOCABULARY))  # Zipf's law without its steepest part
_CUMULATED = np.cumsum(_FREQUENCIES) / _FREQUENCIES.sum()


def lengths(
    num: int, mean: float, rng: np.random.Generator, spread: float = 0.6
) -> npt.NDArray[np.int64]:
    """Log-normal lengths; `spread` is the deviation of their logarithm."""
    drawn = rng.lognormal(np.log(mean) - spread**2 / 2, spread, num)
    return np.maximum(1, np.rint(drawn)).astype(np.int64)


def texts(num: int, mean_length: float, rng: np.random.Generator, spread: float = 0.6) -> list[str]:
    """Texts of words drawn by Zipf's law."""
    ends = np.cumsum(lengths(num, mean_length, rng, spread))
    words = _VOCABULARY[np.searchsorted(_CUMULATED, rng.random(int(ends[-1])))].tolist()
    starts = [0, *ends[:-1].tolist()]
    return [" ".join(words[a:b]) for a, b in zip(starts, ends.tolist(), strict=True)]


def matcher(model: str, dim: int = DIM) -> Matcher:
    """An untrained matcher: speed does not depend on the weights."""
    torch.manual_seed(0)
    tokenizer = WordTokenizer.fit([" ".join(_VOCABULARY[:_KNOWN])])
    entry = MODELS[model]
    encoder = WordEmbedding.from_vocabulary(tokenizer.vocabulary, dim=dim)
    return Matcher(tokenizer, entry.model(entry.config({}), encoder))


def positives(num: int) -> Split:
    """Pairs of a query of 20 words and a document of 60 words (means) to train on."""
    rng = np.random.default_rng(0)
    queries, documents = texts(num, 20, rng), texts(num, 60, rng)
    return Split(
        "train",
        {f"q{row}": text for row, text in enumerate(queries)},
        {f"d{row}": text for row, text in enumerate(documents)},
        {f"q{row}": {f"d{row}": 1} for row in range(num)},
    )
