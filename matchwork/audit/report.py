"""Result of an audit: numbers of each split, overlaps between splits, and findings."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Literal, TypeAlias

Level: TypeAlias = Literal["error", "warning", "info"]


@dataclass(frozen=True)
class Lengths:
    """Percentiles of a length in words (parts between spaces)."""

    p50: int
    p90: int
    p99: int
    max: int


@dataclass(frozen=True)
class Orders:
    """MAP and MRR of the order in the file, of BM25 and, as expected, of a random order.

    They are measured under the protocol of the data set, so that BM25 has the values that
    `matchwork evaluate bm25` reports; `queries` counts those that this protocol keeps.
    """

    protocol: str
    queries: int
    file_ap: float
    file_rr: float
    bm25_ap: float
    bm25_rr: float
    random_ap: float
    random_rr: float


@dataclass(frozen=True)
class FirstStage:
    """Upper bound of reranking, over the queries with a relevant document.

    Share of queries with one among the candidates, and recall, by the depth of a BM25 search, or
    for "pool" if the candidates are given.
    """

    queries: int
    success: Mapping[str, float]
    recall: Mapping[str, float]


@dataclass(frozen=True)
class SplitReport:
    """Numbers of one split; `*_examples` hold a few query (and document) ids."""

    name: str
    queries: int
    documents: int
    pairs: int
    positives: int
    positive_share: float
    grades: Mapping[int, int]
    duplicate_pairs: int
    conflicting_pairs: int
    conflict_examples: tuple[str, ...]
    queries_without_positives: int
    queries_only_positives: int
    missing_documents: int
    missing_examples: tuple[str, ...]
    empty_queries: int
    empty_documents: int
    query_words: Lengths
    document_words: Lengths
    orders: Orders | None
    first_stage: FirstStage | None


@dataclass(frozen=True)
class Overlap:
    """Numbers of texts that two splits share, ignoring case, punctuation and spacing."""

    first: str
    second: str
    queries: int
    query_examples: tuple[str, ...]
    pairs: int
    documents: int
    relevant_documents: int
    same_collection: bool


@dataclass(frozen=True)
class Finding:
    """A problem of the data and its remedy."""

    level: Level
    where: str
    message: str
    remedy: str


@dataclass(frozen=True)
class Report:
    """Audit of a data set; the worst findings come first."""

    dataset: str
    splits: tuple[SplitReport, ...]
    overlaps: tuple[Overlap, ...]
    findings: tuple[Finding, ...]

    def to_dict(self) -> dict[str, Any]:
        """Return plain values."""
        return asdict(self)

    def table(self) -> list[list[str]]:
        """Return a table with one row per number and one column per split, header first."""
        columns = [_cells(split) for split in self.splits]
        labels = dict.fromkeys(label for column in columns for label in column)
        rows = [[label, *(column.get(label, "–") for column in columns)] for label in labels]
        return [["", *(split.name for split in self.splits)], *rows]

    def overlap_table(self) -> list[list[str]]:
        """Return a table with one row per pair of splits that share texts, header first."""
        rows = [
            [
                f"{each.first} / {each.second}",
                f"{each.queries:,}",
                f"{each.pairs:,}",
                "one collection" if each.same_collection else f"{each.documents:,}",
                f"{each.relevant_documents:,}",
            ]
            for each in self.overlaps
        ]
        header = ["splits", "queries", "pairs", "documents", "relevant documents"]
        return [header, *(row for row in rows if any(cell != "0" for cell in row[1:]))]


def _cells(split: SplitReport) -> dict[str, str]:
    """Printed values by label."""
    cells = {
        "queries": f"{split.queries:,}",
        "documents": f"{split.documents:,}",
        "pairs": f"{split.pairs:,}",
        "positives": f"{split.positives:,} ({split.positive_share:.1%})",
        "grades": ", ".join(f"{grade}: {count:,}" for grade, count in split.grades.items()),
        "queries without positives": f"{split.queries_without_positives:,}",
        "queries with only positives": f"{split.queries_only_positives:,}",
        "duplicate pairs": f"{split.duplicate_pairs:,}",
        "conflicting pairs": f"{split.conflicting_pairs:,}",
        "missing documents": f"{split.missing_documents:,}",
        "empty queries / documents": f"{split.empty_queries:,} / {split.empty_documents:,}",
        "query words 50/90/99/max": _lengths(split.query_words),
        "document words 50/90/99/max": _lengths(split.document_words),
    }
    if split.orders is not None:
        cells["protocol (queries)"] = f"{split.orders.protocol} ({split.orders.queries:,})"
        for label, ap, rr in (
            ("file order", split.orders.file_ap, split.orders.file_rr),
            ("BM25", split.orders.bm25_ap, split.orders.bm25_rr),
            ("random", split.orders.random_ap, split.orders.random_rr),
        ):
            cells[f"{label} MAP / MRR"] = f"{ap:.4f} / {rr:.4f}"
    if split.first_stage is not None:
        for depth, success in split.first_stage.success.items():
            recall = split.first_stage.recall[depth]
            cells[f"first stage {depth}: success / recall"] = f"{success:.4f} / {recall:.4f}"
    return cells


def _lengths(lengths: Lengths) -> str:
    return f"{lengths.p50} / {lengths.p90} / {lengths.p99} / {lengths.max}"
