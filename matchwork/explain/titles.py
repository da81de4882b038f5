"""Titles of evidence: what people read for `matching_0`."""

import re
from collections.abc import Mapping

_ORDINALS = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth")
_COMMON = {
    "contribution": "What each word pair adds to the score",
    "query_contribution": "What each query word adds to the score",
    "document_contribution": "What each document word adds to the score",
    "query_agreement": "How well each query word is matched",
    "document_agreement": "How well each document word is matched",
    "alignment": "Which document word answers each query word",
    "cosine": "How alike query words and document words are",
}
"""Titles of evidence that several models give; a model adds its own as `evidence_titles`."""
DOCUMENT_ATTENTION, CONTEXT_JUMP = "document_attention", "document_jump"
GATE = "_gate"
"""End of the names of gates of single words."""
RELEVANCE, PHRASE_WEIGHT, ATTENTION = "relevance_", "phrase_weight_", "attention_"
"""Start of the names of evidence of models that match texts level by level."""


def evidence_title(name: str, titles: Mapping[str, str] | None = None) -> str:
    """Return the title of a table or of word weights; unknown names are only tidied up.

    Args:
        name: Name of the evidence.
        titles: Name -> title, as in `Model.evidence_titles`: a `{}` in a name stands for a number.
    """
    titles = {**_COMMON, **(titles or {})}
    if name in titles:
        return titles[name]
    stem = name.rstrip("0123456789")
    if stem != name and f"{stem}{{}}" in titles:
        number = int(name.removeprefix(stem))
        return titles[f"{stem}{{}}"].format(number, layer=_layer(number))
    return name.replace("_", " ").capitalize()


def layer_of(name: str) -> int | None:
    """Return how many layers made this matching table; None for any other table."""
    layer = re.fullmatch(r"matching_(\d+)", name)
    return int(layer[1]) if layer else None


def layer_title(name: str) -> str:
    """Return where in the stack of layers a matching table stands."""
    layer = layer_of(name)
    return f"after {layer}" if layer else "before"


def _layer(number: int) -> str:
    if 0 < number <= len(_ORDINALS):
        return f"the {_ORDINALS[number - 1]} layer"
    return f"layer {number}"
