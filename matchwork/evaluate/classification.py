"""Predicted classes x labels -> the same `Evaluation` that rankings get."""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from matchwork.errors import ConfigError, DataError
from matchwork.evaluate.evaluate import Evaluation
from matchwork.evaluate.measures import CLASSIFICATION, classification_measure
from matchwork.evaluate.sample import Sample

Classes = npt.NDArray[np.int64]


def evaluate_classification(
    predictions: npt.ArrayLike,
    labels: npt.ArrayLike,
    measures: Sequence[str] = CLASSIFICATION,
    threshold: float = 0.5,
    ids: Sequence[str] | None = None,
) -> Evaluation:
    """Measure predictions against labels (classes 0, 1, ...).

    `predictions` are classes (integers), probabilities of class 1 (positive from `threshold`
    on), or a table of items x classes whose largest column wins. `F1` is that of class 1;
    `macro-F1` is the unweighted mean of the F1 of every class that is labelled or predicted.
    `ids` name the items; their position does otherwise.
    """
    actual = np.asarray(labels)
    predicted = _classes(np.asarray(predictions), threshold)
    if len(predicted) != len(actual):
        raise DataError(f"{len(predicted)} predictions for {len(actual)} labels; give one each")
    if not len(actual):
        raise DataError("there is nothing to measure; give at least one prediction")
    if ids is not None and len(ids) != len(actual):
        raise DataError(f"{len(ids)} ids for {len(actual)} labels; give one each")
    names = [classification_measure(name) for name in measures]
    return Evaluation(
        samples={name: _sample(name, predicted, actual) for name in names},
        queries=tuple(ids) if ids is not None else tuple(map(str, range(len(actual)))),
        protocol="raw",
    )


def _classes(predictions: npt.NDArray[np.generic], threshold: float) -> Classes:
    if predictions.dtype.kind in "iub":
        return predictions.astype(np.int64)
    if np.isnan(predictions.astype(np.float64)).any():
        position = int(np.argwhere(np.isnan(predictions.astype(np.float64)))[0][0])
        raise DataError(f"prediction number {position} is not a number")
    if predictions.ndim == 2:
        return np.asarray(predictions.argmax(axis=1))
    return (predictions.astype(np.float64) >= threshold).astype(np.int64)


def _sample(name: str, predicted: Classes, actual: Classes) -> Sample:
    if name == "Accuracy":
        return Sample.of(predicted == actual)
    classes = np.union1d(predicted, actual)
    if name == "F1":
        if classes.max(initial=0) > 1:
            raise ConfigError(
                f"F1 is that of the positive class of two, found classes "
                f"{', '.join(map(str, classes))}; use 'macro-F1'"
            )
        classes = np.array([1])
    is_predicted, is_actual = predicted[:, None] == classes, actual[:, None] == classes
    return Sample(
        gain=2.0 * (is_predicted & is_actual),
        weight=is_predicted.astype(np.float64) + is_actual,
    )
