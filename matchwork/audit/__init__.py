"""Audit a data set before training: `check(dataset)` returns a `Report`."""

from collections.abc import Callable
from itertools import combinations

from matchwork.audit.findings import LEVELS, explain_overlap, explain_split
from matchwork.audit.numbers import TextNumbers, audit, overlap
from matchwork.audit.report import Finding as Finding
from matchwork.audit.report import Report as Report
from matchwork.data.dataset import Dataset


def check(dataset: Dataset, on_step: Callable[[str], None] | None = None) -> Report:
    """Audit every split that was read, and every pair; `on_step` gets a line about each step."""
    say = on_step or (lambda message: None)
    numbers = TextNumbers()
    numbered, splits = [], []
    for split in dataset.splits.values():
        say(f"reading {split.name}")
        numbered.append(numbers.of_split(split))
        splits.append(audit(numbered[-1], dataset.protocol))
    say("comparing splits")
    overlaps = [overlap(first, second) for first, second in combinations(numbered, 2)]
    by_name = {split.name: split for split in splits}
    findings = [finding for split in splits for finding in explain_split(split, dataset.task)]
    for each in overlaps:
        findings += explain_overlap(each, by_name)
    findings.sort(key=lambda finding: LEVELS.index(finding.level))
    return Report(dataset.name, tuple(splits), tuple(overlaps), tuple(findings))
