"""Code blocks, tables and links of a Markdown page."""

import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
_BLOCK = re.compile(r"^```(?P<info>[^\n`]*)\n(?P<text>.*?)^```$", re.M | re.S)
_LINK = re.compile(r"\[[^\]]*\]\((?P<target>[^)\s]+)\)")


class Block(NamedTuple):
    """A fenced block: what it holds, and its first line in the page."""

    language: str
    text: str
    line: int


def blocks(path: Path) -> Iterator[Block]:
    """The fenced blocks of a page, in order."""
    page = path.read_text(encoding="utf-8")
    for found in _BLOCK.finditer(page):
        yield Block(found["info"].strip(), found["text"], page.count("\n", 0, found.start()) + 2)


def commands(block: Block) -> list[list[str]]:
    """The `matchwork` commands of a shell block, without the program's name."""
    lines = block.text.replace("\\\n", " ").splitlines()
    found = []
    for line in lines:
        words = shlex.split(line.partition("|")[0], comments=True)
        if words and Path(words[0]).name == "matchwork":
            found.append(words[1:])
    return found


def links(path: Path) -> list[str]:
    """Where a page points to, code blocks left out."""
    text = _BLOCK.sub("", path.read_text(encoding="utf-8"))
    return [found["target"] for found in _LINK.finditer(text)]


def tables(path: Path) -> dict[str, list[list[str]]]:
    """Heading -> the cells of the first table under it, without its header."""
    found: dict[str, list[list[str]]] = {}
    heading = ""
    for line in path.read_text(encoding="utf-8").splitlines():
        if line.startswith("#"):
            heading = line.lstrip("# ").strip()
        elif line.startswith("|"):
            cells = [cell.strip().replace("\\|", "|") for cell in re.split(r"(?<!\\)\|", line)]
            found.setdefault(heading, []).append(cells[1:-1])
    return {heading: rows[2:] for heading, rows in found.items()}
