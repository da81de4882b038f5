"""The result of a sweep: a JSON file that grows combination by combination."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from matchwork.errors import DataError
from matchwork.experiment.results import without_queries
from matchwork.experiment.sweep.sweep import Combination, Sweep, label
from matchwork.files import read_json, write_text
from matchwork.report.page import Table


class SweepResult:
    """The results of a sweep's combinations, in a file from which work is resumed.

    Args:
        sweep: The sweep.
        path: The file; rows of combinations whose settings have changed since are dropped.
    """

    def __init__(self, sweep: Sweep, path: Path) -> None:
        self.sweep, self.path = sweep, path
        self.errors: dict[str, str] = {}
        rows = read_sweep_result(path)["combinations"] if path.exists() else []
        self._rows: dict[str, dict[str, Any]] = {}
        for one in sweep.combinations:
            row = _row_of(one, rows)
            if row is not None and not one.recipe.differences(row["settings"]):
                self._rows[one.label] = row

    def __contains__(self, combination: Combination) -> bool:
        return combination.label in self._rows

    def add(self, combination: Combination, result: Mapping[str, Any]) -> None:
        """Add the result of a combination."""
        values = {"values": dict(combination.values)}
        self._rows[combination.label] = values | without_queries(result)
        self.errors.pop(combination.label, None)

    def write(self) -> None:
        """Write the file, whole or not at all."""
        write_text(self.path, _as_text(self.to_dict()))

    def to_dict(self) -> dict[str, Any]:
        """Return keys and charts of the sweep, the result of each combination, and what failed."""
        sweep = self.sweep
        return {
            "sweep": sweep.name,
            "base": sweep.base,
            "keys": {key: list(values) for key, values in sweep.keys.items()},
            "set": dict(sweep.changes),
            "charts": [asdict(chart) for chart in sweep.charts],
            "missing": [
                {"values": dict(one.values), "error": self.errors.get(one.label)}
                for one in sweep.combinations
                if one not in self
            ],
            "combinations": [self._rows[c.label] for c in sweep.combinations if c in self],
        }


def stale_combinations(sweep: Sweep, result: Mapping[str, Any]) -> dict[str, list[str]]:
    """Return the changed keys of combinations whose stored settings are not the sweep's."""
    rows = {one.label: _row_of(one, result["combinations"]) for one in sweep.combinations}
    found = {
        one.label: one.recipe.differences(row["settings"])
        for one in sweep.combinations
        if (row := rows[one.label]) is not None
    }
    return {label: keys for label, keys in found.items() if keys}


def _row_of(combination: Combination, rows: Sequence[dict[str, Any]]) -> dict[str, Any] | None:
    return next((row for row in rows if row["values"] == combination.values), None)


def read_sweep_result(path: str | Path) -> dict[str, Any]:
    """Read what `SweepResult.write` wrote."""
    found = read_json(path)
    if not isinstance(found, dict) or not {"sweep", "charts", "combinations"} <= found.keys():
        raise DataError("not the result of a sweep; matchwork sweep FILE.toml makes one", path=path)
    return found


def _as_text(result: Mapping[str, Any]) -> str:
    """Write indented JSON, but each combination on one line."""
    head = {key: value for key, value in result.items() if key != "combinations"}
    text = json.dumps(head, indent=2, ensure_ascii=False, allow_nan=False).removesuffix("\n}")
    lines = [json.dumps(row, ensure_ascii=False, allow_nan=False) for row in result["combinations"]]
    listed = ",\n    ".join(lines)
    return f'{text},\n  "combinations": [\n    {listed}\n  ]\n}}\n'


def sweep_table(result: Mapping[str, Any]) -> Table:
    """Return a table with a row per combination: its values, then its means on dev and test."""
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
    """Return a line for each combination that failed, and one for all that were not trained."""
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
