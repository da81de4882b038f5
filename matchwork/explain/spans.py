"""Stretches of a document that speak for the match, as offsets into its text."""

from itertools import pairwise
from typing import NamedTuple
from unicodedata import category

import numpy as np

from matchwork.errors import ConfigError
from matchwork.explain.explanation import Explanation
from matchwork.ordering import order
from matchwork.report.highlight import segments


class Span(NamedTuple):
    """Characters [start, end) of the document; `score` is 1 for its strongest word."""

    start: int
    end: int
    score: float


class ValuedWord(NamedTuple):
    """A whole word of the document, however many tokens read it, and what it is worth."""

    start: int
    end: int
    value: float


def document_words(explanation: Explanation) -> list[ValuedWord]:
    """The words of the document that the model read, in order, each with its best evidence.

    Values are those of `Explanation.word_values`; a word read in pieces is worth as much as its
    strongest piece, a word that bigrams share in what they add up to. Without evidence all are 0.
    """
    text, tokens = explanation.document, explanation.document_tokens
    found = explanation.word_values("document")
    values = np.zeros(len(tokens)) if found is None else found[1]
    words: list[ValuedWord] = []
    end = 0
    for piece, value in segments(text, tokens, values):
        start, end = end, end + len(piece)
        if value is None or not piece.strip():  # a bigram also covers the space inside it
            continue
        last = words[-1] if words else None
        if last and last.end == start and text[start - 1].isalnum() and text[start].isalnum():
            words[-1] = ValuedWord(last.start, end, max(last.value, value, key=abs))
        else:
            words.append(ValuedWord(start, end, value))
    return words


def spans(
    explanation: Explanation, threshold: float = 0.5, max_spans: int | None = None
) -> list[Span]:
    """Words worth at least `threshold` times the strongest, in the order of the text.

    Those with nothing but space between them are one span, as strong as its strongest word;
    punctuation by itself, which some models heed, tells a reader nothing and is none.
    `max_spans` keeps the strongest spans. Words that speak against the match are in none.
    """
    if not 0 <= threshold <= 1:
        raise ConfigError(f"threshold must lie between 0 and 1, got {threshold}")
    if max_spans is not None and max_spans < 0:
        raise ConfigError(f"max_spans must not be negative, got {max_spans}")
    words = document_words(explanation)
    largest = max((word.value for word in words), default=0.0)
    if largest <= 0:
        return []
    kept = [
        Span(word.start, word.end, word.value / largest)
        for word in words
        if word.value > 0 and word.value / largest >= threshold
    ]
    text = explanation.document
    found = [span for span in _joined(kept, text) if _has_a_word(text[span.start : span.end])]
    if max_spans is not None and len(found) > max_spans:
        strongest = order([span.score for span in found])[:max_spans]
        found = [found[place] for place in sorted(strongest.tolist())]
    return found


def _has_a_word(text: str) -> bool:
    return any(category(character)[0] not in "PZ" for character in text)


def _joined(found: list[Span], text: str) -> list[Span]:
    """Neighbours as one."""
    apart = [
        place
        for place, (before, after) in enumerate(pairwise(found), start=1)
        if text[before.end : after.start].strip()
    ]
    groups = (found[first:last] for first, last in pairwise([0, *apart, len(found)]))
    return [
        Span(group[0].start, group[-1].end, max(span.score for span in group)) for group in groups
    ]
