"""The registry of measures, and names such as `AP`, `RR@10`, `P(rel=2)@5`, `F1(class=2)`.

A measure is one file that calls `MEASURES.add(name, MeasureKind(...))`. Those of trec_eval are in
`ranking.py`, others in `classification.py` and `regression.py`.
"""

import ast
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cache, partial
from typing import Any

from matchwork.errors import ConfigError, UnknownNameError
from matchwork.registry import Registry, did_you_mean
from matchwork.types import Task

CLASSIFICATION = ("Accuracy", "F1", "macro-F1", "macro-PR-F1")
"""Default measures of two classes; see `class_measures` for more."""
REGRESSION = ("MSE", "Exact")
"""Default measures of a regression."""

_ALIASES = {"S": "Success", "Hit": "Success", "Hits": "Success", "Acc": "Accuracy"}
_SHAPE = re.compile(r"(?P<name>[^@()]+)(?:\((?P<options>[^()]*)\))?(?:@(?P<cutoff>[\d.]+))?")
_TRY: Mapping[Task, str] = {
    "ranking": "'AP' or 'RR'",
    "classification": "'Accuracy' or 'macro-F1'",
    "regression": "'MSE' or 'Exact'",
}

Options = dict[str, Any]


@dataclass(frozen=True)
class Measure:
    """A measure under its canonical name, with its options (`cutoff` for @10) filled in."""

    name: str
    task: Task
    compute: Callable[..., Any]
    options: Mapping[str, Any]
    lower_is_better: bool = False


@dataclass(frozen=True)
class MeasureKind:
    """Registry entry of a measure.

    Args:
        task: What is measured; it decides what `compute` is called with.

            - ranking: `compute(grades, judgements)` of one query: the grades of the ranked
              documents, best first, and the grade of every judged document. Returns a number.
            - classification: `compute(predicted, actual, classes)`: integer arrays of all items,
              and the classes to average over. Returns a value per item or a `Sample`.
            - regression: `compute(scores, labels, label_scale)` of all items; a perfect score is
              label / label_scale. Returns a value per item or a `Sample`.
        compute: Options and `cutoff` are passed by keyword.
        options: Names of the options it takes, `cutoff` included.
        lower_is_better: True for an error.
    """

    task: Task
    compute: Callable[..., Any]
    options: tuple[str, ...] = ()
    lower_is_better: bool = False

    def make(self, name: str, options: Options) -> Measure:
        """Return the measure with these options; raise ValueError for one that it does not take."""
        for option in options:
            if option not in self.options:
                taken = ", ".join(self.options) or "no options"
                raise ValueError(f"{name} takes {taken}, not {option!r}")
        shown = ",".join(f"{key}={value}" for key, value in options.items() if key != "cutoff")
        spelled = f"{name}({shown})" if shown else name
        spelled += f"@{options['cutoff']}" if "cutoff" in options else ""
        compute = partial(self.compute, **options) if options else self.compute
        return Measure(spelled, self.task, compute, options, self.lower_is_better)


MEASURES: Registry[MeasureKind] = Registry("measure")


@cache
def parse_measure(name: str) -> Measure:
    """Return the measure that a name such as "AP", "RR@10" or "F1(class=2)" stands for."""
    # ir-measures' own parser needs parts of `ast` that Python 3.14 no longer has.
    shape = _SHAPE.fullmatch(name.strip())
    base = _ALIASES.get(shape["name"], shape["name"]) if shape else name
    if shape is None or base not in MEASURES:
        known = {*MEASURES, "P@1", "RR@10", "nDCG@10", "Success@1"}
        raise UnknownNameError(f"no measure named {name!r}; {did_you_mean(name, known)}")
    try:
        options: Options = {}
        if shape["options"]:
            pairs = (option.split("=") for option in shape["options"].split(","))
            options = {key.strip(): ast.literal_eval(value.strip()) for key, value in pairs}
        if shape["cutoff"]:
            options["cutoff"] = ast.literal_eval(shape["cutoff"])
        return MEASURES[base].make(base, options)
    except (AssertionError, ValueError, SyntaxError) as error:
        raise ConfigError(
            f"measure {name!r}: {error}; write it as in 'P@1', 'nDCG@10' or 'AP(rel=2)'"
        ) from error


def parse_measures(names: Iterable[str], task: Task) -> list[Measure]:
    """Return the measures of these names; raise ConfigError for one of another task."""
    measures = [parse_measure(name) for name in names]
    for name, measure in zip(names, measures, strict=True):
        if measure.task != task:
            raise ConfigError(f"{name!r} measures {measure.task}, not {task}; try {_TRY[task]}")
    return measures


def class_measures(num_classes: int) -> tuple[str, ...]:
    """Return the default measures of so many classes; of more than two, the F1 of each class."""
    if num_classes <= 2:
        return CLASSIFICATION
    each = (f"F1(class={label})" for label in range(num_classes))
    return "Accuracy", "macro-F1", "macro-PR-F1", *each


def canonical(name: str) -> str:
    """Return the canonical name of a measure: `MRR@10` is `RR@10`, `MAP` is `AP`."""
    return parse_measure(name).name


def task_of(name: str) -> Task:
    """Return the task that a measure is for."""
    return parse_measure(name).task


def common_task(names: Iterable[str]) -> Task:
    """Return the task of all these measures; raise ConfigError if they measure several."""
    tasks = sorted({task_of(name) for name in names})
    if len(tasks) > 1:
        raise ConfigError(f"measures {','.join(names)}: {' and '.join(tasks)} do not mix")
    return tasks[0]


def gain(name: str, difference: float) -> float:
    """Return how much better a value is that is larger by `difference` (negative for an error)."""
    return -difference if parse_measure(name).lower_is_better else difference
