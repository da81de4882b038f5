"""From a score on any scale to probabilities in [0, 1], fitted on dev."""

from dataclasses import dataclass
from typing import Self

import numpy as np
import numpy.typing as npt
from scipy.optimize import minimize
from scipy.special import expit, log_softmax, softmax

from matchwork.errors import DataError
from matchwork.types import Scores

_RIDGE = 1e-4


@dataclass(frozen=True)
class Calibration:
    """`1 / (1 + exp(-(slope * score + intercept)))`; the slope is always positive.

    Without a fit, the identity of the logistic function: monotone, but not a probability.
    """

    slope: float = 1.0
    intercept: float = 0.0

    @classmethod
    def fit(cls, scores: npt.ArrayLike, labels: npt.ArrayLike) -> "Calibration":
        """Platt scaling with his smoothed targets, which keep separable data finite."""
        values = np.asarray(scores, dtype=np.float64)
        positive = np.asarray(labels) > 0
        num_positive, num_negative = int(positive.sum()), int((~positive).sum())
        if not num_positive or not num_negative:
            raise DataError(
                f"calibration needs positive and negative pairs, "
                f"got {num_positive} and {num_negative}"
            )
        centre, spread = float(values.mean()), float(values.std()) or 1.0
        scaled = (values - centre) / spread
        high = (num_positive + 1) / (num_positive + 2)
        low = 1 / (num_negative + 2)
        targets = np.where(positive, high, low)

        def loss(weights: npt.NDArray[np.float64]) -> tuple[float, npt.NDArray[np.float64]]:
            logits = weights[0] * scaled + weights[1]
            value = np.logaddexp(0, logits) - targets * logits
            error = expit(logits) - targets
            return float(value.mean()), np.array([(error * scaled).mean(), error.mean()])

        fitted = minimize(loss, np.array([1.0, 0.0]), jac=True, bounds=[(1e-3, None), (None, None)])
        slope = float(fitted.x[0]) / spread
        return cls(slope, float(fitted.x[1]) - slope * centre)

    def probability(self, scores: npt.ArrayLike) -> Scores:
        """Scores as probabilities of a match."""
        values = np.asarray(scores, dtype=np.float64)
        return np.asarray(expit(self.slope * values + self.intercept), dtype=np.float64)


@dataclass(frozen=True)
class ClassCalibration:
    """Softmax of one line per class: which class a score suggests, where there are several.

    What a scorer that knows nothing of classes, such as BM25, can make of them.
    """

    slopes: tuple[float, ...]
    intercepts: tuple[float, ...]

    @classmethod
    def fit(cls, scores: npt.ArrayLike, labels: npt.ArrayLike, num_classes: int) -> Self:
        """Logistic regression; a little ridge keeps separable data and absent classes finite."""
        values, targets = np.asarray(scores, np.float64), np.asarray(labels, np.int64)
        if not len(values):
            raise DataError("calibration needs labelled pairs, got none")
        centre, spread = float(values.mean()), float(values.std()) or 1.0
        basis = np.stack([(values - centre) / spread, np.ones_like(values)], axis=1)
        wanted = np.eye(num_classes)[targets]

        def loss(weights: npt.NDArray[np.float64]) -> tuple[float, npt.NDArray[np.float64]]:
            lines = weights.reshape(2, num_classes)
            likely = log_softmax(basis @ lines, axis=1)
            value = -(wanted * likely).sum(axis=1).mean() + _RIDGE * (lines**2).sum()
            slope = basis.T @ (np.exp(likely) - wanted) / len(values) + 2 * _RIDGE * lines
            return float(value), slope.ravel()

        lines = minimize(loss, np.zeros(2 * num_classes), jac=True).x.reshape(2, num_classes)
        slopes = lines[0] / spread
        return cls(tuple(slopes.tolist()), tuple((lines[1] - slopes * centre).tolist()))

    def probability(self, scores: npt.ArrayLike) -> Scores:
        """Probabilities of the classes, shape (scores, classes)."""
        values = np.asarray(scores, dtype=np.float64)[:, None]
        lines = values * np.array(self.slopes) + np.array(self.intercepts)
        return np.asarray(softmax(lines, axis=1), dtype=np.float64)
