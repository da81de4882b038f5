"""Classification measures: predictions and labels become an `Evaluation`."""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from matchwork.errors import ConfigError, DataError
from matchwork.evaluate.evaluation import Evaluation
from matchwork.evaluate.measures import (
    MEASURES,
    Measure,
    MeasureKind,
    class_measures,
    parse_measures,
)
from matchwork.evaluate.sample import Sample, as_sample

Classes = npt.NDArray[np.int64]


def evaluate_classification(
    predictions: npt.ArrayLike,
    labels: npt.ArrayLike,
    measures: Sequence[str] | None = None,
    threshold: float = 0.5,
    ids: Sequence[str] | None = None,
    classes: Sequence[int] | None = None,
) -> Evaluation:
    """Measure predictions against labels.

    Args:
        predictions: Classes (integers), probabilities of class 1, or a table of items x classes
            whose largest column is the predicted class.
        labels: Classes 0, 1, ...
        measures: Names; all that suit the number of classes by default.
        threshold: Probability from which class 1 is predicted.
        ids: Names of the items; their positions by default.
        classes: Classes over which macro-F1 averages; those labelled or predicted by default.
            Name them where several systems are compared.
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
    parsed = parse_measures(measures or class_measures(num_classes), "classification")
    for measure in parsed:
        _check_classes(measure, num_classes)
    averaged = np.union1d(predicted, actual) if classes is None else np.asarray(classes)
    return Evaluation(
        samples={
            measure.name: as_sample(measure.compute(predicted, actual, averaged))
            for measure in parsed
        },
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


def _check_classes(measure: Measure, num_classes: int) -> None:
    if measure.name == "F1" and num_classes > 2:
        raise ConfigError(
            f"F1 is that of the positive class of two, and there are classes "
            f"0..{num_classes - 1}; use 'macro-F1' or 'F1(class=1)'"
        )
    if measure.options.get("class", 0) >= num_classes:
        raise ConfigError(f"{measure.name}: there are only classes 0..{num_classes - 1}")


def accuracy(predicted: Classes, actual: Classes, classes: Classes) -> npt.NDArray[np.bool_]:
    """Return whether each prediction is right."""
    return np.asarray(predicted == actual)


def f1(predicted: Classes, actual: Classes, classes: Classes, **options: int) -> Sample:
    """Return the F1 of one class (option `class`): class 1 by default."""
    return macro_f1(predicted, actual, np.array([options.get("class", 1)]))


def macro_f1(predicted: Classes, actual: Classes, classes: Classes) -> Sample:
    """Return the unweighted mean F1 of all classes."""
    is_predicted, is_actual = predicted[:, None] == classes, actual[:, None] == classes
    weight = is_predicted.astype(np.float64) + is_actual
    return Sample(gain=2.0 * (is_predicted & is_actual), weight=weight)


def macro_pr_f1(predicted: Classes, actual: Classes, classes: Classes) -> Sample:
    """Return the harmonic mean of macro precision and macro recall (some papers' macro-F1)."""
    is_predicted, is_actual = predicted[:, None] == classes, actual[:, None] == classes
    hits = is_predicted & is_actual
    return Sample(
        gain=np.hstack([hits, hits]).astype(np.float64),
        weight=np.hstack([is_predicted, is_actual]).astype(np.float64),
        num_means=2,
    )


MEASURES.add("Accuracy", MeasureKind("classification", accuracy))
MEASURES.add("F1", MeasureKind("classification", f1, options=("class",)))
MEASURES.add("macro-F1", MeasureKind("classification", macro_f1))
MEASURES.add("macro-PR-F1", MeasureKind("classification", macro_pr_f1))
