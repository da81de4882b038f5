"""Finding the nouns and verbs of a text.

A tagger reads running text, a vocabulary knows the tokens of a tokenizer. They meet by offsets: a
token counts when a noun or verb covers any part of it.
"""

import re
from collections.abc import Iterable, Sequence
from functools import cache
from importlib.metadata import version
from typing import Any, Protocol, TypeAlias

from matchwork.errors import MissingExtraError
from matchwork.quiet import without_warnings
from matchwork.text import Token

Span: TypeAlias = tuple[int, int]
"""Offsets [start, end) in a text, in code points."""

# The words of the Penn treebank, on which the tagger was trained: "don't" is "do" and "n't".
_WORD = re.compile(
    r"""
      (?:[^\W\d_]\.){2,}                  # U.S.
    | \d+(?:[.,]\d+)+                     # 3.5
    | [^\W_]+(?=n['’]t\b) | n['’]t\b      # do | n't
    | ['’](?:s|re|ve|ll|d|m)\b            # 's
    | [^\W_]+(?:-[^\W_]+)*                # p53-mediated
    | \S
    """,
    re.VERBOSE | re.IGNORECASE,
)


class Tagger(Protocol):
    """A function that finds nouns and verbs."""

    @property
    def name(self) -> str:
        """Name and version, as written into results."""
        ...

    def __call__(self, text: str) -> Sequence[Span]:
        """Return the offsets of the nouns and verbs of a text."""
        ...


class PatternTagger:
    """The tagger of pattern.en as textblob ships it: English, Penn treebank tags, no download."""

    @property
    def name(self) -> str:
        """Name and version, as written into results."""
        return f"pattern.en of textblob {version('textblob')}"

    def __init__(self) -> None:
        self._parser = _pattern_parser()

    def __call__(self, text: str) -> list[Span]:
        """Return the offsets of words tagged NN* or VB*."""
        spans = [match.span() for match in _WORD.finditer(text)]
        words = [text[start:end].replace("’", "'") for start, end in spans]
        tagged = self._parser.find_tags(words)
        return [
            span for span, (_, tag) in zip(spans, tagged, strict=True) if tag[:2] in ("NN", "VB")
        ]


@cache
def _pattern_parser() -> Any:
    try:
        from textblob.en import parser
    except ImportError as error:
        raise MissingExtraError("finding nouns and verbs", "analyse") from error
    with without_warnings():  # its word lists are read here, and their files left open
        parser.find_tags(["words", "Unheard-of", "."])
    return parser


def covered(tokens: Iterable[Token], spans: Iterable[Span]) -> list[bool]:
    """Return for each token whether a span covers any part of it."""
    inside = {index for start, end in spans for index in range(start, end)}
    return [not inside.isdisjoint(range(token.start, token.end)) for token in tokens]
