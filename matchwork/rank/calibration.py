"""Calibration: scores mapped to probabilities in [0, 1], fitted on a dev split.

`fit_calibration` chooses between a logistic and an isotonic curve.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self, TypeAlias

import numpy as np
import numpy.typing as npt
import scipy  # loads its optimizers on first use, in a fit
from scipy.special import expit, log_softmax, softmax

from matchwork.config import build, to_table
from matchwork.errors import ConfigError, DataError
from matchwork.types import Scores

_RIDGE = 1e-4
_FOLDS = 5


@dataclass(frozen=True)
class Calibration:
    """Platt scaling: `1 / (1 + exp(-(slope * score + intercept)))` with a positive slope.

    The defaults are the plain logistic function: monotone, but not calibrated.
    """

    slope: float = 1.0
    intercept: float = 0.0

    @classmethod
    def fit(cls, scores: npt.ArrayLike, labels: npt.ArrayLike) -> "Calibration":
        """Fit to scores and binary labels, shape (pairs,) each.

        Platt's smoothed targets keep the curve finite where classes are separable.
        """
        values = np.asarray(scores, dtype=np.float64)
        targets = _smoothed(labels)
        centre, spread = float(values.mean()), float(values.std()) or 1.0
        scaled = (values - centre) / spread

        def loss(weights: npt.NDArray[np.float64]) -> tuple[float, npt.NDArray[np.float64]]:
            logits = weights[0] * scaled + weights[1]
            value = np.logaddexp(0, logits) - targets * logits
            error = expit(logits) - targets
            return float(value.mean()), np.array([(error * scaled).mean(), error.mean()])

        fitted = scipy.optimize.minimize(
            loss, np.array([1.0, 0.0]), jac=True, bounds=[(1e-3, None), (None, None)]
        )
        slope = float(fitted.x[0]) / spread
        return cls(slope, float(fitted.x[1]) - slope * centre)

    def probability(self, scores: npt.ArrayLike) -> Scores:
        """Return probabilities of a match, in the shape of the scores."""
        values = np.asarray(scores, dtype=np.float64)
        return np.asarray(expit(self.slope * values + self.intercept), dtype=np.float64)


@dataclass(frozen=True)
class IsotonicCalibration:
    """A rising curve: linear between points, constant outside them.

    Args:
        scores: The points, in ascending order.
        probabilities: Their probabilities, which must not fall.
    """

    scores: tuple[float, ...]
    probabilities: tuple[float, ...]

    def __post_init__(self) -> None:
        points, values = np.array(self.scores), np.array(self.probabilities)
        if not len(points) or len(points) != len(values):
            raise ConfigError(
                f"a curve needs as many scores as probabilities, got {len(points)} and "
                f"{len(values)}"
            )
        if (np.diff(points) <= 0).any() or (np.diff(values) < 0).any():
            raise ConfigError("the scores and probabilities of a curve must rise")
        if not ((values >= 0) & (values <= 1)).all():
            raise ConfigError(f"probabilities lie between 0 and 1, got {self.probabilities}")

    @classmethod
    def fit(cls, scores: npt.ArrayLike, labels: npt.ArrayLike) -> "IsotonicCalibration":
        """Fit to scores and binary labels by pooling adjacent violators.

        Each pool becomes a point at its mean score. Lines between the means keep most scores
        apart that steps would make equal.
        """
        values, targets = np.asarray(scores, dtype=np.float64), _smoothed(labels)
        points, point_of, counts = np.unique(values, return_inverse=True, return_counts=True)
        means = np.bincount(point_of, targets) / counts
        pools = scipy.optimize.isotonic_regression(means, weights=counts)
        starts = pools.blocks[:-1]
        centres = np.add.reduceat(points * counts, starts) / np.add.reduceat(counts, starts)
        # A mean of huge equal numbers may be off by a digit, and points must stay in order.
        centres = np.clip(centres, points[starts], points[pools.blocks[1:] - 1])
        return cls(tuple(centres.tolist()), tuple(pools.x[starts].tolist()))

    def probability(self, scores: npt.ArrayLike) -> Scores:
        """Return probabilities of a match, in the shape of the scores."""
        values = np.asarray(scores, dtype=np.float64)
        return np.asarray(np.interp(values, self.scores, self.probabilities), dtype=np.float64)


AnyCalibration: TypeAlias = Calibration | IsotonicCalibration
"""Maps a score to the probability of a match."""


_KINDS: dict[str, type[AnyCalibration]] = {"logistic": Calibration, "isotonic": IsotonicCalibration}


def fit_calibration(scores: npt.ArrayLike, labels: npt.ArrayLike) -> AnyCalibration:
    """Fit a logistic curve, or an isotonic one where that is clearly better.

    The isotonic curve is taken if its log loss in five-fold cross-validation is lower by more
    than one standard error of the difference.

    Args:
        scores: Shape (pairs,).
        labels: Positive where a pair matches, shape (pairs,).
    """
    values, positive = np.asarray(scores, dtype=np.float64), np.asarray(labels) > 0
    curve = Calibration.fit(values, positive)
    if min(positive.sum(), (~positive).sum()) < 2 * _FOLDS:
        return curve
    folds = np.random.default_rng(0).permutation(len(values)) % _FOLDS
    gain = np.empty(len(values))
    for fold in range(_FOLDS):
        seen, held = folds != fold, folds == fold
        if len(np.unique(positive[seen])) < 2:
            return curve
        losses = [
            _log_loss(
                kind.fit(values[seen], positive[seen]).probability(values[held]), positive[held]
            )
            for kind in (Calibration, IsotonicCalibration)
        ]
        gain[held] = losses[0] - losses[1]
    clear = gain.mean() > gain.std(ddof=1) / np.sqrt(len(gain))
    return IsotonicCalibration.fit(values, positive) if clear else curve


def calibration_to_table(calibration: AnyCalibration) -> dict[str, Any]:
    """Return a table for JSON; a logistic curve has no `kind`."""
    kind = {"kind": "isotonic"} if isinstance(calibration, IsotonicCalibration) else {}
    return {**kind, **to_table(calibration)}


def calibration_from_table(table: Mapping[str, Any], where: str) -> AnyCalibration:
    """Read what `calibration_to_table` returned; `where` names the file in messages."""
    values = dict(table)
    kind = values.pop("kind", "logistic")
    if kind not in _KINDS:
        raise DataError(f"{where}: unknown kind {kind!r}; this version knows {', '.join(_KINDS)}")
    try:
        return build(_KINDS[kind], values, where)
    except ConfigError as error:
        raise DataError(str(error)) from error


def _smoothed(labels: npt.ArrayLike) -> Scores:
    """Platt's targets: slightly below 1 and above 0, closer the more pairs there are."""
    positive = np.asarray(labels) > 0
    num_positive, num_negative = int(positive.sum()), int((~positive).sum())
    if not num_positive or not num_negative:
        raise DataError(
            f"calibration needs positive and negative pairs, got {num_positive} and {num_negative}"
        )
    high = (num_positive + 1) / (num_positive + 2)
    return np.where(positive, high, 1 / (num_negative + 2))


