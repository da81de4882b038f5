"""Baselines: runs such as BM25's, fitted to the labels of dev where the task needs it."""

from dataclasses import dataclass

from matchwork.evaluate.evaluation import Evaluation
from matchwork.evaluate.measured_split import MeasuredSplit
from matchwork.types import Run

BASELINE = "BM25"


@dataclass(frozen=True)
class Baseline:
    """A baseline's runs on dev, where fusion weights are chosen, and on test.

    Args:
        dev: Run on dev.
        test: Run on test.
        evaluation: Measures on test.
    """

    dev: Run
    test: Run
    evaluation: Evaluation


def fit_baseline(dev: MeasuredSplit, dev_run: Run, test: MeasuredSplit, test_run: Run) -> Baseline:
    """Evaluate the run of a baseline on test.

    Scores become classes by a logistic regression on dev, and predictions of a regression by a
    straight line fitted on dev; a ranking needs neither.

    Args:
        dev: Split to fit on.
        dev_run: The baseline's scores there.
        test: Split to measure.
        test_run: The baseline's scores there.
    """
    calibration = None
    if test.task == "classification":
        calibration = dev.calibrate(dev_run)
    elif test.task == "regression":
        line = dev.fit_line(dev_run)
        dev_run, test_run = line(dev_run), line(test_run)
    return Baseline(dev_run, test_run, test.evaluate(test_run, calibration))
