"""Measures as values that print as their own name: `AP`, `RR@10`, `P(rel=2)@5`, `nDCG@10`.

Ranking measures are those of ir-measures that trec_eval computes and that are averaged over
queries. Classification measures are our own: `Accuracy`, `F1` (of the positive class of two, 1),
`F1(class=2)` (of that class), `macro-F1` (the unweighted mean of the F1 of every class) and
`macro-PR-F1` (the harmonic mean of macro precision and macro recall, which some papers call
macro-F1). So are those of regression: `MSE` (mean squared error, the only measure of which less
is better) and `Exact` (the share of scores that round to their label).
"""

import ast
import re
from functools import cache

import ir_measures
from ir_measures.measures.base import MeanAgg, Measure

from matchwork.errors import ConfigError, UnknownNameError
from matchwork.registry import did_you_mean
from matchwork.types import Task

CLASSIFICATION = ("Accuracy", "F1", "macro-F1", "macro-PR-F1")
REGRESSION = ("MSE", "Exact")

_ALIASES = {"S": "Success", "Hit": "Success", "Hits": "Success", "Acc": "Accuracy"}
_CLASS_F1 = re.compile(r"F1\(\s*class\s*=\s*(?P<label>\d+)\s*\)")
_SHAPE = re.compile(r"(?P<name>[^@()]+)(?:\((?P<options>[^()]*)\))?(?:@(?P<cutoff>[\d.]+))?")


@cache
def _known() -> dict[str, Measure]:
    """Every spelling ir-measures accepts for the measures we can compute."""
    provider = ir_measures.providers.registry["pytrec_eval"]
    supported = {measure.NAME for measure in provider.SUPPORTED_MEASURES}
    return {
        name: measure
        for name, measure in ir_measures.measures.registry.items()
        if measure.NAME in supported and isinstance(measure.aggregator(), MeanAgg)
    }


def _unknown(name: str) -> UnknownNameError:
    known = {*_known(), *CLASSIFICATION, *REGRESSION, "P@1", "RR@10", "nDCG@10", "Success@1"}
    return UnknownNameError(f"no measure named {name!r}; {did_you_mean(name, known)}")


def ranking_measure(name: str) -> Measure:
    """The ir-measures value behind a name such as `AP`, `MRR@10` or `nDCG@10`."""
    # ir-measures' own parser needs parts of `ast` that Python 3.14 no longer has.
    shape = _SHAPE.fullmatch(name.strip())
    base = _ALIASES.get(shape["name"], shape["name"]) if shape else name
    if shape is None or base not in _known():
        if base in (*CLASSIFICATION, *REGRESSION):
            raise ConfigError(f"{name!r} measures {task_of(name)}, not ranking; try 'AP' or 'RR'")
        raise _unknown(name)
    measure = _known()[base]
    try:
        if shape["options"]:
            pairs = (option.split("=") for option in shape["options"].split(","))
            measure = measure(**{key.strip(): ast.literal_eval(value) for key, value in pairs})
        if shape["cutoff"]:
            measure = measure @ ast.literal_eval(shape["cutoff"])
        measure.validate_params()  # type: ignore[no-untyped-call]
    except (AssertionError, ValueError, SyntaxError) as error:
        raise ConfigError(
            f"measure {name!r}: {error}; write it as in 'P@1', 'nDCG@10' or 'AP(rel=2)'"
        ) from error
    return measure


def classification_measure(name: str) -> str:
    """The canonical name of a classification measure."""
    base = _own(name)
    if class_of(base) is None and base not in CLASSIFICATION:
        raise UnknownNameError(
            f"no classification measure named {name!r}; {did_you_mean(base, CLASSIFICATION)}"
        )
    return base


def class_of(name: str) -> int | None:
    """The class that `F1(class=2)` is about, None for any other measure."""
    found = _CLASS_F1.fullmatch(name.strip())
    return int(found["label"]) if found else None


def class_measures(num_classes: int) -> tuple[str, ...]:
    """All there is to say about so many classes; of more than two, the F1 of each."""
    if num_classes <= 2:
        return CLASSIFICATION
    each = (f"F1(class={label})" for label in range(num_classes))
    return "Accuracy", "macro-F1", "macro-PR-F1", *each


def _own(name: str) -> str:
    """Our own spelling, where the measure is one of ours."""
    label = class_of(name)
    return _ALIASES.get(name.strip(), name.strip()) if label is None else f"F1(class={label})"


def canonical(name: str) -> str:
    """The name a measure prints as: `MRR@10` is `RR@10`, `MAP` is `AP`."""
    base = _own(name)
    ours = class_of(base) is not None or base in (*CLASSIFICATION, *REGRESSION)
    return base if ours else str(ranking_measure(name))


def task_of(name: str) -> Task:
    """What a measure measures."""
    own = canonical(name)
    if own in REGRESSION:
        return "regression"
    return "classification" if own in CLASSIFICATION or class_of(own) is not None else "ranking"


def gain(name: str, difference: float) -> float:
    """How much better a value is that is larger by `difference`: of an error, less is better."""
    return -difference if canonical(name) == "MSE" else difference
