"""The built-in views; importing this package registers them."""

from matchwork.explain.views import (
    answers,
    codes,
    gates,
    layers,
    pairs,
    paths,
    phrases,
    reading,
    shares,
    tables,
    texts,
    words,
)

__all__ = [
    "answers",
    "codes",
    "gates",
    "layers",
    "pairs",
    "paths",
    "phrases",
    "reading",
    "shares",
    "tables",
    "texts",
    "words",
]
