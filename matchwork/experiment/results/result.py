"""The result of an experiment: settings, outcomes, comparisons and the machine, as plain values."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import numpy as np

from matchwork.evaluate import Evaluation, compare_all
from matchwork.experiment.environment import hardware, versions
from matchwork.experiment.outcome import ConditionOutcome, SeedOutcome, mean_evaluation

if TYPE_CHECKING:
    from matchwork.experiment.condition import Condition
    from matchwork.experiment.prepare import Prepared


def make_result(
    prepared: "Prepared",
    outcomes: Sequence[SeedOutcome],
    seconds: float,
    commit: str | None,
) -> dict[str, Any]:
    """Describe what was run, what came out, and on which machine, as plain values.

    Args:
        prepared: The recipe with its data.
        outcomes: The outcome of every seed.
        seconds: Time that training and measuring took.
        commit: Commit of the code.

    Returns:
        A table with the keys of the main condition at the top, and those of the others in `also`.
    """
    recipe = prepared.recipe
    described = {
        name: _describe(condition, [o.conditions[name] for o in outcomes])
        for name, condition in prepared.conditions.items()
    }
    main = described.pop(prepared.main.name)
    for name, condition in described.items():
        condition["per_seed"] = [_seed_measures(outcome, name) for outcome in outcomes]
    return {
        "dataset": recipe.dataset_folder,
        "model": recipe.model_name,
        "recipe": recipe.name,
        "seeds": list(recipe.run.seeds),
        **main,
        "per_seed": [_describe_seed(outcome, prepared.main.name) for outcome in outcomes],
        "settings": recipe.to_dict(),
        "data_versions": dict(prepared.dataset.versions),
        "commit": commit,
        "hardware": hardware(),
        "versions": versions(),
        "wall_seconds": round(seconds, 1),
        "date": datetime.now(UTC).date().isoformat(),
        **({"also": described} if described else {}),
    }


def _describe(
    condition: "Condition",
    outcomes: Sequence[ConditionOutcome],
) -> dict[str, Any]:
    """Describe every system under one condition; the first is the matcher alone.

    Baselines are not tested against each other: p-values are for systems that were trained.
    """
    baselines, names = condition.baselines, list(outcomes[0].evaluations)
    systems = {name: mean_evaluation([o.evaluations[name] for o in outcomes]) for name in names}
    comparisons = compare_all(systems, baselines["BM25"].evaluation)
    described = {
        name: _measures([baseline.evaluation], baseline.evaluation, {})
        for name, baseline in baselines.items()
    }
    for name, evaluation in systems.items():
        seeds = [outcome.evaluations[name] for outcome in outcomes]
        described[name] = _measures(
            seeds, evaluation, condition.section.paper if name == names[0] else {}
        )
        for measure, comparison in comparisons[name].items():
            described[name][measure] |= {
                "difference": comparison.difference,
                "p": comparison.p_value,
                "p_holm": comparison.adjusted_p,
                "wins": comparison.wins,
                "losses": comparison.losses,
            }
    main = systems[names[0]]
    return {
        "protocol": main.protocol,
        **condition.to_dict(),
        "measures": described.pop(names[0]),
        "systems": described,
        **({"baselines": list(baselines)} if len(baselines) > 1 else {}),
        "num_queries": main.num_queries,
        "num_dropped": main.num_dropped,
        "num_ties": main.num_ties,
        "paper": dict(condition.section.paper),
        **_reliability(outcomes),
        "per_query": {
            measure: {query: round(value, 5) for query, value in values.items()}
            for measure, values in main.per_query.items()
        },
    }


def _reliability(outcomes: Sequence[ConditionOutcome]) -> dict[str, dict[str, float]]:
    """Return the mean calibration errors over seeds, where every seed has some."""
    measured = [each.reliability for each in outcomes if each.reliability is not None]
    if len(measured) < len(outcomes):
        return {}
    errors = {
        "calibration_error": [each.calibration_error for each in measured],
        "brier": [each.brier for each in measured],
    }
    return {"reliability": {name: float(np.mean(values)) for name, values in errors.items()}}


def _measures(
    seeds: Sequence[Evaluation], mean: Evaluation, paper: Mapping[str, float | str]
) -> dict[str, dict[str, Any]]:
    table = {}
    for measure in mean.samples:
        values = [evaluation[measure] for evaluation in seeds]
        table[measure] = {
            "mean": float(np.mean(values)),
            "std": float(np.std(values, ddof=1)) if len(values) > 1 else 0.0,
            "ci": list(mean.interval(measure)),
            "paper": paper.get(measure),
        }
    return table


def _seed_measures(outcome: SeedOutcome, condition: str) -> dict[str, Any]:
    measured = outcome.conditions[condition]
    weights = measured.weights
    return {
        "seed": outcome.seed,
        "fusion_weight": next(iter(weights.values()), None),
        **({"fusion_weights": weights} if len(weights) > 1 else {}),
        "measures": {name: e.values for name, e in measured.evaluations.items()},
    }


def _describe_seed(outcome: SeedOutcome, main: str) -> dict[str, Any]:
    return {
        **_seed_measures(outcome, main),
        "best_epoch": outcome.best_epoch,
        "dev": outcome.dev,
        "cut_texts": outcome.cut_texts,
        "cut_tokens": outcome.cut_tokens,
        "seconds": round(outcome.seconds, 1),
        **({"dev_loss": outcome.dev_loss} if outcome.dev_loss else {}),
        **({"stages": outcome.stages} if outcome.stages else {}),
    }
