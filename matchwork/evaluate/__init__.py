"""RANKINGS -> NUMBERS: measures, protocols, intervals and significance."""

from matchwork.evaluate.classification import evaluate_classification
from matchwork.evaluate.comparison import Comparison, compare, compare_all
from matchwork.evaluate.evaluation import Evaluation
from matchwork.evaluate.measures import (
    CLASSIFICATION,
    MEASURES,
    REGRESSION,
    Measure,
    MeasureKind,
    canonical,
    class_measures,
    gain,
    task_of,
)
from matchwork.evaluate.protocol import PROTOCOLS
from matchwork.evaluate.ranking import evaluate_run as evaluate
from matchwork.evaluate.regression import evaluate_regression
from matchwork.evaluate.reliability import Reliability, reliability
from matchwork.evaluate.sample import Sample
from matchwork.evaluate.significance import bootstrap_interval, holm, permutation_test
from matchwork.packages import make_callable

__all__ = [
    "CLASSIFICATION",
    "MEASURES",
    "PROTOCOLS",
    "REGRESSION",
    "Comparison",
    "Evaluation",
    "Measure",
    "MeasureKind",
    "Reliability",
    "Sample",
    "bootstrap_interval",
    "canonical",
    "class_measures",
    "compare",
    "compare_all",
    "evaluate",
    "evaluate_classification",
    "evaluate_regression",
    "gain",
    "holm",
    "permutation_test",
    "reliability",
    "task_of",
]

make_callable(__name__)
