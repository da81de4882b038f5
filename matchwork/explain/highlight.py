"""Text with its words marked: how strongly each one counted, as HTML that stands alone."""

from collections.abc import Sequence
from html import escape
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from matchwork.explain.explanation import Explanation, Side, Values
from matchwork.explain.titles import evidence_title

if TYPE_CHECKING:
    from matchwork.text import Token

POSITIVE, NEGATIVE = "#2f6fb7", "#d9730d"  # blue and orange: told apart by everyone


class Segment(NamedTuple):
    """A stretch of text; `value` is None between words."""

    text: str
    value: float | None


def segments(text: str, words: Sequence["Token"], values: Values) -> list[Segment]:
    """The whole text in order, cut where words begin and end.

    Where words overlap (a word and the bigrams it is in) their values add up.
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
    """From where to where values are painted ever more strongly."""

    least: float
    largest: float

    @classmethod
    def of(cls, parts: Sequence[Segment]) -> "Scale":
        """From 0; from the least value where none is less than half of the largest, as with
        attention: otherwise all words would look alike."""
        values = [part.value for part in parts if part.value is not None]
        largest, least = max(map(abs, values), default=0.0), min(values, default=0.0)
        return cls(least if largest / 2 < least < largest else 0.0, largest)

    def opacity(self, value: float) -> float:
        """How strongly to paint a value, 0 to 0.75: text on it stays readable."""
        width = self.largest - self.least
        return 0.75 * (abs(value) - self.least) / width if width > 0 else 0.0


def marked_text(text: str, words: Sequence["Token"], values: Values) -> str:
    """The text as HTML, blue for positive and orange for negative words."""
    parts = segments(text, words, values)
    scale = Scale.of(parts)
    return "".join(_mark(part, scale) for part in parts)


def explanation_html(explanation: Explanation, num_pairs: int = 10) -> str:
    """Both texts with their words marked, the score and the strongest word pairs."""
    probability = explanation.probability
    chance = "" if probability is None else f", probability of a match {probability:.2f}"
    return (
        f"<p>Score <strong>{explanation.score:.4f}</strong> by "
        f"{escape(explanation.model)}{chance}.</p>"
        f"{_side(explanation, 'query')}{_side(explanation, 'document')}"
        f"{_strongest(explanation, num_pairs)}"
    )


def _side(explanation: Explanation, side: Side) -> str:
    text = explanation.query if side == "query" else explanation.document
    found = explanation.word_values(side)
    if found is None:
        body, note = escape(text), ""
    else:
        title, values = found
        body = marked_text(text, explanation.tokens(side), values)
        note = f" <small>({escape(title.lower())})</small>"
    style = "white-space:pre-wrap;overflow-wrap:anywhere;line-height:1.7;margin-left:0"
    return (
        f"<p style='margin-bottom:0'><strong>{side.capitalize()}</strong>{note}</p>"
        f"<div style='{style}'>{body or '<em>empty</em>'}</div>"
    )


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


def _strongest(explanation: Explanation, num_pairs: int) -> str:
    if not explanation.tables or not explanation.table().size:
        return ""
    rows = "".join(
        f"<tr><td>{escape(query)}</td><td>{escape(document)}</td>"
        f"<td style='text-align:right'>{value:.4f}</td></tr>"
        for query, document, value in explanation.strongest(top_k=num_pairs)
    )
    title = evidence_title(next(iter(explanation.tables)))
    return (
        "<p style='margin-bottom:0'><strong>Strongest word pairs</strong> "
        f"<small>({escape(title.lower())})</small></p>"
        "<table><thead><tr><th style='text-align:left'>query</th>"
        "<th style='text-align:left'>document</th><th style='text-align:right'>value</th></tr>"
        f"</thead><tbody>{rows}</tbody></table>"
    )
