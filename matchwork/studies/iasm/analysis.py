"""Everything found about one or two systems on one split, and how it becomes a file."""

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
    from matchwork.report.drawing import Chart


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

    def to_dict(self) -> dict[str, Any]:
        """Plain values; what was not analysed is left out."""
        found: dict[str, Any] = {
            "dataset": self.dataset,
            "split": self.split,
            "systems": list(self.systems),
        }
        if self.protocol:
            found["protocol"] = self.protocol
        if self.out_of_vocabulary:
            found["out_of_vocabulary"] = self.out_of_vocabulary.to_dict()
        if self.smoothing:
            found["smoothing"] = {name: one.to_dict() for name, one in self.smoothing.items()}
        if self.overlap:
            found["overlap"] = self.overlap.to_dict()
        return found

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