def _log_loss(probabilities: Scores, positive: npt.NDArray[np.bool_]) -> Scores:
    return np.asarray(
        -np.log(np.clip(np.where(positive, probabilities, 1 - probabilities), 1e-12, 1.0))
    )


@dataclass(frozen=True)
class ClassCalibration:
    """Softmax over one line per class: class probabilities from a single score.

    It makes a classifier of a scorer without classes, such as BM25.
    """

    slopes: tuple[float, ...]
    intercepts: tuple[float, ...]

    @classmethod
    def fit(cls, scores: npt.ArrayLike, labels: npt.ArrayLike, num_classes: int) -> Self:
        """Fit a multinomial logistic regression to scores and classes (from 0), shape (pairs,).

        A small ridge penalty keeps separable data and absent classes finite.
        """
        values, targets = np.asarray(scores, np.float64), np.asarray(labels, np.int64)
        if not len(values):
            raise DataError("calibration needs labelled pairs, got none")
        centre, spread = float(values.mean()), float(values.std()) or 1.0
        basis = np.stack([(values - centre) / spread, np.ones_like(values)], axis=1)
        one_hot = np.eye(num_classes)[targets]

        def loss(weights: npt.NDArray[np.float64]) -> tuple[float, npt.NDArray[np.float64]]:
            lines = weights.reshape(2, num_classes)
            log_likely = log_softmax(basis @ lines, axis=1)
            value = -(one_hot * log_likely).sum(axis=1).mean() + _RIDGE * (lines**2).sum()
            slope = basis.T @ (np.exp(log_likely) - one_hot) / len(values) + 2 * _RIDGE * lines
            return float(value), slope.ravel()

        fitted = scipy.optimize.minimize(loss, np.zeros(2 * num_classes), jac=True)
        lines = fitted.x.reshape(2, num_classes)
        slopes = lines[0] / spread
        return cls(tuple(slopes.tolist()), tuple((lines[1] - slopes * centre).tolist()))

    def probability(self, scores: npt.ArrayLike) -> Scores:
        """Return probabilities of the classes, shape (pairs, classes)."""
        values = np.asarray(scores, dtype=np.float64)[:, None]
        lines = values * np.array(self.slopes) + np.array(self.intercepts)
        return np.asarray(softmax(lines, axis=1), dtype=np.float64)
