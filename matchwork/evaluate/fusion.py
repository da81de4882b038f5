"""Fusion weights chosen on a dev split."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Protocol

import numpy as np

from matchwork.evaluate.ranking import evaluate_run
from matchwork.rank.fusion import mix, normalise
from matchwork.rank.pipeline import Pipeline
from matchwork.rank.runs import Pools
from matchwork.types import Qrels, Run

WEIGHTS: tuple[float, ...] = tuple(round(step * 0.05, 2) for step in range(21))
"""The weights that `choose_weight` tries."""


class _Judged(Pools, Protocol):
    @property
    def qrels(self) -> Mapping[str, Mapping[str, int]]: ...


def choose_weight(
    run: Run, other: Run, qrels: Qrels, measure: str = "RR", protocol: str = "raw"
) -> float:
    """Return the share of `run` that fuses best on dev judgements; the smallest of equals.

    Args:
        run: Scores whose share is chosen.
        other: Scores that get the rest.
        qrels: Judgements of the dev queries.
        measure: What is maximised.
        protocol: Which queries count.
    """
    ours, theirs = normalise(run), normalise(other)
    values = [
        evaluate_run(mix(ours, theirs, weight), qrels, [measure], protocol)[measure]
        for weight in WEIGHTS
    ]
    return WEIGHTS[int(np.argmax(values))]


def fit_weight(
    pipeline: Pipeline, split: _Judged, measure: str = "RR", protocol: str = "raw"
) -> Pipeline:
    """Return the pipeline with the fusion weight that is best on a dev split."""
    first, second = pipeline.stage_runs(split)
    qrels = {query: dict(grades) for query, grades in split.qrels.items()}
    return replace(pipeline, weight=choose_weight(second, first, qrels, measure, protocol))
