"""Text normalisation: texts that differ in case, punctuation or spacing only count as equal."""

import re

_NOT_WORD = re.compile(r"[\W_]+")


def normalise(text: str) -> str:
    """Return the lower-case words of a text, or the text itself if it has none (say "?!")."""
    return _NOT_WORD.sub(" ", text.lower()).strip() or text.strip()
