"""The pair that the explanation tests read, and a tokenizer simple enough to trust."""

import re

from matchwork.text import Token

QUERY = "how are glacier caves formed?"
DOCUMENT = "A partly submerged glacier cave. Glacier caves are formed by ice <b>&</b> water."


def tokens_of(text: str) -> tuple[Token, ...]:
    """Words between single spaces, with their places."""
    found, start = [], 0
    for word in text.split(" "):
        found.append(Token(word, start, start + len(word)))
        start += len(word) + 1
    return tuple(found)


def labels(svg: str) -> list[str]:
    """Everything written in a drawing."""
    return re.findall(r"<t(?:ext|span)[^>]*>([^<]+)</t", svg)
