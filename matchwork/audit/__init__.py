"""The audit of a data set before training: `check(dataset)` gives a `Report`."""

from collections.abc import Callable
from itertools import combinations

from matchwork.audit.findings import explain_overlap, explain_split, worst_first
from matchwork.audit.numbers import audit, overlap
from matchwork.audit.ranking import Search
from matchwork.audit.report import (
    Finding,
    FirstStage,
    Lengths,
    Level,
    Orders,
    Overlap,
    Report,
    SplitReport,
)
from matchwork.audit.texts import NumberedSplit, TextNumbers
from matchwork.data.dataset import Dataset

__all__ = [
    "Finding",
    "FirstStage",
    "Lengths",
    "Level",
    "Orders",
    "Overlap",
    "Report",
    "SplitReport",
    "check",
]


def check(dataset: Dataset, progress: Callable[[str], None] | None = None) -> Report:
    """Count, compare and judge every split and every two splits; `progress` hears each step."""
    say = progress or (lambda message: None)
    numbers = TextNumbers()
    searches: dict[int, Search] = {}
    numbered, splits = [], []
    for split in dataset.splits.values():
        say(f"reading {split.name}")
        numbered.append(NumberedSplit.make(split, numbers))
        # Splits of a collection share one mapping of documents, and so one index.
        if id(split.documents) not in searches:
            searches[id(split.documents)] = Search(split.documents)
        splits.append(audit(numbered[-1], searches[id(split.documents)]))
    say("comparing splits")
    overlaps = [overlap(first, second) for first, second in combinations(numbered, 2)]
    by_name = {split.name: split for split in splits}
    findings = [finding for split in splits for finding in explain_split(split, dataset)]
    for each in overlaps:
        findings += explain_overlap(each, by_name)
    return Report(dataset.name, tuple(splits), tuple(overlaps), worst_first(findings))
