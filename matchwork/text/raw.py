"""Text before it is tokens: made readable for the compiled tokenizers, traced back afterwards."""

import re
import unicodedata
from collections.abc import Iterable, Iterator
from itertools import islice

from matchwork.errors import DataError

_CHUNK = 4096  # texts per call into a compiled tokenizer: bounds the memory of its results
_SURROGATE = re.compile("[\ud800-\udfff]")


def readable(text: str) -> str:
    """Half a surrogate pair (a text cut inside an emoji) cannot be UTF-8: replace it."""
    if not isinstance(text, str):
        raise DataError(f"a text is expected, got {text!r}; leave it out, or give it as a str")
    return text if text.isascii() else _SURROGATE.sub("\ufffd", text)


def chunks(texts: Iterable[str]) -> Iterator[list[str]]:
    """Readable texts, so many at a time that a compiled tokenizer is kept busy."""
    iterator = map(readable, texts)
    while chunk := list(islice(iterator, _CHUNK)):
        yield chunk


def spans_of(text: str, offsets: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Offsets up to each word's end: tokenizers leave out marks that were composed or cut."""
    if text.isascii():
        return offsets
    spans = []
    limits = [start for start, _ in offsets] + [len(text)]
    for (start, end), limit in zip(offsets, limits[1:], strict=True):
        while end < limit and unicodedata.category(text[end])[0] in "LMN":
            end += 1
        spans.append((start, end))
    return spans
