"""Predicted classes x labels -> the same `Evaluation` that rankings get."""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from matchwork.errors import ConfigError, DataError
from matchwork.evaluate.evaluate import Evaluation
from matchwork.evaluate.measures import class_measures, class_of, classification_measure
from matchwork.evaluate.sample import Sample

Classes = npt.NDArray[np.int64]


def evaluate_classification(
    predictions: npt.ArrayLike,
    labels: npt.ArrayLike,
    measures: Sequence[str] | None = None,
    threshold: float = 0.5,
    ids: Sequence[str] | None = None,
    classes: Sequence[int] | None = None,
) -> Evaluation:
    """Measure predictions against labels (classes 0, 1, ...).

    `predictions` are classes (integers), probabilities of class 1 (positive from `threshold`
    on), or a table of items x classes whose largest column wins. `F1` is that of class 1 of two,
    `F1(class=2)` that of any class. `macro-F1` is the unweighted mean of the F1 of all `classes`
    (those labelled or predicted, unless named: systems that are to be compared must name the
    same); `macro-PR-F1` is the harmonic mean of their mean precision and mean recall. All that
    suits the number of classes is measured by default. `ids` name the items; their position does
    otherwise.
    """
    actual, given = np.asarray(labels), np.asarray(predictions)
    predicted = _classes(given, threshold)
    if len(predicted) != len(actual):
        raise DataError(f"{len(predicted)} predictions for {len(actual)} labels; give one each")
    if not len(actual):
        raise DataError("there is nothing to measure; give at least one prediction")
    if ids is not None and len(ids) != len(actual):
        raise DataError(f"{len(ids)} ids for {len(actual)} labels; give one each")
    columns = given.shape[1] if given.ndim == 2 else 2
    num_classes = max(columns, int(predicted.max()) + 1, int(actual.max()) + 1)
    names = [classification_measure(name) for name in measures or class_measures(num_classes)]
    for name in names:
        _require_class(name, num_classes)
    averaged = np.union1d(predicted, actual) if classes is None else np.asarray(classes)
    return Evaluation(
        samples={name: _sample(name, predicted, actual, averaged) for name in names},
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


def _require_class(name: str, num_classes: int) -> None:
    if name == "F1" and num_classes > 2:
        raise ConfigError(
            f"F1 is that of the positive class of two, and there are classes "
            f"0..{num_classes - 1}; use 'macro-F1' or 'F1(class=1)'"
        )
    label = class_of(name)
    if label is not None and label >= num_classes:
        raise ConfigError(f"{name}: there are only classes 0..{num_classes - 1}")


def _sample(name: str, predicted: Classes, actual: Classes, averaged: Classes) -> Sample:
    if name == "Accuracy":
        return Sample.of(predicted == actual)
    label = 1 if name == "F1" else class_of(name)
    classes = averaged if label is None else np.array([label])
    is_predicted, is_actual = predicted[:, None] == classes, actual[:, None] == classes
    hits = is_predicted & is_actual
    if name == "macro-PR-F1":
        return Sample(
            gain=np.hstack([hits, hits]).astype(np.float64),
            weight=np.hstack([is_predicted, is_actual]).astype(np.float64),
            num_means=2,
        )
    return Sample(gain=2.0 * hits, weight=is_predicted.astype(np.float64) + is_actual)
