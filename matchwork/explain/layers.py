"""How the table of word matching changes from layer to layer."""

from typing import NamedTuple

from matchwork.explain.explanation import Explanation, WordPair
from matchwork.explain.titles import layer_of


class LayerSummary(NamedTuple):
    """A layer's table in numbers; `spread` is the standard deviation of its cells."""

    name: str
    mean: float
    spread: float
    strongest: WordPair


def layer_names(explanation: Explanation) -> list[str]:
    """The tables of one matching matrix at growing depth; none when there is no change to see."""
    names = [name for name in explanation.tables if layer_of(name) is not None]
    filled = bool(names) and explanation.tables[names[0]].size > 0
    return names if filled and len(names) > 1 else []


def layer_summaries(explanation: Explanation) -> list[LayerSummary]:
    """Every layer's mean, spread and strongest word pair, in order."""
    return [
        LayerSummary(
            name,
            float(explanation.tables[name].mean()),
            float(explanation.tables[name].std()),
            explanation.strongest(name, top_k=1)[0],
        )
        for name in layer_names(explanation)
    ]
