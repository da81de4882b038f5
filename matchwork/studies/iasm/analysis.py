"""The analyses of one or two systems on one split, as tables, charts and files."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from matchwork.report.altair import Chart
from matchwork.report.drawing import stack
from matchwork.report.page import Figure, Heading, Paragraph, Section, Table
from matchwork.report.writers import Exportable, write
from matchwork.studies.iasm.charts import out_of_vocabulary_chart, overlap_chart, smoothing_chart
from matchwork.studies.iasm.out_of_vocabulary import OutOfVocabulary
from matchwork.studies.iasm.overlap import Overlap
from matchwork.studies.iasm.smoothing import Smoothing
from matchwork.studies.iasm.tables import out_of_vocabulary_table, overlap_table, smoothing_table

_TITLES = {
    "out_of_vocabulary": "Unknown words",
    "smoothing": "Smoother matrices",
    "overlap": "Shared words",
}
_TABLES: Mapping[str, Callable[[Any], Table]] = {
    "out_of_vocabulary": out_of_vocabulary_table,
    "smoothing": smoothing_table,
    "overlap": overlap_table,
}
_CHARTS: Mapping[str, Callable[[Any], Chart]] = {
    "out_of_vocabulary": out_of_vocabulary_chart,
    "smoothing": smoothing_chart,
    "overlap": overlap_chart,
}


@dataclass(frozen=True)
class Analysis:
    """Up to three analyses of one or two systems; `protocol` is empty if nothing was ranked."""

    dataset: str
    split: str
    systems: tuple[str, ...]
    protocol: str = ""
    out_of_vocabulary: OutOfVocabulary | None = None
    smoothing: Mapping[str, Smoothing] = field(default_factory=dict)
    overlap: Overlap | None = None

    @property
    def title(self) -> str:
        """Systems, data set and split."""
        return f"{' and '.join(self.systems)} on {self.dataset}, split {self.split}"

    def _made(self) -> Iterator[tuple[str, str, Any]]:
        """Yield name, title and result of each analysis that was made."""
        for name, title in _TITLES.items():
            if result := getattr(self, name):
                yield name, title, result

    def tables(self) -> dict[str, Table]:
        """Return title -> table of each analysis that was made."""
        return {title: _TABLES[name](result) for name, title, result in self._made()}

    def charts(self) -> dict[str, Chart]:
        """Return title -> chart of each analysis that was made, in the order of the tables."""
        return {title: _CHARTS[name](result) for name, title, result in self._made()}

    def to_dict(self) -> dict[str, Any]:
        """Return plain values; analyses that were not made are left out."""
        return {
            "dataset": self.dataset,
            "split": self.split,
            "systems": list(self.systems),
            **({"protocol": self.protocol} if self.protocol else {}),
            **{
                name: {system: one.to_dict() for system, one in result.items()}
                if isinstance(result, Mapping)
                else result.to_dict()
                for name, _, result in self._made()
            },
        }

    def sections(self) -> Iterator[Section]:
        """Return the parts of a report page."""
        if self.protocol:
            yield Paragraph(f"Queries by protocol {self.protocol}.")
        charts = self.charts()
        for title, table in self.tables().items():
            yield Heading(title)
            yield Table(table.header, table.rows)
            yield Paragraph(table.caption)
            yield Figure(charts[title])

    def picture(self) -> Chart:
        """Return all charts on one sheet."""
        return stack(list(self.charts().values()), self.title, spacing=40)

    def save(self, path: str | Path) -> None:
        """Write the analysis in the format that the suffix of `path` names."""
        write(Exportable(self.title, self.to_dict, self.sections, self.picture), path)
