"""Stretches of a document that speak for the match, as offsets into its text."""

from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple
from unicodedata import category

from matchwork.errors import ConfigError
from matchwork.ordering import order
from matchwork.report.highlight import Stretch, Values, segments


class Span(NamedTuple):
    """Characters [start, end) of the document; `score` is 1 for its strongest word."""

    start: int
    end: int
    score: float


class ValuedWord(NamedTuple):
    """A whole word of the document, however many tokens it was read as, and its value."""

    start: int
    end: int
    value: float


def valued_words(text: str, tokens: Sequence[Stretch], values: Values) -> list[ValuedWord]:
    """Return the words of a text, in order, each with its value.

    A word read as several subword tokens has the value of the strongest, a word that is part of
    bigrams the sum of their values.
    """
    words: list[ValuedWord] = []
    end = 0
    for part, value in segments(text, tokens, values):
        start, end = end, end + len(part)
        if value is None or not part.strip():  # a bigram also covers the space inside it
            continue
        last = words[-1] if words else None
        if last and last.end == start and text[start - 1].isalnum() and text[start].isalnum():
            words[-1] = ValuedWord(last.start, end, max(last.value, value, key=abs))
        else:
            words.append(ValuedWord(start, end, value))
    return words


def strong_spans(
    text: str, words: Sequence[ValuedWord], threshold: float = 0.5, max_spans: int | None = None
) -> list[Span]:
    """Return stretches of words that are worth at least `threshold` times the strongest.

    Words with only space between them form one span, as strong as its strongest word. Words with
    values below 0 are in no span, nor is punctuation by itself. `max_spans` keeps the strongest
    spans, in the order of the text.
    """
    if not 0 <= threshold <= 1:
        raise ConfigError(f"threshold must lie between 0 and 1, got {threshold}")
    if max_spans is not None and max_spans < 0:
        raise ConfigError(f"max_spans must not be negative, got {max_spans}")
    largest = max((word.value for word in words), default=0.0)
    if largest <= 0:
        return []
    strong = [
        Span(word.start, word.end, word.value / largest)
        for word in words
        if word.value > 0 and word.value / largest >= threshold
    ]
    spans = [span for span in _joined(strong, text) if _has_a_word(text[span.start : span.end])]
    if max_spans is not None and len(spans) > max_spans:
        strongest = order([span.score for span in spans])[:max_spans]
        spans = [spans[index] for index in sorted(strongest.tolist())]
    return spans


def _has_a_word(text: str) -> bool:
    return any(category(character)[0] not in "PZ" for character in text)


def _joined(spans: list[Span], text: str) -> list[Span]:
    """Join spans with only space between them."""
    starts = [
        index
        for index, (before, after) in enumerate(pairwise(spans), start=1)
        if text[before.end : after.start].strip()
    ]
    groups = (spans[first:last] for first, last in pairwise([0, *starts, len(spans)]))
    return [
        Span(group[0].start, group[-1].end, max(span.score for span in group)) for group in groups
    ]
