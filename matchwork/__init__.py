"""Matchwork: train, evaluate, explain and serve neural text matchers.

The flow is `text -> tokens -> vectors -> interaction -> score -> ranking`, and the packages
spell the same words. Names below are loaded when first used, so that importing the package
costs nothing.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

if TYPE_CHECKING:
    from matchwork.data import Dataset as Dataset
    from matchwork.data import Split as Split
    from matchwork.data import load as load_data  # noqa: F401
    from matchwork.data import toy as toy
    from matchwork.encode import WordEmbedding as WordEmbedding
    from matchwork.encode import WordVectors as WordVectors
    from matchwork.evaluate import compare as compare
    from matchwork.evaluate import evaluate as evaluate
    from matchwork.explain import explain as explain
    from matchwork.models import MODELS as MODELS
    from matchwork.models import MatchModel as MatchModel
    from matchwork.rank import BM25 as BM25
    from matchwork.rank import Matcher as Matcher
    from matchwork.rank import Pipeline as Pipeline
    from matchwork.rank import rank as rank
    from matchwork.rank import rank_all as rank_all
    from matchwork.text import WordTokenizer as WordTokenizer
    from matchwork.train import train as train
    from matchwork.types import Document as Document
    from matchwork.types import Scorer as Scorer

_HOMES = {
    "BM25": "rank",
    "Dataset": "data",
    "Document": "types",
    "MODELS": "models",
    "MatchModel": "models",
    "Matcher": "rank",
    "Pipeline": "rank",
    "Scorer": "types",
    "Split": "data",
    "WordEmbedding": "encode",
    "WordTokenizer": "text",
    "WordVectors": "encode",
    "compare": "evaluate",
    "evaluate": "evaluate",
    "explain": "explain",
    "load_data": "data",
    "rank": "rank",
    "rank_all": "rank",
    "toy": "data",
    "train": "train",
}

__all__ = ["__version__", *sorted(_HOMES)]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'matchwork' has no attribute {name!r}")
    home = import_module(f"matchwork.{_HOMES[name]}")
    return getattr(home, "load" if name == "load_data" else name)


def __dir__() -> list[str]:
    return __all__
