"""Everything found about one or two systems on one split, and how it becomes a file."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from matchwork.analyse.charts import (
    out_of_vocabulary_chart,
    overlap_chart,
    smoothing_chart,
    stacked,
)
from matchwork.analyse.out_of_vocabulary import OutOfVocabulary
from matchwork.analyse.overlap import Overlap
from matchwork.analyse.smoothing import Smoothing
from matchwork.analyse.tables import out_of_vocabulary_table, overlap_table, smoothing_table
from matchwork.errors import ConfigError
from matchwork.explain import Figure, Heading, Paragraph, Section, Table, write_report
from matchwork.explain.drawing import to_png, to_svg
from matchwork.files import write_beside, write_json, write_text

if TYPE_CHECKING:
    from matchwork.explain.drawing import Chart


@dataclass(frozen=True)
class Analysis:
    """Up to three analyses of the same systems; `smoothing` has one entry per matcher."""

    dataset: str
    split: str
    systems: tuple[str, ...]
    protocol: str = ""
    out_of_vocabulary: OutOfVocabulary | None = None
    smoothing: Mapping[str, Smoothing] = field(default_factory=dict)
    overlap: Overlap | None = None

    @property
    def title(self) -> str:
        """What was analysed."""
        return f"{' and '.join(self.systems)} on {self.dataset}, split {self.split}"

    def tables(self) -> dict[str, Table]:
        """Title -> table of each analysis that was made."""
        found = {}
        if self.out_of_vocabulary:
            found["Unknown words"] = out_of_vocabulary_table(self.out_of_vocabulary)
        if self.smoothing:
            found["Smoother matrices"] = smoothing_table(self.smoothing)
        if self.overlap:
            found["Shared words"] = overlap_table(self.overlap)
        return found

    def charts(self) -> dict[str, "Chart"]:
        """Title -> chart of each analysis that was made, in the order of the tables."""
        found: dict[str, Chart] = {}
        if self.out_of_vocabulary:
            found["Unknown words"] = out_of_vocabulary_chart(self.out_of_vocabulary)
        if self.smoothing:
            found["Smoother matrices"] = smoothing_chart(self.smoothing)
        if self.overlap:
            found["Shared words"] = overlap_chart(self.overlap)
        return found

    def to_json(self) -> dict[str, Any]:
        """Plain values; what was not analysed is left out."""
        found: dict[str, Any] = {
            "dataset": self.dataset,
            "split": self.split,
            "systems": list(self.systems),
        }
        if self.protocol:
            found["protocol"] = self.protocol
        if self.out_of_vocabulary:
            found["out_of_vocabulary"] = self.out_of_vocabulary.to_json()
        if self.smoothing:
            found["smoothing"] = {name: one.to_json() for name, one in self.smoothing.items()}
        if self.overlap:
            found["overlap"] = self.overlap.to_json()
        return found

    def save(self, path: str | Path) -> None:
        """Write it in the format that the suffix of `path` names."""
        writer_for(path)(self, Path(path))


Writer = Callable[[Analysis, Path], None]


def writer_for(path: str | Path) -> Writer:
    """What writes such a file; asked for early, a wrong name costs no work."""
    path = Path(path)
    if path.suffix.lower() not in _WRITERS:
        raise ConfigError(
            f"cannot tell how to write {path.name!r}: no format for suffix {path.suffix!r}; "
            f"use {', '.join(_WRITERS)}"
        )
    return _WRITERS[path.suffix.lower()]


def _write_json(analysis: Analysis, path: Path) -> None:
    write_json(path, analysis.to_json())


def _write_html(analysis: Analysis, path: Path) -> None:
    write_report(path, analysis.title, _sections(analysis))


def _sections(analysis: Analysis) -> Iterator[Section]:
    if analysis.protocol:
        yield Paragraph(f"Queries by protocol {analysis.protocol}.")
    charts = analysis.charts()
    for title, table in analysis.tables().items():
        yield Heading(title)
        yield Table(table.header, table.rows)
        yield Paragraph(table.caption)
        yield Figure(charts[title])


def _write_png(analysis: Analysis, path: Path) -> None:
    content = to_png(_picture(analysis))
    with write_beside(path, "wb") as stream:
        stream.write(content)


def _write_svg(analysis: Analysis, path: Path) -> None:
    write_text(path, to_svg(_picture(analysis)))


def _picture(analysis: Analysis) -> "Chart":
    return stacked(list(analysis.charts().values()), analysis.title)


_WRITERS: dict[str, Writer] = {
    ".json": _write_json,
    ".html": _write_html,
    ".png": _write_png,
    ".svg": _write_svg,
}
