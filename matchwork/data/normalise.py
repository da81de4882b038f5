"""When two texts count as the same: equal but for case, punctuation and spacing."""

import re

_NOT_WORD = re.compile(r"[\W_]+")


def normalise(text: str) -> str:
    """Lower-case words only; a text without any (say "?!") stays itself."""
    return _NOT_WORD.sub(" ", text.lower()).strip() or text.strip()
