"""The analyses of one or two systems on one split, as tables, charts and files."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from matchwork.report.drawing import stack
from matchwork.report.page import Figure, Heading, Paragraph, Section, Table
from matchwork.report.writers import write
from matchwork.studies.iasm.charts import (
    out_of_vocabulary_chart,
    overlap_chart,
    smoothing_chart,
)
from matchwork.studies.iasm.out_of_vocabulary import OutOfVocabulary
from matchwork.studies.iasm.overlap import Overlap
from matchwork.studies.iasm.smoothing import Smoothing
from matchwork.studies.iasm.tables import out_of_vocabulary_table, overlap_table, smoothing_table

if TYPE_CHECKING:
    from matchwork.report.altair import Chart


@dataclass(frozen=True)
class Analysis:
    """Up to three analyses of the same systems.

    Args:
        dataset: Name of the data set.
        split: Name of the split.
        systems: Names of one or two systems.
        protocol: Which queries count; empty where nothing was ranked.
        out_of_vocabulary: Queries by unknown words.
        smoothing: Matcher -> variances of its matching matrices.
        overlap: Queries by shared words.
    """

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

    def tables(self) -> dict[str, Table]:
        """Return title -> table of each analysis that was made."""
        tables = {}
        if self.out_of_vocabulary:
            tables["Unknown words"] = out_of_vocabulary_table(self.out_of_vocabulary)
        if self.smoothing:
            tables["Smoother matrices"] = smoothing_table(self.smoothing)
        if self.overlap:
            tables["Shared words"] = overlap_table(self.overlap)
        return tables

    def charts(self) -> dict[str, "Chart"]:
        """Return title -> chart of each analysis that was made, in the order of the tables."""
        charts: dict[str, Chart] = {}
        if self.out_of_vocabulary:
            charts["Unknown words"] = out_of_vocabulary_chart(self.out_of_vocabulary)
        if self.smoothing:
            charts["Smoother matrices"] = smoothing_chart(self.smoothing)
        if self.overlap:
            charts["Shared words"] = overlap_chart(self.overlap)
        return charts

    def to_dict(self) -> dict[str, Any]:
        """Return plain values; analyses that were not made are left out."""
        values: dict[str, Any] = {
            "dataset": self.dataset,
            "split": self.split,
            "systems": list(self.systems),
        }
        if self.protocol:
            values["protocol"] = self.protocol
        if self.out_of_vocabulary:
            values["out_of_vocabulary"] = self.out_of_vocabulary.to_dict()
        if self.smoothing:
            values["smoothing"] = {name: one.to_dict() for name, one in self.smoothing.items()}
        if self.overlap:
            values["overlap"] = self.overlap.to_dict()
        return values

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

    def picture(self) -> "Chart":
        """Return all charts on one sheet."""
        return stack(list(self.charts().values()), self.title, spacing=40)

    def save(self, path: str | Path) -> None:
        """Write the analysis in the format that the suffix of `path` names."""
        write(self, path)
