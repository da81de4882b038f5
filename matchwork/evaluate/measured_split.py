"""A split prepared for measuring: its candidates, the runs of scorers and baselines on it."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from matchwork.data.dataset import Split
from matchwork.errors import ConfigError
from matchwork.evaluate.classification import evaluate_classification
from matchwork.evaluate.evaluation import Evaluation
from matchwork.evaluate.ranking import evaluate_run
from matchwork.evaluate.regression import evaluate_regression
from matchwork.evaluate.reliability import Reliability, reliability
from matchwork.rank.bm25 import BM25
from matchwork.rank.calibration import AnyCalibration, Calibration, ClassCalibration
from matchwork.rank.runs import rank_all
from matchwork.types import Progress, Run, Scorer, Scores, Task

BASELINE = "BM25"
RUN_DEPTH = 1_000
"""Documents kept per query where a whole collection is scored, as at TREC."""
WINDOW = 2_000_000  # pairs at once, so that documents of large pools are read only once

Labels = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class MeasuredSplit:
    """A split, how it is measured, and the candidates that are ranked for each query.

    Args:
        measures: Names of measures of the task.
        depth: Number of BM25's best documents to rank where the split has no candidates; None
            ranks all documents and keeps the best `RUN_DEPTH`.
        num_classes: With more than 2, labels are classes; otherwise labels above 0 are positive.
    """

    split: Split
    protocol: str
    measures: Sequence[str]
    task: Task = "ranking"
    depth: int | None = 50
    num_classes: int = 2

    @cached_property
    def first_stage(self) -> Run:
        """BM25's ranking of a collection."""
        index = BM25.fit(self.split.documents)
        return index.retrieve(self.split.queries, top_k=self.depth or RUN_DEPTH)

    @cached_property
    def candidates(self) -> Mapping[str, Sequence[str]] | None:
        """Documents to rank for each query; None ranks all."""
        if self.split.candidates is not None or self.depth is None:
            return self.split.candidates
        return {query: tuple(scores) for query, scores in self.first_stage.items()}

    def run(self, scorer: Scorer, progress: Progress | None = None) -> Run:
        """Score all candidates; `progress` counts pairs."""
        return rank_all(
            scorer,
            self.split.queries,
            self.split.documents,
            self.candidates,
            top_k=RUN_DEPTH if self.candidates is None else None,
            window=WINDOW,
            progress=progress,
        )

    def bm25_run(self, progress: Progress | None = None) -> Run:
        """Score all candidates with BM25, fitted on the distinct documents of the split."""
        if self.split.candidates is None:
            return self.first_stage
        # Distinct texts: a sentence that is listed under many questions is one document.
        return self.run(BM25.fit(list(dict.fromkeys(self.split.documents.values()))), progress)

    def evaluate(
        self, run: Run, calibration: AnyCalibration | ClassCalibration | None = None
    ) -> Evaluation:
        """Measure a run of this split; a classification without calibration is fitted on it."""
        if self.task == "ranking":
            return evaluate_run(run, self.split.qrels, self.measures, self.protocol)
        scores, labels = self.scored_pairs(run)
        if self.task == "regression":
            return evaluate_regression(scores, labels, self.measures, self.split.label_scale)
        calibration = calibration or self.calibrate(run)
        return self._evaluate_classes(calibration.probability(scores), labels)

    def evaluate_scorer(
        self, scorer: Scorer, run: Run | None = None, calibration: AnyCalibration | None = None
    ) -> Evaluation:
        """Measure a scorer, whose run may be known; of several classes by its most probable one."""
        if self.task != "classification" or self.num_classes == 2:
            return self.evaluate(self.run(scorer) if run is None else run, calibration)
        classify: Callable[[object], Scores] | None = getattr(scorer, "classify", None)
        if classify is None:
            raise ConfigError(f"{scorer.name} does not tell {self.num_classes} classes apart")
        pools = run or self.candidates or {}
        pairs = [(query, document) for query, pool in pools.items() for document in pool]
        texts = ((self.split.queries[q], self.split.documents[d]) for q, d in pairs)
        labels = np.array([self.split.label(*pair) for pair in pairs], dtype=np.int64)
        return self._evaluate_classes(classify(texts), labels)

    def calibrate(self, run: Run) -> Calibration | ClassCalibration:
        """Fit probabilities of the classes to the scores of a run."""
        scores, labels = self.scored_pairs(run)
        if self.num_classes > 2:
            return ClassCalibration.fit(scores, labels, self.num_classes)
        return Calibration.fit(scores, labels)

    def reliability(self, run: Run, calibration: AnyCalibration | None) -> Reliability | None:
        """Return how reliable the probabilities of a run are (with several classes, of class 1).

        None without a calibration, without pairs, and for a regression.
        """
        if calibration is None or self.task == "regression":
            return None
        scores, labels = self.scored_pairs(run)
        matches = labels == 1 if self.num_classes > 2 else labels > 0
        return reliability(calibration.probability(scores), matches) if len(scores) else None

    def _evaluate_classes(self, probabilities: Scores, labels: Labels) -> Evaluation:
        classes = labels if self.num_classes > 2 else (labels > 0).astype(np.int64)
        # Averaged over the labelled classes, so that systems are averaged over the same.
        return evaluate_classification(
            probabilities, classes, self.measures, classes=np.unique(classes).tolist()
        )

    def fit_line(self, run: Run) -> Callable[[Run], Run]:
        """Fit a straight line from scores to labels, which makes BM25 a regression."""
        scores, labels = self.scored_pairs(run)
        basis = np.stack([scores, np.ones_like(scores)], axis=1)
        targets = labels / self.split.label_scale
        slope, intercept = np.linalg.lstsq(basis, targets, rcond=None)[0].tolist()
        return lambda run: {
            query: {document: slope * score + intercept for document, score in scores.items()}
            for query, scores in run.items()
        }

    def scored_pairs(self, run: Run) -> tuple[Scores, Labels]:
        """Return scores and labels of all pairs of a run, shape (pairs,) each."""
        rows = [
            (score, self.split.label(query, document))
            for query, scores in run.items()
            for document, score in scores.items()
        ]
        table = np.array(rows, dtype=np.float64).reshape(-1, 2)
        return table[:, 0], table[:, 1].astype(np.int64)


@dataclass(frozen=True)
class Baseline:
    """A baseline's runs on dev, where fusion weights are chosen, and on test, and its measures."""

    dev: Run
    test: Run
    evaluation: Evaluation


def fit_baseline(dev: MeasuredSplit, dev_run: Run, test: MeasuredSplit, test_run: Run) -> Baseline:
    """Evaluate the run of a baseline on test.

    Scores become classes by a logistic regression on dev, and predictions of a regression by a
    straight line fitted on dev; a ranking needs neither.
    """
    calibration = None
    if test.task == "classification":
        calibration = dev.calibrate(dev_run)
    elif test.task == "regression":
        line = dev.fit_line(dev_run)
        dev_run, test_run = line(dev_run), line(test_run)
    return Baseline(dev_run, test_run, test.evaluate(test_run, calibration))
