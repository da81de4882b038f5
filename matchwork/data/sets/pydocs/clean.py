"""Turn a docstring into a (query, document) pair that does not name its object."""

import inspect
import re
from collections.abc import Sequence
from typing import NamedTuple


class Pair(NamedTuple):
    """First paragraph (query) and rest (document) of the docstring of the object `name`."""

    name: str
    query: str
    document: str


QUERY_WORDS = range(4, 41)
MIN_DOCUMENT_WORDS = 15
"""A body with fewer distinct words is too short to be retrieved."""

_WORD = re.compile(r"[^\W_]+")
# Unfilled templates, and dispatchers that list their signatures in no fixed order.
_GENERATED = re.compile(r"%\(\w+\)s|Multiply dispatched method")
_POINTER = re.compile(r"(see|refer to|alias)\b", re.IGNORECASE)
_UNDERLINE = re.compile(r"\s*([-=~^*#])\1{2,}\s*")
_DIRECTIVE = re.compile(r"^\s*\.\. [\w-]+::")
_RESULT = re.compile(r"[ \t]*(?:-{1,2}>[^\n]*)?")
# See Also quotes the summaries of other objects; examples and references are not prose.
_CUT_TITLE = re.compile(r"\s*(?:see also|examples?|references?)\s*", re.IGNORECASE)
_CUT_BLOCK = re.compile(
    r"\s*(?:\.\. seealso::.*|(?:see also|examples?|references?)(?: [^:]*)?::?)\s*", re.IGNORECASE
)


def words(text: str) -> list[str]:
    """Return the lower-case words of a text, the unit of filters and duplicates."""
    return _WORD.findall(text.lower())


def make_pair(doc: str, names: Sequence[str]) -> Pair | None:
    """Return a docstring's pair, under its name with the fewest dots, or None if filtered out."""
    # Most docstrings are too short: turning them away first saves half the time.
    if _GENERATED.search(doc) or len(set(words(doc))) < MIN_DOCUMENT_WORDS:
        return None
    short = sorted({name.rpartition(".")[2] for name in names}, key=lambda name: (-len(name), name))
    identifier = "|".join(map(re.escape, short))
    text = _without_signatures(inspect.cleandoc(doc), identifier).strip()
    first, _, rest = re.sub(r"\n\s*\n", "\n\n", text).partition("\n\n")
    query = _without_names(_prose(first.split("\n")), identifier)
    document = _without_names(_prose(rest.split("\n")), identifier)
    if _POINTER.match(document) or len(words(query)) not in QUERY_WORDS:
        return None
    if len(set(words(document))) < MIN_DOCUMENT_WORDS:
        return None
    name = min(names, key=lambda name: (name.count("."), name))
    return Pair(name, query, document)


def _without_signatures(text: str, identifier: str) -> str:
    """Remove `name(...) -> result` wherever it opens a line, over several lines if need be."""
    opening = re.compile(rf"^[ \t]*(?:class |def )?(?:\w+\.)*(?:{identifier}) ?\(", re.MULTILINE)
    kept, position = [], 0
    while match := opening.search(text, position):
        end = _closing(text, match.end())
        result = _RESULT.match(text, end)
        kept.append(text[position : match.start()])
        position = result.end() if result else end
    return "".join([*kept, text[position:]])


def _closing(text: str, start: int) -> int:
    """Return the index after the parenthesis that closes the one just before `start`."""
    depth = 1
    for position in range(start, len(text)):
        depth += {"(": 1, ")": -1}.get(text[position], 0)
        if depth == 0:
            return position + 1
    return start


def _without_names(text: str, identifier: str) -> str:
    """Remove the object's name, with its dotted prefix and its arguments, as an identifier."""
    text = re.sub(rf"(?<!\w)(?:\w+\.)*(?:{identifier})(?!\w)(?:\([^()]*\))?", " ", text)
    return " ".join(text.split())


def _prose(lines: Sequence[str]) -> str:
    """The lines without cut sections, examples, heading rules and directive markers."""
    kept: list[str] = []
    in_section = in_example = False
    block_indent: int | None = None
    for line, following in zip(lines, [*lines[1:], ""], strict=True):
        indent = len(line) - len(line.lstrip())
        if line.strip() and block_indent is not None and indent <= block_indent:
            block_indent = None
        if _UNDERLINE.fullmatch(following) and line.strip():
            in_section = bool(_CUT_TITLE.fullmatch(line))
        elif _CUT_BLOCK.fullmatch(line):
            block_indent = indent
        in_example = bool(line.strip()) and (in_example or line.lstrip().startswith(">>>"))
        cut = in_section or in_example or block_indent is not None
        if not cut and not _UNDERLINE.fullmatch(line):
            kept.append(_DIRECTIVE.sub("", line))
    return " ".join(kept)
