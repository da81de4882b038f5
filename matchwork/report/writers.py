"""Files in the format that their suffix names."""

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from matchwork.errors import ConfigError
from matchwork.files import atomic_write, write_json, write_text
from matchwork.report.altair import Chart
from matchwork.report.drawing import to_png, to_svg, to_vega_lite
from matchwork.report.page import Section, write_report


class Exportable(NamedTuple):
    """The title of a page, and functions that make plain values, page and picture when needed."""

    title: str
    to_dict: Callable[[], dict[str, Any]]
    sections: Callable[[], Iterable[Section]]
    picture: Callable[[], Chart]


def write(content: Exportable, path: str | Path) -> None:
    """Write `content` in the format that the suffix of `path` names, all of it or nothing.

    `.json`, `.html`, `.png`, `.svg` or `.vl.json` (Vega-Lite).
    """
    writer_for(path)(content, Path(path))


def writer_for(path: str | Path) -> Callable[[Exportable, Path], None]:
    """Return the writer for the suffix of `path`; call it early to refuse a wrong name."""
    path = Path(path)
    for suffix, writer in _WRITERS.items():
        if path.name.lower().endswith(suffix):
            return writer
    raise ConfigError(
        f"cannot tell how to write {path.name!r}: no format for suffix {path.suffix!r}; "
        f"use {', '.join(_WRITERS)}"
    )


def _write_png(content: Exportable, path: Path) -> None:
    drawing = to_png(content.picture())
    with atomic_write(path, "wb") as stream:
        stream.write(drawing)


_WRITERS: Mapping[str, Callable[[Exportable, Path], None]] = {
    ".vl.json": lambda content, path: write_json(path, to_vega_lite(content.picture())),
    ".json": lambda content, path: write_json(path, content.to_dict()),
    ".html": lambda content, path: write_report(path, content.title, content.sections()),
    ".png": _write_png,
    ".svg": lambda content, path: write_text(path, to_svg(content.picture())),
}
"""Suffix -> writer; `.vl.json` stands before the suffix that it ends in."""
