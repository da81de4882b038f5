"""Text with its words marked by their values, as HTML that stands alone."""

from collections.abc import Sequence
from html import escape
from itertools import pairwise
from typing import NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

POSITIVE, NEGATIVE = "#2f6fb7", "#d9730d"  # blue and orange: told apart by everyone
Values = npt.NDArray[np.float64]


class Stretch(Protocol):
    """A part of a text, such as a token: characters [start, end)."""

    @property
    def start(self) -> int:
        """First character."""
        ...

    @property
    def end(self) -> int:
        """Index after the last character."""
        ...


class Segment(NamedTuple):
    """A piece of text; `value` is None between words."""

    text: str
    value: float | None


def segments(text: str, words: Sequence[Stretch], values: Values) -> list[Segment]:
    """Cut a whole text, in order, where words begin and end.

    Where words overlap (a word and the bigrams it is in), their values, shape (words,), add up.
    """
    change, depth = np.zeros(len(text) + 1), np.zeros(len(text) + 1, dtype=np.int64)
    cuts = {0, len(text)}
    for word, value in zip(words, values, strict=True):
        change[word.start] += value
        change[word.end] -= value
        depth[word.start] += 1
        depth[word.end] -= 1
        cuts |= {word.start, word.end}
    level, covered = np.cumsum(change), np.cumsum(depth) > 0
    edges = sorted(cuts)
    return [
        Segment(text[start:end], float(level[start]) if covered[start] else None)
        for start, end in pairwise(edges)
    ]


class Scale(NamedTuple):
    """The range of values that is painted, from not at all to fully."""

    least: float
    largest: float

    @classmethod
    def of(cls, parts: Sequence[Segment]) -> "Scale":
        """Return the scale for these segments.

        It starts at 0, or at the least value where no value is below half of the largest, as with
        attention: otherwise all words would look alike.
        """
        values = [part.value for part in parts if part.value is not None]
        largest, least = max(map(abs, values), default=0.0), min(values, default=0.0)
        return cls(least if largest / 2 < least < largest else 0.0, largest)

    def opacity(self, value: float) -> float:
        """Return how strongly to paint a value, 0 to 0.75; text stays readable on it."""
        width = self.largest - self.least
        return 0.75 * (abs(value) - self.least) / width if width > 0 else 0.0


def marked_text(text: str, words: Sequence[Stretch], values: Values) -> str:
    """Return the text as HTML, blue for positive and orange for negative words."""
    parts = segments(text, words, values)
    scale = Scale.of(parts)
    return "".join(_mark(part, scale) for part in parts)


def _mark(part: Segment, scale: Scale) -> str:
    if part.value is None:
        return escape(part.text)
    rgb = POSITIVE if part.value >= 0 else NEGATIVE
    red, green, blue = (int(rgb[i : i + 2], 16) for i in (1, 3, 5))
    paint = f"rgba({red},{green},{blue},{scale.opacity(part.value):.2f})"
    return (
        f"<mark style='background:{paint};color:inherit;border-radius:3px;padding:1px 0' "
        f"title='{part.value:.4f}'>{escape(part.text)}</mark>"
    )
