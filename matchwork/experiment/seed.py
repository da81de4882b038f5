"""What one seed gave; kept on disk so that a resumed run does not repeat it."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from matchwork.evaluate import Evaluation
from matchwork.evaluate.sample import Sample


@dataclass
class SeedOutcome:
    """Training history and test evaluations (by system name) of one seed."""

    seed: int
    best_epoch: int
    dev: float | None
    history: list[dict[str, float]]
    evaluations: dict[str, Evaluation] = field(default_factory=dict)
    weight: float | None = None
    cut_texts: int = 0
    cut_tokens: int = 0
    seconds: float = 0.0

    def to_json(self) -> dict[str, Any]:
        """Plain values; the inverse of `from_json`."""
        table = {key: value for key, value in vars(self).items() if key != "evaluations"}
        table["evaluations"] = {
            name: evaluation_to_json(evaluation) for name, evaluation in self.evaluations.items()
        }
        return table

    @classmethod
    def from_json(cls, table: dict[str, Any]) -> "SeedOutcome":
        """Read back what `to_json` wrote."""
        evaluations = {
            name: evaluation_from_json(values) for name, values in table["evaluations"].items()
        }
        return cls(**{**table, "evaluations": evaluations})


def evaluation_to_json(evaluation: Evaluation) -> dict[str, Any]:
    """An evaluation with all that is needed to resample it."""
    return {
        "samples": {
            name: [sample.gain.tolist(), sample.weight.tolist()]
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
        name: Sample(np.array(gain), np.array(weight))
        for name, (gain, weight) in table["samples"].items()
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
        )
        for name in first.samples
    }
    ties = round(float(np.mean([e.num_ties for e in evaluations])))
    return Evaluation(samples, first.queries, first.protocol, first.num_dropped, ties)
