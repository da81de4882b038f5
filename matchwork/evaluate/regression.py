"""Regression measures: scores and labels become an `Evaluation`."""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from matchwork.errors import DataError
from matchwork.evaluate.evaluation import Evaluation
from matchwork.evaluate.measures import MEASURES, REGRESSION, MeasureKind, parse_measures
from matchwork.evaluate.sample import Floats, as_sample


def evaluate_regression(
    scores: npt.ArrayLike,
    labels: npt.ArrayLike,
    measures: Sequence[str] = REGRESSION,
    label_scale: float = 1.0,
) -> Evaluation:
    """Measure scores against labels.

    Args:
        scores: One number per item, as in `labels`.
        measures: Names of regression measures.
        label_scale: A perfect score is label / label_scale.
    """
    predicted, actual = np.asarray(scores, np.float64), np.asarray(labels, np.float64)
    if predicted.shape != actual.shape:
        raise DataError(f"{len(predicted)} scores for {len(actual)} labels; give one each")
    if not len(actual):
        raise DataError("there is nothing to measure; give at least one score")
    if not np.isfinite(predicted).all():
        position = int(np.flatnonzero(~np.isfinite(predicted))[0])
        raise DataError(f"score number {position} is not a finite number")
    return Evaluation(
        samples={
            measure.name: as_sample(measure.compute(predicted, actual, label_scale))
            for measure in parse_measures(measures, "regression")
        },
        queries=tuple(map(str, range(len(actual)))),
        protocol="raw",
    )


def squared_error(scores: Floats, labels: Floats, label_scale: float) -> Floats:
    """Return the squared error of each score, as the squared loss sees it."""
    return np.asarray((scores - labels / label_scale) ** 2)


def exact(scores: Floats, labels: Floats, label_scale: float) -> npt.NDArray[np.bool_]:
    """Return whether each score, multiplied by the scale and rounded, is the label."""
    return np.asarray(np.rint(scores * label_scale) == labels)


MEASURES.add("MSE", MeasureKind("regression", squared_error, lower_is_better=True))
MEASURES.add("Exact", MeasureKind("regression", exact))
