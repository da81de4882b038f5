"""An explanation as a file: JSON for programs, HTML for reading, PNG and SVG for showing."""

from collections.abc import Callable
from pathlib import Path

from matchwork.errors import ConfigError
from matchwork.explain.charts import heat_maps, picture, stack
from matchwork.explain.drawing import to_png, to_svg
from matchwork.explain.explanation import Explanation
from matchwork.explain.report import Figure, Highlight, Section, write_report
from matchwork.files import write_beside, write_json, write_text

MAX_PAGE_WORDS = 400  # a page scrolls; past this a browser grows slow


def save(explanation: Explanation, path: str | Path) -> None:
    """Write an explanation in the format that the suffix of `path` names."""
    path = Path(path)
    writer = _WRITERS.get(path.suffix.lower())
    if writer is None:
        raise ConfigError(
            f"cannot tell how to write {path.name!r}: no format for suffix {path.suffix!r}; "
            f"use {', '.join(_WRITERS)}"
        )
    writer(explanation, path)


def _write_json(explanation: Explanation, path: Path) -> None:
    write_json(path, explanation.to_json())


def _write_html(explanation: Explanation, path: Path) -> None:
    sections: list[Section] = [Highlight(explanation)]
    maps = heat_maps(explanation, MAX_PAGE_WORDS)
    if maps:
        sections.append(
            Figure(stack(maps), "Point at a cell to read its words and value.", live=True)
        )
    write_report(path, f"Why this score: {explanation.model}", sections)


def _write_png(explanation: Explanation, path: Path) -> None:
    content = to_png(picture(explanation))
    with write_beside(path, "wb") as stream:
        stream.write(content)


def _write_svg(explanation: Explanation, path: Path) -> None:
    write_text(path, to_svg(picture(explanation)))


_WRITERS: dict[str, Callable[[Explanation, Path], None]] = {
    ".json": _write_json,
    ".html": _write_html,
    ".png": _write_png,
    ".svg": _write_svg,
}
