"""Matchwork: train, evaluate, explain and serve neural text matchers.

The flow is `text -> tokens -> vectors -> interaction -> score -> ranking`, and the packages
spell the same words. Names below are loaded when first used, so that importing the package
costs nothing.
"""

from typing import TYPE_CHECKING

from matchwork.packages import lazy_names
from matchwork.version import VERSION

if TYPE_CHECKING:
    from matchwork.data import Dataset as Dataset
    from matchwork.data import Split as Split
    from matchwork.data import load as load_data  # noqa: F401
    from matchwork.data import toy as toy
    from matchwork.encode import WordEmbedding as WordEmbedding
    from matchwork.encode import WordVectors as WordVectors
    from matchwork.evaluate import Evaluation as Evaluation
    from matchwork.evaluate import compare as compare
    from matchwork.evaluate import evaluate as evaluate
    from matchwork.explain import Explanation as Explanation
    from matchwork.explain import explain as explain
    from matchwork.matcher import Matcher as Matcher
    from matchwork.matcher import load as load
    from matchwork.models import MODELS as MODELS
    from matchwork.models import MatchModel as MatchModel
    from matchwork.rank import BM25 as BM25
    from matchwork.rank import Pipeline as Pipeline
    from matchwork.rank import rank_all as rank_all
    from matchwork.rank import rerank as rerank
    from matchwork.text import WordTokenizer as WordTokenizer
    from matchwork.train import TrainConfig as TrainConfig
    from matchwork.train import train as train
    from matchwork.types import Document as Document
    from matchwork.types import Ranked as Ranked
    from matchwork.types import Scorer as Scorer

_HOMES = {
    "BM25": "matchwork.rank",
    "Dataset": "matchwork.data",
    "Document": "matchwork.types",
    "Evaluation": "matchwork.evaluate",
    "Explanation": "matchwork.explain",
    "MODELS": "matchwork.models",
    "MatchModel": "matchwork.models",
    "Matcher": "matchwork.matcher",
    "Pipeline": "matchwork.rank",
    "Ranked": "matchwork.types",
    "Scorer": "matchwork.types",
    "Split": "matchwork.data",
    "TrainConfig": "matchwork.train",
    "WordEmbedding": "matchwork.encode",
    "WordTokenizer": "matchwork.text",
    "WordVectors": "matchwork.encode",
    "compare": "matchwork.evaluate",
    "evaluate": "matchwork.evaluate",
    "explain": "matchwork.explain",
    "load_data": "matchwork.data:load",
    "load": "matchwork.matcher",
    "rank_all": "matchwork.rank",
    "rerank": "matchwork.rank",
    "toy": "matchwork.data",
    "train": "matchwork.train",
}

__version__ = VERSION
__all__ = ["__version__", *sorted(_HOMES)]
__getattr__ = lazy_names(__name__, _HOMES)


def __dir__() -> list[str]:
    return __all__
