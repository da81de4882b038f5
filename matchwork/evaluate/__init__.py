"""RANKINGS -> NUMBERS: measures, protocols, intervals and significance.

`evaluate(scorer, split)` and `evaluate(run, qrels)` measure; `benchmark` measures beside BM25.
"""

from typing import TYPE_CHECKING

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
from matchwork.evaluate.protocol import PROTOCOLS, Protocol
from matchwork.evaluate.ranking import evaluate_run
from matchwork.evaluate.regression import evaluate_regression
from matchwork.evaluate.reliability import Reliability, reliability
from matchwork.evaluate.sample import Sample
from matchwork.evaluate.significance import bootstrap_interval, holm, permutation_test
from matchwork.packages import lazy_names, make_callable

if TYPE_CHECKING:
    from matchwork.evaluate.api import evaluate as evaluate
    from matchwork.evaluate.baseline import Baseline as Baseline
    from matchwork.evaluate.baseline import fit_baseline as fit_baseline
    from matchwork.evaluate.benchmark import Benchmark as Benchmark
    from matchwork.evaluate.fusion import choose_weight as choose_weight
    from matchwork.evaluate.measured_split import MeasuredSplit as MeasuredSplit

_HOMES = {  # BM25 needs SciPy, which is slow to import
    "Baseline": "matchwork.evaluate.baseline",
    "Benchmark": "matchwork.evaluate.benchmark",
    "MeasuredSplit": "matchwork.evaluate.measured_split",
    "choose_weight": "matchwork.evaluate.fusion",
    "evaluate": "matchwork.evaluate.api",
    "fit_baseline": "matchwork.evaluate.baseline",
}

__all__ = [
    "CLASSIFICATION",
    "MEASURES",
    "PROTOCOLS",
    "REGRESSION",
    "Baseline",
    "Benchmark",
    "Comparison",
    "Evaluation",
    "Measure",
    "MeasureKind",
    "MeasuredSplit",
    "Protocol",
    "Reliability",
    "Sample",
    "bootstrap_interval",
    "canonical",
    "choose_weight",
    "class_measures",
    "compare",
    "compare_all",
    "evaluate",
    "evaluate_classification",
    "evaluate_regression",
    "evaluate_run",
    "fit_baseline",
    "gain",
    "holm",
    "permutation_test",
    "reliability",
    "task_of",
]
__getattr__ = lazy_names(__name__, _HOMES)

make_callable(__name__)
