"""What a person reads where a model says `matching_0`."""

import re

_ORDINALS = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth")
_TITLES = {
    "contribution": "What each word pair adds to the score",
    "query_distance": "How far each query word stays from the document",
    "document_distance": "How far each document word stays from the query",
    "matching_0": "Word matching before the first layer",
}


def evidence_title(name: str) -> str:
    """The title of a table or of word weights; unknown names are only tidied up."""
    if name in _TITLES:
        return _TITLES[name]
    layer = re.fullmatch(r"matching_(\d+)", name)
    if layer:
        return f"Word matching after {_layer(int(layer[1]))}"
    return name.replace("_", " ").capitalize()


def _layer(number: int) -> str:
    if number <= len(_ORDINALS):
        return f"the {_ORDINALS[number - 1]} layer"
    return f"layer {number}"
