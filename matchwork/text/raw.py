"""Prepare text for the tokenizers library, and correct the offsets it returns."""

import re
import unicodedata
from collections.abc import Iterable, Iterator
from itertools import islice

from matchwork.errors import DataError

_CHUNK = 4096  # texts per call of the tokenizers library: bounds the memory of its results
_SURROGATE = re.compile("[\ud800-\udfff]")


def readable(text: str) -> str:
    """Replace half a surrogate pair (a text cut inside an emoji), which cannot be UTF-8."""
    if not isinstance(text, str):
        raise DataError(f"a text must be a str, got {text!r}; leave it out or convert it")
    return text if text.isascii() else _SURROGATE.sub("\ufffd", text)


def chunks(texts: Iterable[str]) -> Iterator[list[str]]:
    """Yield readable texts in chunks large enough for a compiled tokenizer."""
    iterator = map(readable, texts)
    while chunk := list(islice(iterator, _CHUNK)):
        yield chunk


def spans_of(text: str, offsets: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Extend offsets to each word's end: tokenizers leave out composed or stripped marks."""
    if text.isascii():
        return offsets
    spans = []
    limits = [start for start, _ in offsets] + [len(text)]
    for (start, end), limit in zip(offsets, limits[1:], strict=True):
        while end < limit and unicodedata.category(text[end])[0] in "LMN":
            end += 1
        spans.append((start, end))
    return spans
