"""What one seed gave; kept on disk so that a resumed run does not repeat it."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from matchwork.evaluate import Evaluation, Reliability
from matchwork.evaluate.sample import Sample


@dataclass
class ConditionOutcome:
    """Test evaluations (by system name) under one condition, and the fusion weights of its dev.

    A weight is the matcher's share beside the baseline of that name. `reliability` is that of
    the matcher's probabilities; None where it gives none, or nobody had asked yet.
    """

    evaluations: dict[str, Evaluation]
    weights: dict[str, float] = field(default_factory=dict)
    reliability: Reliability | None = None

    def to_json(self) -> dict[str, Any]:
        """Plain values; the inverse of `from_json`."""
        evaluations = {name: evaluation_to_json(e) for name, e in self.evaluations.items()}
        trust = {} if self.reliability is None else {"reliability": self.reliability.to_dict()}
        return {"evaluations": evaluations, "weights": self.weights, **trust}

    @classmethod
    def from_json(cls, table: dict[str, Any]) -> "ConditionOutcome":
        """Read back what `to_json` wrote."""
        evaluations = {name: evaluation_from_json(e) for name, e in table["evaluations"].items()}
        trust = Reliability.from_dict(table["reliability"]) if "reliability" in table else None
        return cls(evaluations, table["weights"], trust)


@dataclass
class SeedOutcome:
    """Training history of one seed, and what it gave under each condition.

    `dev_loss` are pairs, batches done and loss on dev; empty where it was not asked for.
    `stages` say how those of the model went, in order.
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

    def to_json(self) -> dict[str, Any]:
        """Plain values; the inverse of `from_json`."""
        conditions = {name: outcome.to_json() for name, outcome in self.conditions.items()}
        table = {**vars(self), "conditions": conditions}
        unasked = [name for name in ("dev_loss", "stages") if not table[name]]
        return {name: value for name, value in table.items() if name not in unasked}

    @classmethod
    def from_json(cls, table: dict[str, Any]) -> "SeedOutcome":
        """Read back what `to_json` wrote."""
        conditions = {
            name: ConditionOutcome.from_json(values) for name, values in table["conditions"].items()
        }
        return cls(**{**table, "conditions": conditions})


def evaluation_to_json(evaluation: Evaluation) -> dict[str, Any]:
    """An evaluation with all that is needed to resample it."""
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


def evaluation_from_json(table: dict[str, Any]) -> Evaluation:
    """The inverse of `evaluation_to_json`."""
    samples = {
        name: Sample(np.array(gain), np.array(weight), *num_means)
        for name, (gain, weight, *num_means) in table["samples"].items()
    }
    return Evaluation(
        samples,
        tuple(table["queries"]),
        table["protocol"],
        table["num_dropped"],
        table["num_ties"],
    )


def mean_evaluation(evaluations: Sequence[Evaluation]) -> Evaluation:
    """The average over seeds, query by query: what intervals and tests are made on."""
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
