"""What a sweep gave: one JSON file that grows combination by combination."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from matchwork.errors import DataError
from matchwork.experiment.results import without_queries
from matchwork.experiment.sweep import Combination, Sweep, label
from matchwork.files import read_json, write_text
from matchwork.report.page import Table


class SweepResult:
    """The results of a sweep's combinations, kept in a file from which work is continued."""

    def __init__(self, sweep: Sweep, path: Path) -> None:
        self.sweep, self.path = sweep, path
        self.errors: dict[str, str] = {}
        known = {one.recipe.hash for one in sweep.combinations}
        kept = read_sweep_result(path)["combinations"] if path.exists() else []
        self._rows = {row["recipe_hash"]: row for row in kept if row["recipe_hash"] in known}

    def __contains__(self, combination: Combination) -> bool:
        return combination.recipe.hash in self._rows

    def add(self, combination: Combination, result: Mapping[str, Any]) -> None:
        """Take in the result of one combination; more follow, so charts can wait."""
        self._rows[combination.recipe.hash] = {
            "values": dict(combination.values),
            **without_queries(result),
        }
        self.errors.pop(combination.label, None)

    def write(self) -> None:
        """The file, all of it or nothing."""
        write_text(self.path, _as_text(self.to_json()))

    def to_json(self) -> dict[str, Any]:
        """What was varied, how it is drawn, the result of each combination and what is missing."""
        sweep = self.sweep
        return {
            "sweep": sweep.name,
            "base": sweep.base,
            "hash": sweep.hash,
            "keys": {key: list(values) for key, values in sweep.keys.items()},
            "set": dict(sweep.changes),
            "charts": [asdict(chart) for chart in sweep.charts],
            "missing": [
                {"values": dict(one.values), "error": self.errors.get(one.label)}
                for one in sweep.combinations
                if one not in self
            ],
            "combinations": [self._rows[c.recipe.hash] for c in sweep.combinations if c in self],
        }


def read_sweep_result(path: str | Path) -> dict[str, Any]:
    """What `SweepResult.write` wrote."""
    found = read_json(path)
    if not isinstance(found, dict) or not {"sweep", "charts", "combinations"} <= found.keys():
        raise DataError("not the result of a sweep; matchwork sweep FILE.toml makes one", path=path)
    return found


def _as_text(result: Mapping[str, Any]) -> str:
    """Indented JSON, but each combination on one line: they are for programs."""
    head = {key: value for key, value in result.items() if key != "combinations"}
    text = json.dumps(head, indent=2, ensure_ascii=False, allow_nan=False).removesuffix("\n}")
    lines = [json.dumps(row, ensure_ascii=False, allow_nan=False) for row in result["combinations"]]
    listed = ",\n    ".join(lines)
    return f'{text},\n  "combinations": [\n    {listed}\n  ]\n}}\n'


def sweep_table(result: Mapping[str, Any]) -> Table:
    """A row per combination: its values, then dev and test, mean ± deviation over seeds."""
    rows = result["combinations"]
    measures = list(dict.fromkeys(name for row in rows for name in row["measures"]))
    cells = [
        [
            label(row["values"]),
            _dev(row["per_seed"]),
            *(_mean(row["measures"].get(measure)) for measure in measures),
        ]
        for row in rows
    ]
    caption = ""
    if rows:
        first = rows[0]
        caption = (
            f"{first['num_queries']:,} queries of split {first['split']} of {first['dataset']}, "
            f"protocol {first['protocol']}; dev is {first['settings']['train']['dev_measure']}; "
            f"± is the standard deviation over {len(first['seeds'])} seeds"
        )
    return Table(["combination", "dev", *measures], cells, caption)


def missing_lines(result: Mapping[str, Any]) -> list[str]:
    """A line for each combination that failed, and one for all that were not tried."""
    lines = [f"{label(one['values'])}: {one['error']}" for one in result["missing"] if one["error"]]
    untried = len(result["missing"]) - len(lines)
    total = len(result["missing"]) + len(result["combinations"])
    return lines + ([f"{untried} of {total} combinations not trained yet"] if untried else [])


def _dev(seeds: Sequence[Mapping[str, Any]]) -> float | None:
    values = [seed["dev"] for seed in seeds if seed["dev"] is not None]
    return float(np.mean(values)) if values else None


def _mean(value: Mapping[str, Any] | None) -> str | None:
    if value is None:
        return None
    return f"{value['mean']:.4f}" + (f" ± {value['std']:.4f}" if value["std"] else "")
