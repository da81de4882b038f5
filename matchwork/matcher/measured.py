"""Measuring a scorer on a split: used on dev to choose, on test to report."""

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property

import numpy as np

from matchwork.data.dataset import Split
from matchwork.evaluate import (
    Evaluation,
    Reliability,
    evaluate,
    evaluate_classification,
    evaluate_regression,
    reliability,
)
from matchwork.matcher.matcher import Matcher
from matchwork.rank.bm25 import BM25
from matchwork.rank.calibration import AnyCalibration, Calibration, ClassCalibration
from matchwork.rank.runs import rank_all
from matchwork.types import Progress, Run, Scorer, Scores, Task

RUN_DEPTH = 1_000
"""Documents that a query keeps where all are ranked, as at TREC; beyond it a document is lost."""
WINDOW = 2_000_000  # pairs at once: documents of large pools come back within it, read only once


class MeasuredSplit:
    """A split, how it is measured, and the candidates ranked for each query.

    A collection has no candidates of its own: BM25's best `depth` documents are ranked, or
    every document when `depth` is None, of which the best `RUN_DEPTH` are kept. Labels of a
    classification are classes if there are more than two, else positive from 1 on.
    """

    def __init__(
        self,
        split: Split,
        protocol: str,
        measures: Sequence[str],
        task: Task = "ranking",
        depth: int | None = 50,
        num_classes: int = 2,
    ) -> None:
        self.split = split
        self.protocol = protocol
        self.measures = tuple(measures)
        self.task = task
        self.depth = depth
        self.num_classes = num_classes

    @cached_property
    def first_stage(self) -> Run:
        """BM25's ranking of a collection."""
        index = BM25.fit(self.split.documents)
        return index.retrieve(self.split.queries, top_k=self.depth or RUN_DEPTH)

    def bm25_run(self, progress: Progress | None = None) -> Run:
        """BM25 on the same candidates: the baseline."""
        if self.split.candidates is None:
            return self.first_stage
        # Distinct texts: a sentence listed under many questions is still one document.
        distinct = list(dict.fromkeys(self.split.documents.values()))
        return self.run(BM25.fit(distinct), progress)

    @cached_property
    def candidates(self) -> Mapping[str, Sequence[str]] | None:
        """What is ranked for each query."""
        if self.split.candidates is not None or self.depth is None:
            return self.split.candidates
        return {query: tuple(found) for query, found in self.first_stage.items()}

    def run(self, scorer: Scorer, progress: Progress | None = None) -> Run:
        """Every candidate's score."""
        return rank_all(
            scorer,
            self.split.queries,
            self.split.documents,
            self.candidates,
            top_k=RUN_DEPTH if self.candidates is None else None,
            window=WINDOW,
            progress=progress,
        )

    def evaluate(
        self, run: Run, calibration: AnyCalibration | ClassCalibration | None = None
    ) -> Evaluation:
        """Rankings by order, classifications by calibrated probability, regressions by value."""
        if self.task == "ranking":
            return evaluate(run, self.split.qrels, self.measures, self.protocol)
        scores, labels = self.scored_pairs(run)
        if self.task == "regression":
            return evaluate_regression(scores, labels, self.measures, self.split.label_scale)
        calibration = calibration or self.calibrate(run)
        return self._by_class(calibration.probability(scores), labels)

    def evaluate_matcher(
        self,
        matcher: Matcher,
        run: Run | None = None,
        calibration: AnyCalibration | None = None,
    ) -> Evaluation:
        """As `evaluate` does its run, but of more than two classes by the likeliest."""
        if self.task != "classification" or self.num_classes == 2:
            return self.evaluate(self.run(matcher) if run is None else run, calibration)
        pools = run or self.candidates or {}
        pairs = [(query, document) for query, pool in pools.items() for document in pool]
        texts = ((self.split.queries[q], self.split.documents[d]) for q, d in pairs)
        labels = np.array([self.split.label(*pair) for pair in pairs], dtype=np.int64)
        return self._by_class(matcher.classify(texts), labels)

    def calibrate(self, run: Run) -> Calibration | ClassCalibration:
        """What the scores of a run say about classes."""
        scores, labels = self.scored_pairs(run)
        if self.num_classes > 2:
            return ClassCalibration.fit(scores, labels, self.num_classes)
        return Calibration.fit(scores, labels)

    def reliability(self, run: Run, calibration: AnyCalibration | None) -> Reliability | None:
        """How far probabilities can be trusted; None without any, and where labels are values."""
        if calibration is None or self.task == "regression":
            return None
        scores, labels = self.scored_pairs(run)
        # Of more than two classes, the score is that of class 1.
        matches = labels == 1 if self.num_classes > 2 else labels > 0
        return reliability(calibration.probability(scores), matches) if len(scores) else None

    def _by_class(self, probabilities: Scores, labels: np.ndarray) -> Evaluation:
        classes = labels if self.num_classes > 2 else (labels > 0).astype(np.int64)
        # Named by the labels alone, so that every system is averaged over the same.
        return evaluate_classification(
            probabilities, classes, self.measures, classes=np.unique(classes).tolist()
        )

    def fit_line(self, run: Run) -> Callable[[Run], Run]:
        """The straight line from scores to labels that fits best: makes BM25 a regression."""
        scores, labels = self.scored_pairs(run)
        basis = np.stack([scores, np.ones_like(scores)], axis=1)
        targets = labels / self.split.label_scale
        slope, intercept = np.linalg.lstsq(basis, targets, rcond=None)[0].tolist()
        return lambda run: {
            query: {document: slope * score + intercept for document, score in scores.items()}
            for query, scores in run.items()
        }

    def scored_pairs(self, run: Run) -> tuple[Scores, np.ndarray]:
        """Scores and labels of all ranked pairs, in one line."""
        rows = [
            (score, self.split.label(query, document))
            for query, scores in run.items()
            for document, score in scores.items()
        ]
        table = np.array(rows, dtype=np.float64).reshape(-1, 2)
        return table[:, 0], table[:, 1].astype(np.int64)
