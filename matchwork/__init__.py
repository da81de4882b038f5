"""Matchwork: train, evaluate, explain and serve neural text matchers.

The flow is `text -> tokens -> vectors -> interaction -> score -> ranking`, and the packages
spell the same words. Names below are loaded when first used, so that importing the package
costs nothing.
"""

from typing import TYPE_CHECKING

from matchwork.packages import lazy_names
from matchwork.version import VERSION

# isort: off
if TYPE_CHECKING:
    from matchwork.data import Dataset as Dataset, Split as Split, toy as toy
    from matchwork.data import load as load_data  # noqa: F401
    from matchwork.encode import WordEmbedding as WordEmbedding, WordVectors as WordVectors
    from matchwork.evaluate import Evaluation as Evaluation, compare as compare
    from matchwork.evaluate import evaluate as evaluate
    from matchwork.explain import Explanation as Explanation, explain as explain
    from matchwork.matcher import Matcher as Matcher, load as load
    from matchwork.models import MODELS as MODELS, MatchModel as MatchModel, PairModel as PairModel
    from matchwork.rank import BM25 as BM25, Pipeline as Pipeline
    from matchwork.rank import rank_all as rank_all, rerank as rerank
    from matchwork.text import WordTokenizer as WordTokenizer
    from matchwork.train import TrainConfig as TrainConfig, TrainResult as TrainResult
    from matchwork.train import train as train
    from matchwork.types import Document as Document, Ranked as Ranked, Scorer as Scorer
# isort: on

_NAMES = {
    "data": "Dataset Split toy",
    "encode": "WordEmbedding WordVectors",
    "evaluate": "Evaluation compare evaluate",
    "explain": "Explanation explain",
    "matcher": "Matcher load",
    "models": "MODELS MatchModel PairModel",
    "rank": "BM25 Pipeline rank_all rerank",
    "text": "WordTokenizer",
    "train": "TrainConfig TrainResult train",
    "types": "Document Ranked Scorer",
}
_HOMES = {name: f"matchwork.{home}" for home, names in _NAMES.items() for name in names.split()}
_HOMES["load_data"] = "matchwork.data:load"

__version__ = VERSION
__all__ = ["__version__", *sorted(_HOMES)]
__getattr__ = lazy_names(__name__, _HOMES)


def __dir__() -> list[str]:
    return __all__
