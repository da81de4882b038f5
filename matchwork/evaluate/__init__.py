"""RANKINGS -> NUMBERS: measures, protocols, intervals and significance.

`evaluate(scorer, split)` and `evaluate(run, qrels)` measure; `benchmark` measures beside BM25.
"""

from typing import TYPE_CHECKING

from matchwork.evaluate.classification import evaluate_classification as evaluate_classification
from matchwork.evaluate.comparison import Comparison as Comparison
from matchwork.evaluate.comparison import compare as compare
from matchwork.evaluate.comparison import compare_all as compare_all
from matchwork.evaluate.evaluation import Evaluation as Evaluation
from matchwork.evaluate.measures import CLASSIFICATION as CLASSIFICATION
from matchwork.evaluate.measures import MEASURES as MEASURES
from matchwork.evaluate.measures import REGRESSION as REGRESSION
from matchwork.evaluate.measures import MeasureKind as MeasureKind
from matchwork.evaluate.measures import canonical as canonical
from matchwork.evaluate.measures import class_measures as class_measures
from matchwork.evaluate.measures import gain as gain
from matchwork.evaluate.measures import task_of as task_of
from matchwork.evaluate.protocol import PROTOCOLS as PROTOCOLS
from matchwork.evaluate.protocol import Protocol as Protocol
from matchwork.evaluate.ranking import evaluate_run as evaluate_run
from matchwork.evaluate.regression import evaluate_regression as evaluate_regression
from matchwork.evaluate.reliability import Reliability as Reliability
from matchwork.evaluate.reliability import reliability as reliability
from matchwork.evaluate.sample import Sample as Sample
from matchwork.evaluate.sample import bootstrap_interval as bootstrap_interval
from matchwork.evaluate.sample import holm as holm
from matchwork.evaluate.sample import permutation_test as permutation_test
from matchwork.packages import lazy_names, make_callable

if TYPE_CHECKING:
    from matchwork.evaluate.api import evaluate as evaluate

# BM25 needs SciPy, which is slow to import.
__getattr__ = lazy_names(__name__, {"evaluate": "matchwork.evaluate.api"})
make_callable(__name__)
