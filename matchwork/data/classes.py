"""Check that the labels of a split are classes of the model."""

from matchwork.data.dataset import LabelledPair, Split
from matchwork.errors import ConfigError, DataError
from matchwork.types import Task

_SHOWN = 60  # characters of a text in a message


def check_classes(split: Split, task: Task, num_classes: int, model: str) -> None:
    """Raise if the labels of a classification do not fit the model; grades may be any number."""
    if task != "classification":
        if num_classes > 2:
            raise ConfigError(
                f"num_classes = {num_classes} is for classification, but split {split.name!r} is "
                f"measured as {task}; choose epochs by dev_measure = 'Accuracy' or 'macro-F1', "
                "or leave num_classes at 2"
            )
        return
    top = split.top_label
    if top < num_classes:
        return
    if num_classes == 2:
        raise ConfigError(
            f"model {model!r} tells two classes apart; split {split.name!r} has labels 0..{top}; "
            f"use 'hcan' with num_classes = {top + 1}"
        )
    wrong = next(pair for pair in split.pairs() if pair.label >= num_classes)
    raise DataError(
        f"{_where(wrong, split)}label {wrong.label} is outside 0..{num_classes - 1}; "
        f"correct it, or set num_classes = {top + 1}",
        path=split.source,
        line=split.label_lines.get(wrong.label),
    )


def _where(pair: LabelledPair, split: Split) -> str:
    """Name the pair by its ids if the line is unknown."""
    if pair.label in split.label_lines:
        return ""
    text = pair.query if len(pair.query) <= _SHOWN else f"{pair.query[: _SHOWN - 3]}..."
    return (
        f"split {split.name!r}, query {pair.query_id!r} ({text!r}), document {pair.document_id!r}: "
    )
