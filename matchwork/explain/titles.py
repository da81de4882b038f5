"""What a person reads where a model says `matching_0`."""

import re

_ORDINALS = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth")
_TITLES = {
    "contribution": "What each word pair adds to the score",
    "query_contribution": "What each query word adds to the score",
    "document_contribution": "What each document word adds to the score",
    "query_agreement": "How well each query word is matched",
    "document_agreement": "How well each document word is matched",
    "query_distance": "How far each query word stays from the document",
    "document_distance": "How far each document word stays from the query",
    "matching_0": "Word matching before the first layer",
    "interaction": "How strongly each word pair interacts",
    "state": "How well the texts match up to each word pair",
    "gate_input": "Gate of the new match",
    "gate_left": "Gate from the left",
    "gate_top": "Gate from the top",
    "gate_diagonal": "Gate from the diagonal",
    "alignment": "Which document word answers each query word",
    "cosine": "How alike query words and document words are",
    "query_answer": "What each query word adds to the score",
    "document_answer": "What each document word adds to the score",
    "query_gate": "Query word as a whole",
    "query_values_gate": "Query word, mean over its values",
    "document_gate": "Document word as a whole",
    "document_values_gate": "Document word, mean over its values",
    "document_attention": "Attention to each document word",
    "document_jump": "Context jump from each document word to the next",
}
_REVERSE = "_reverse"
DOCUMENT_ATTENTION, CONTEXT_JUMP = "document_attention", "document_jump"
GATE = "_gate"
"""What the names of gates of single words end in."""
RELEVANCE, PHRASE_WEIGHT, ATTENTION = "relevance_", "phrase_weight_", "attention_"
"""What the names of a model's evidence start with that matches texts level by level."""
_LEVELS = {
    RELEVANCE: "Relevance at level {}",
    PHRASE_WEIGHT: "Weight of each query phrase at level {}",
    ATTENTION: "Co-attention at level {}",
    "document_salience_": "How much each document word counts in the summary of level {}",
}


def evidence_title(name: str) -> str:
    """The title of a table or of word weights; unknown names are only tidied up."""
    if name in _TITLES:
        return _TITLES[name]
    if name.endswith(_REVERSE):
        return f"{evidence_title(name.removesuffix(_REVERSE))}, read backwards"
    for start, title in _LEVELS.items():
        if name.startswith(start):
            return title.format(name.removeprefix(start))
    layer = layer_of(name)
    if layer is not None:
        return f"Word matching after {_ordinal(layer)}"
    return name.replace("_", " ").capitalize()


def layer_of(name: str) -> int | None:
    """How many layers made this matching table; None for a table that is no layer's."""
    found = re.fullmatch(r"matching_(\d+)", name)
    return int(found[1]) if found else None


def layer_title(name: str) -> str:
    """Where in the stack a matching table stands, for a place that says "layer" already."""
    layer = layer_of(name)
    return f"after {layer}" if layer else "before"


def _ordinal(number: int) -> str:
    if number <= len(_ORDINALS):
        return f"the {_ORDINALS[number - 1]} layer"
    return f"layer {number}"
