"""Where the nouns and verbs of a text stand.

A tagger reads running text; words are looked up by what the tokenizer makes of them. The two
meet by their places in the text: a token counts when a noun or verb covers any part of it.
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
"""A place [start, end) in a text, in code points."""

# The pieces of the Penn treebank, on which the tagger was trained: "don't" is "do" and "n't".
_PIECE = re.compile(
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
    """Finds nouns and verbs; `name` is how results call it."""

    @property
    def name(self) -> str:
        """What it is, with its version."""
        ...

    def __call__(self, text: str) -> Sequence[Span]:
        """Where the nouns and verbs of a text stand."""
        ...


class PatternTagger:
    """The tagger of pattern.en as textblob ships it: English, Penn treebank tags, no download."""

    @property
    def name(self) -> str:
        """What it is, with its version."""
        return f"pattern.en of textblob {version('textblob')}"

    def __init__(self) -> None:
        self._parser = _pattern_parser()

    def __call__(self, text: str) -> list[Span]:
        """Words tagged NN* or VB*."""
        spans = [match.span() for match in _PIECE.finditer(text)]
        pieces = [text[start:end].replace("’", "'") for start, end in spans]
        tagged = self._parser.find_tags(pieces)
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
    """For each token whether a span covers any part of it."""
    inside = {place for start, end in spans for place in range(start, end)}
    return [not inside.isdisjoint(range(token.start, token.end)) for token in tokens]
