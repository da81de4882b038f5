"""Reports of a seed: progress during training, and the outcome that is saved at its end."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from matchwork.evaluate import Evaluation, Reliability
from matchwork.evaluate.sample import Sample


@dataclass
class ConditionOutcome:
    """Measurements of a seed on test under one condition.

    Args:
        evaluations: The evaluation of every system by its name, the matcher alone first.
        weights: Fusion weight of the matcher beside each baseline, chosen on dev.
        reliability: Calibration of the matcher's probabilities; None where it has none.
    """

    evaluations: dict[str, Evaluation]
    weights: dict[str, float] = field(default_factory=dict)
    reliability: Reliability | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return plain values."""
        evaluations = {name: _evaluation_to_dict(e) for name, e in self.evaluations.items()}
        table: dict[str, Any] = {"evaluations": evaluations, "weights": self.weights}
        if self.reliability is not None:
            table["reliability"] = self.reliability.to_dict()
        return table

    @classmethod
    def from_dict(cls, table: dict[str, Any]) -> "ConditionOutcome":
        """Build an outcome from what `to_dict` returned."""
        evaluations = {name: _evaluation_from_dict(e) for name, e in table["evaluations"].items()}
        stored = table.get("reliability")
        reliability = None if stored is None else Reliability.from_dict(stored)
        return cls(evaluations, table["weights"], reliability)


@dataclass
class SeedOutcome:
    """Training history of a seed and its measurements.

    Args:
        seed: The seed.
        best_epoch: The epoch whose weights were used.
        dev: Value of the dev measure at that epoch; None where nothing was measured.
        history: What was logged after each epoch.
        dev_loss: Batches done and loss on dev, where `train.dev_loss_every` asks for it.
        stages: What happened in each stage that came before the whole model.
        conditions: The measurements under each condition by its name.
        cut_texts: Number of training texts that were truncated.
        cut_tokens: Number of tokens that were cut off.
        seconds: Time that training and measuring took.
    """

    seed: int
    best_epoch: int
    dev: float | None
    history: list[dict[str, float]]
    dev_loss: list[list[float]] = field(default_factory=list)
    stages: list[dict[str, Any]] = field(default_factory=list)
    conditions: dict[str, ConditionOutcome] = field(default_factory=dict)
    cut_texts: int = 0
    cut_tokens: int = 0
    seconds: float = 0.0

    def to_dict(self) -> dict[str, Any]:
        """Return plain values; `dev_loss` and `stages` are left out when empty."""
        conditions = {name: outcome.to_dict() for name, outcome in self.conditions.items()}
        table = {**vars(self), "conditions": conditions}
        empty = [name for name in ("dev_loss", "stages") if not table[name]]
        return {name: value for name, value in table.items() if name not in empty}

    @classmethod
    def from_dict(cls, table: dict[str, Any]) -> "SeedOutcome":
        """Build an outcome from what `to_dict` returned."""
        conditions = {
            name: ConditionOutcome.from_dict(values) for name, values in table["conditions"].items()
        }
        return cls(**{**table, "conditions": conditions})


def _evaluation_to_dict(evaluation: Evaluation) -> dict[str, Any]:
    """Return an evaluation with all that is needed to resample it."""
    return {
        "samples": {
            name: [sample.gain.tolist(), sample.weight.tolist(), sample.num_means]
            for name, sample in evaluation.samples.items()
        },
        "queries": list(evaluation.queries),
        "protocol": evaluation.protocol,
        "num_dropped": evaluation.num_dropped,
        "num_ties": evaluation.num_ties,
    }


def _evaluation_from_dict(table: dict[str, Any]) -> Evaluation:
    samples = {
        name: Sample(np.array(gain), np.array(weight), *num_means)
        for name, (gain, weight, *num_means) in table["samples"].items()
    }
    others = {name: table[name] for name in ("protocol", "num_dropped", "num_ties")}
    return Evaluation(samples, tuple(table["queries"]), **others)


def mean_evaluation(evaluations: Sequence[Evaluation]) -> Evaluation:
    """Average evaluations of several seeds query by query, for intervals and tests."""
    first = evaluations[0]
    samples = {
        name: Sample(
            np.mean([e.samples[name].gain for e in evaluations], axis=0),
            np.mean([e.samples[name].weight for e in evaluations], axis=0),
            first.samples[name].num_means,
        )
        for name in first.samples
    }
    ties = round(float(np.mean([e.num_ties for e in evaluations])))
    return Evaluation(samples, first.queries, first.protocol, first.num_dropped, ties)


class Observer:
    """Receives the progress of one or several experiments; this one ignores it.

    Attributes:
        bar: Whether training shows a progress bar of its own.
    """

    bar = False

    def begin(self, num_experiments: int, num_seeds: int, num_done: int) -> None:
        """Receive the number of experiments, of seeds to train and of experiments that are done."""

    def stage(self, text: str) -> None:
        """Receive the name of the next part of the work."""

    def epoch(self, seed: int, record: Mapping[str, float]) -> None:
        """Receive what was logged after an epoch."""

    def stage_epoch(self, seed: int, name: str, record: Mapping[str, float]) -> None:
        """Receive what was logged after an epoch of the stage `name`."""

    def batch(self, done: int, total: int) -> None:
        """Receive the number of batches done in an epoch of a stage; `total` is 0 if unknown."""

    def progress(self, done: int, total: int) -> None:
        """Receive the number of pairs scored."""

    def seed(self, label: str, outcome: SeedOutcome) -> None:
        """Receive the outcome of a seed of the experiment `label`."""

    def failed(self, label: str, message: str) -> None:
        """Receive the error of an experiment, which will have no result."""
