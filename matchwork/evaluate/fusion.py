"""Fusion weights chosen on a dev split."""

from dataclasses import replace

import numpy as np

from matchwork.data.dataset import Split
from matchwork.evaluate.ranking import evaluate_run
from matchwork.rank.fusion import mix, normalise
from matchwork.rank.pipeline import Pipeline
from matchwork.types import Qrels, Run

WEIGHTS: tuple[float, ...] = tuple(round(step * 0.05, 2) for step in range(21))
"""The weights that `choose_weight` tries."""


def choose_weight(
    run: Run, other: Run, qrels: Qrels, measure: str = "RR", protocol: str = "raw"
) -> float:
    """Return the share of `run` that fuses best on dev judgements; the smallest of equals."""
    ours, theirs = normalise(run), normalise(other)
    values = [
        evaluate_run(mix(ours, theirs, weight), qrels, [measure], protocol)[measure]
        for weight in WEIGHTS
    ]
    return WEIGHTS[int(np.argmax(values))]


def fit_weight(
    pipeline: Pipeline, split: Split, measure: str = "RR", protocol: str = "raw"
) -> Pipeline:
    """Return the pipeline with the fusion weight that is best on a dev split."""
    first, second = pipeline.stage_runs(split)
    return replace(pipeline, weight=choose_weight(second, first, split.qrels, measure, protocol))
