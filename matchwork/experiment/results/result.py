"""The result of an experiment: settings, outcomes, comparisons and the machine, as plain values.

Its file is a small JSON summary, with the values of every query, compressed, beside it.
"""

import gzip
import json
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from matchwork.errors import DataError
from matchwork.evaluate import Evaluation, compare_all
from matchwork.experiment.environment import hardware, versions
from matchwork.experiment.outcome import ConditionOutcome, SeedOutcome, mean_evaluation
from matchwork.files import atomic_write, read_json, write_json

if TYPE_CHECKING:
    from matchwork.experiment.condition import Condition
    from matchwork.experiment.prepare import Prepared


SWEEPS = "sweeps"
"""The folder of sweeps in `recipes`, `runs` and `results`."""
_QUERIES = ".queries.json.gz"


def make_result(
    prepared: "Prepared",
    outcomes: Sequence[SeedOutcome],
    seconds: float,
    commit: str | None,
) -> dict[str, Any]:
    """Return what was run, what came out, and on which machine, as plain values.

    The main condition has its keys at the top, the others have theirs in `also`.
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


def _describe(condition: "Condition", outcomes: Sequence[ConditionOutcome]) -> dict[str, Any]:
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
    return {
        "reliability": {
            name: float(np.mean([getattr(each, name) for each in measured]))
            for name in ("calibration_error", "brier")
        }
    }


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


def write_result(path: Path, result: Mapping[str, Any]) -> None:
    """Write `tiny.json`, and the values of every query in `tiny.queries.json.gz` beside it."""
    queries = {name: one["per_query"] for name, one in _conditions(result).items()}
    content = json.dumps(queries, ensure_ascii=False, allow_nan=False).encode()
    with atomic_write(_queries_path(path), "wb") as stream:
        stream.write(gzip.compress(content, mtime=0))  # equal values, equal bytes
    write_json(path, without_queries(result))


def read_result(path: str | Path) -> dict[str, Any]:
    """Read what `write_result` wrote, with the values of every query where they exist."""
    path = Path(path)
    result: dict[str, Any] = read_json(path)
    if _queries_path(path).exists():
        queries = read_queries(path)
        for name, one in _conditions(result).items():
            one["per_query"] = queries[name]
    return result


def read_queries(path: str | Path) -> dict[str, dict[str, dict[str, float]]]:
    """Read the values of every query of the result in `path`, by condition and measure."""
    file = _queries_path(Path(path))
    try:
        queries: dict[str, dict[str, dict[str, float]]] = json.loads(
            gzip.decompress(file.read_bytes())
        )
    except OSError as error:
        raise DataError(f"cannot read: {error.strerror or error}", path=file) from error
    except (EOFError, ValueError) as error:
        raise DataError(f"not compressed JSON ({error})", path=file) from error
    return queries


def load_results(folder: str | Path) -> list[dict[str, Any]]:
    """Read the summaries of a folder, sorted by data set and recipe."""
    files = (read_json(path) for path in sorted(Path(folder).glob("*/*.json")))
    return [result for result in files if isinstance(result, dict) and "measures" in result]


def by_condition(result: Mapping[str, Any]) -> dict[str, Mapping[str, Any]]:
    """Return the result of each condition by its name; the main one is \"\".

    Each has `dev`, the mean over seeds of the main condition's value on dev, or None.
    """
    dev = [seed["dev"] for seed in result.get("per_seed", ()) if seed.get("dev") is not None]
    chosen_by = {"dev": float(np.mean(dev)) if dev else None}
    return {name: {**result, **values, **chosen_by} for name, values in _conditions(result).items()}


def without_queries(result: Mapping[str, Any]) -> dict[str, Any]:
    """Return a result without the values of every query."""
    summary = {key: value for key, value in result.items() if key != "per_query"}
    if "also" in summary:
        summary["also"] = {name: without_queries(one) for name, one in summary["also"].items()}
    return summary


def _conditions(result: Mapping[str, Any]) -> dict[str, Any]:
    return {"": result, **result.get("also", {})}


def _queries_path(path: Path) -> Path:
    return path.with_name(path.stem + _QUERIES)


def in_words(condition: Mapping[str, Any]) -> str:
    """Describe the candidates as the end of a list: ", pool=full, BM25's best 100 re-ranked"."""
    parts = [f"{key}={str(value).lower()}" for key, value in condition.get("options", {}).items()]
    depth = condition.get("depth")
    if depth is not None:
        parts.append(f"BM25's best {depth} re-ranked" if depth else "all documents ranked")
    return "".join(f", {part}" for part in parts)
