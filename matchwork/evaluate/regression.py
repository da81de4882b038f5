"""Predicted numbers x labels -> the same `Evaluation` that rankings get."""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from matchwork.errors import DataError, UnknownNameError
from matchwork.evaluate.evaluate import Evaluation
from matchwork.evaluate.measures import REGRESSION
from matchwork.evaluate.sample import Floats, Sample
from matchwork.registry import did_you_mean


def evaluate_regression(
    scores: npt.ArrayLike,
    labels: npt.ArrayLike,
    measures: Sequence[str] = REGRESSION,
    label_scale: float = 1.0,
) -> Evaluation:
    """Measure scores that should be `labels / label_scale`.

    `MSE` is the mean squared error of the scores, as the squared loss sees it; `Exact` is the
    share of scores that, multiplied by `label_scale` and rounded, are the label.
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
        samples={name: _sample(name, predicted, actual, label_scale) for name in measures},
        queries=tuple(map(str, range(len(actual)))),
        protocol="raw",
    )


def _sample(name: str, predicted: Floats, actual: Floats, label_scale: float) -> Sample:
    if name == "MSE":
        return Sample.of((predicted - actual / label_scale) ** 2)
    if name == "Exact":
        return Sample.of(np.rint(predicted * label_scale) == actual)
    raise UnknownNameError(
        f"no regression measure named {name!r}; {did_you_mean(name, REGRESSION)}"
    )
