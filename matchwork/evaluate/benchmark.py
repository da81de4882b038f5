"""Benchmark: a scorer on a split of a data set, beside BM25 and fused with it."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, TypeAlias

from matchwork.data import CATALOGUE, CatalogueEntry, Columns, Dataset, load
from matchwork.data.classes import check_classes
from matchwork.errors import ConfigError
from matchwork.evaluate.comparison import Comparison, compare_all
from matchwork.evaluate.evaluation import Evaluation
from matchwork.evaluate.measured_split import BASELINE, Baseline, MeasuredSplit, fit_baseline
from matchwork.evaluate.measures import class_measures, common_task
from matchwork.evaluate.reliability import Reliability
from matchwork.rank.fusion import fuse
from matchwork.types import Progress, Run, Scorer, Task

Stage: TypeAlias = Callable[[str], AbstractContextManager[Progress]]
"""Shows a stage of the work while its context is open; the progress callback is optional to use."""


def _show_nothing(text: str) -> AbstractContextManager[Progress]:
    return nullcontext(lambda done, total: None)


@dataclass(frozen=True)
class Benchmark:
    """Which split of which data set (a name in the catalogue, or a path) is measured, and how.

    Args:
        measures: Those of the data set by default. They decide the task.
        protocol: That of the data set by default.
        depth: Number of BM25's best documents to rank where the split has no candidates; 0 for
            all documents.
        num_classes: Number of classes that the scorer tells apart, None for BM25 alone.
    """

    dataset: str
    split: str = "test"
    measures: Sequence[str] | None = None
    protocol: str | None = None
    depth: int = 100
    data_root: Path | None = None
    columns: Columns | None = None
    options: Mapping[str, str | bool] = field(default_factory=dict)
    num_classes: int | None = None

    def read(self) -> tuple[Dataset, MeasuredSplit]:
        """Read the data set (the splits that are needed) and prepare the split."""
        splits = self._splits_to_read()
        dataset = load(self.dataset, self.data_root, splits, columns=self.columns, **self.options)
        return dataset, self._measured(dataset, self.split)

    def run(
        self,
        scorer: Scorer | None = None,
        weight: float | None = None,
        stage: Stage = _show_nothing,
    ) -> "BenchmarkResult":
        """Measure a scorer beside BM25, which is measured alone without one.

        Args:
            weight: Also fuse with BM25: the share of the scorer.
            stage: Called with a description of each stage; see `Stage`.
        """
        benchmark = self if scorer is None else self._for_scorer(scorer)
        with stage(f"reading {self.dataset}"):
            dataset, measured = benchmark.read()
        if weight is not None and (measured.task != "ranking" or scorer is None):
            raise ConfigError("weight mixes the rankings of a scorer and BM25; leave it out here")
        if scorer is not None and measured.task == "classification":
            benchmark._check_classes(scorer, dataset)
        baseline = benchmark._baseline(dataset, measured, stage)
        runs, evaluations = {BASELINE: baseline.test}, {BASELINE: baseline.evaluation}
        reliability = None
        if scorer is not None:
            calibration = getattr(scorer, "calibration", None)
            name = scorer.name if scorer.name != BASELINE else f"{BASELINE} (given)"
            with stage(f"scoring with {name}") as progress:
                run = runs[name] = measured.run(scorer, progress)
            evaluations[name] = measured.evaluate_scorer(scorer, run, calibration)
            reliability = measured.reliability(run, calibration)
            if weight is not None:
                fused = f"{BASELINE} + {name}"
                runs[fused] = fuse(run, baseline.test, weight)
                evaluations[fused] = measured.evaluate(runs[fused])
        others = {name: one for name, one in evaluations.items() if name != BASELINE}
        with stage("comparing"):
            comparisons = compare_all(others, evaluations[BASELINE]) if others else {}
        return BenchmarkResult(
            benchmark, measured, scorer, runs, evaluations, comparisons, reliability
        )

    def _for_scorer(self, scorer: Scorer) -> "Benchmark":
        """A scorer of more than two classes is measured by them, unless measures are given."""
        measures, num_classes = self.measures, getattr(scorer, "num_classes", 2)
        if measures is None and num_classes > 2 and not self._entry:
            measures = class_measures(num_classes)
        return replace(self, measures=measures, num_classes=num_classes)

    def _baseline(self, dataset: Dataset, measured: MeasuredSplit, stage: Stage) -> Baseline:
        """BM25, fitted on dev if there is one and the task needs it."""
        dev = measured
        with stage("scoring with BM25") as progress:
            dev_run = run = measured.bm25_run(progress)
        if measured.task != "ranking" and self.split != "dev" and "dev" in dataset.splits:
            dev = self._measured(dataset, "dev")
            with stage("scoring with BM25") as progress:
                dev_run = dev.bm25_run(progress)
        return fit_baseline(dev, dev_run, measured, run)

    def _splits_to_read(self) -> list[str] | None:
        """Splits to read: only a ranking does without dev."""
        if self._task == "ranking":
            return [self.split]
        path = Path(self.dataset)
        if self._entry or not path.is_file():
            return None
        whole = self.split == path.name.split(".")[0]
        return [self.split] if whole else list(dict.fromkeys([self.split, "dev"]))

    @property
    def _entry(self) -> CatalogueEntry | None:
        known = self.dataset in CATALOGUE
        return CATALOGUE[self.dataset] if known else None

    @property
    def _task(self) -> Task:
        if self.measures is not None:
            return common_task(self.measures)
        return self._entry.task if self._entry else "ranking"

    def _measured(self, dataset: Dataset, split: str) -> MeasuredSplit:
        return MeasuredSplit(
            dataset[split],
            self.protocol or dataset.protocol,
            self.measures or dataset.measures,
            self._task,
            self.depth or None,
            self.num_classes or self._labelled_classes(dataset),
        )

    @property
    def _has_grades(self) -> bool:
        """Whether labels are grades of a ranking, all of which above 0 are positive."""
        return self._entry is not None and self._entry.task == "ranking"

    def _labelled_classes(self, dataset: Dataset) -> int:
        """Number of classes among the labels."""
        if self._task != "classification" or self._has_grades:
            return 2
        return max(2, *(split.top_label + 1 for split in dataset.splits.values()))

    def _check_classes(self, scorer: Scorer, dataset: Dataset) -> None:
        num_classes = self.num_classes or 2
        if num_classes > 2 or not self._has_grades:
            for split in {self.split, "dev"} & dataset.splits.keys():
                check_classes(dataset[split], "classification", num_classes, scorer.name)
        if getattr(scorer, "calibration", None) is None and num_classes == 2:
            raise ConfigError(
                f"{scorer.name} has no calibration to classify by; train it with a dev split"
            )


@dataclass(frozen=True)
class BenchmarkResult:
    """Runs and measures by system: BM25, the scorer and their fusion, compared with BM25."""

    benchmark: Benchmark
    measured: MeasuredSplit
    scorer: Scorer | None
    runs: Mapping[str, Run]
    evaluations: Mapping[str, Evaluation]
    comparisons: Mapping[str, Mapping[str, Comparison]]
    reliability: Reliability | None = None

    @property
    def system(self) -> str:
        """Name of the last system: the fusion, else the scorer, else BM25."""
        return list(self.runs)[-1]

    def to_dict(self) -> dict[str, Any]:
        """Return plain values."""
        first = self.evaluations[BASELINE]
        return {
            "dataset": self.benchmark.dataset,
            "split": self.benchmark.split,
            "task": self.measured.task,
            "protocol": first.protocol,
            "num_queries": first.num_queries,
            "num_dropped": first.num_dropped,
            "systems": {
                name: {"num_ties": one.num_ties, "measures": self._measures(name)}
                for name, one in self.evaluations.items()
            },
            "reliability": None if self.reliability is None else self.reliability.to_dict(),
        }

    def _measures(self, system: str) -> dict[str, dict[str, Any]]:
        table = self.evaluations[system].to_dict()
        for measure, comparison in self.comparisons.get(system, {}).items():
            table[measure][f"against {BASELINE}"] = comparison.to_dict()
        return table
