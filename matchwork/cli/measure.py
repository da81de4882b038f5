"""A matcher, BM25 and their fusion measured on one split; imported only by `evaluate`."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from matchwork.cli import show
from matchwork.cli.evaluate import describe_evaluation
from matchwork.cli.progress import scoring
from matchwork.cli.scorers import open_matcher
from matchwork.data import CATALOGUE, Columns, Dataset, load
from matchwork.data.classes import check_classes
from matchwork.errors import ConfigError
from matchwork.evaluate import (
    Comparison,
    Evaluation,
    Reliability,
    class_measures,
    compare_all,
    task_of,
)
from matchwork.matcher import Matcher
from matchwork.matcher.measured import MeasuredSplit
from matchwork.matcher.precision import Precision
from matchwork.rank.candidate_bm25 import is_bm25
from matchwork.rank.fusion import fuse
from matchwork.types import Run, Task

BASELINE = "BM25"


@dataclass(frozen=True)
class Question:
    """What is to be measured, as the command line says it."""

    dataset: str
    split: str
    measures: Sequence[str] | None
    protocol: str | None
    depth: int
    data_root: Path | None
    columns: Columns | None
    options: Mapping[str, str | bool]
    num_classes: int | None = None

    def to(self, matcher: Matcher) -> "Question":
        """The same, put to a matcher: what tells classes apart is measured as that."""
        measures, num_classes = self.measures, matcher.num_classes
        if measures is None and num_classes > 2 and self.dataset not in CATALOGUE:
            measures = class_measures(num_classes)
        return replace(self, measures=measures, num_classes=num_classes)

    def read(self) -> tuple[Dataset, MeasuredSplit]:
        """The data set and the split in question; the measures decide the task."""
        with show.working(f"reading {self.dataset}"):
            dataset = load(
                self.dataset, self.data_root, self._wanted(), columns=self.columns, **self.options
            )
        return dataset, self._measured(dataset, self.split)

    def baseline(self, dataset: Dataset, measured: MeasuredSplit) -> tuple[Run, Evaluation]:
        """BM25 with the threshold or the line that fits dev (the split itself without a dev)."""
        run = _bm25_run(measured)
        if measured.task == "ranking":
            return run, measured.evaluate(run)
        dev, dev_run = measured, run
        if self.split != "dev" and "dev" in dataset.splits:
            dev = self._measured(dataset, "dev")
            dev_run = _bm25_run(dev)
        if measured.task == "regression":
            run = dev.fit_line(dev_run)(run)
            return run, measured.evaluate(run)
        return run, measured.evaluate(run, dev.calibrate(dev_run))

    def _wanted(self) -> list[str] | None:
        """The splits to read; whatever has a threshold wants dev beside the one in question."""
        if self._task() == "ranking":
            return [self.split]
        path = Path(self.dataset)
        if self.dataset in CATALOGUE or not path.is_file():
            return None
        whole = self.split == path.name.split(".")[0]
        return [self.split] if whole else list(dict.fromkeys([self.split, "dev"]))

    def _task(self) -> Task:
        if self.measures is None:
            return CATALOGUE[self.dataset].task if self.dataset in CATALOGUE else "ranking"
        tasks = sorted({task_of(measure) for measure in self.measures})
        if len(tasks) > 1:
            raise ConfigError(
                f"--measures {','.join(self.measures)}: {' and '.join(tasks)} do not mix"
            )
        return tasks[0]

    def _measured(self, dataset: Dataset, split: str) -> MeasuredSplit:
        return MeasuredSplit(
            dataset[split],
            self.protocol or dataset.protocol,
            self.measures or dataset.measures,
            self._task(),
            self.depth or None,
            self.num_classes or self._labelled_classes(dataset),
        )

    @property
    def has_grades(self) -> bool:
        """Whether labels are known to be grades, of which all from 1 on are positive."""
        return self.dataset in CATALOGUE and CATALOGUE[self.dataset].task == "ranking"

    def _labelled_classes(self, dataset: Dataset) -> int:
        """What BM25 alone is asked to tell apart."""
        if self._task() != "classification" or self.has_grades:
            return 2
        return max(2, *(split.top_label + 1 for split in dataset.splits.values()))


@dataclass(frozen=True)
class Answer:
    """Every system's run and evaluation, and how each compares with BM25.

    `reliability` is that of the matcher's probabilities; None where it gives none.
    """

    question: Question
    measured: MeasuredSplit
    matcher: Matcher | None
    runs: Mapping[str, Run]
    evaluations: Mapping[str, Evaluation]
    comparisons: Mapping[str, Mapping[str, Comparison]]
    reliability: Reliability | None = None

    @property
    def run(self) -> Run:
        """The ranking that was asked for: of the fusion, else of the matcher, else of BM25."""
        return list(self.runs.values())[-1]

    def to_json(self) -> dict[str, Any]:
        """Plain values."""
        first = next(iter(self.evaluations.values()))
        return {
            "dataset": self.question.dataset,
            "split": self.question.split,
            "task": self.measured.task,
            "protocol": first.protocol,
            "num_queries": first.num_queries,
            "num_dropped": first.num_dropped,
            "systems": {
                name: {
                    "num_ties": evaluation.num_ties,
                    "measures": describe_evaluation(evaluation, self.comparisons.get(name)),
                }
                for name, evaluation in self.evaluations.items()
            },
            "reliability": None if self.reliability is None else self.reliability.to_dict(),
        }


def measure(
    matcher: str, question: Question, weight: float | None, precision: Precision = "32"
) -> Answer:
    """Score the split with the matcher and with BM25, evaluate and compare."""
    opened = None if is_bm25(matcher) else open_matcher(matcher, precision)
    question = question if opened is None else question.to(opened)
    dataset, measured = question.read()
    if weight is not None and (measured.task != "ranking" or is_bm25(matcher)):
        raise ConfigError("--weight mixes the rankings of a matcher and BM25; leave it out here")
    if opened is not None and measured.task == "classification":
        _require_classes(matcher, opened, question, dataset)
    baseline, found = question.baseline(dataset, measured)
    runs, evaluations = {BASELINE: baseline}, {BASELINE: found}
    trust = None
    if opened is not None:
        name = opened.name
        with scoring() as progress:
            runs[name] = measured.run(opened, progress)
        evaluations[name] = measured.evaluate_matcher(opened, runs[name], opened.calibration)
        trust = measured.reliability(runs[name], opened.calibration)
        if weight is not None:
            fused = f"{BASELINE} + {name}"
            runs[fused] = fuse(runs[name], baseline, weight)
            evaluations[fused] = measured.evaluate(runs[fused])
    others = {name: found for name, found in evaluations.items() if name != BASELINE}
    with show.working("comparing"):
        comparisons = compare_all(others, evaluations[BASELINE]) if others else {}
    return Answer(question, measured, opened, runs, evaluations, comparisons, trust)


def _require_classes(folder: str, matcher: Matcher, question: Question, dataset: Dataset) -> None:
    if matcher.num_classes > 2 or not question.has_grades:
        for split in {question.split, "dev"} & dataset.splits.keys():
            check_classes(dataset[split], "classification", matcher.num_classes, matcher.name)
    if matcher.calibration is None and matcher.num_classes == 2:
        raise ConfigError(f"{folder} has no calibration to classify by; train it with a dev split")


def _bm25_run(measured: MeasuredSplit) -> Run:
    if measured.split.candidates is None:
        with show.working("searching with BM25"):
            return measured.bm25_run()
    with scoring() as progress:
        return measured.bm25_run(progress)
