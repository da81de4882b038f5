"""Figures on the screen, as JSON with all that stands behind them, and on a page."""

import os
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from benchmarks.figures import Figures
from matchwork.cli import show
from matchwork.experiment.environment import commit, hardware, versions
from matchwork.files import read_json, write_json, write_text
from matchwork.report.markdown import markdown_table
from matchwork.report.numbers import MISSING

THREADS = "OMP_NUM_THREADS"
FOLDER = Path(__file__).parent
COLUMNS = ("benchmark", "figure", "value", "peer", "ratio", "target", "met")
_HEADER = """# Benchmarks

Made by `make bench` (or `python -m benchmarks NAME…` for some of them; `--quick` is a fast look
that writes nothing). Every value stands beside a floor or a peer measured in the same run, and
the ratio is value by peer: absolute numbers are of one machine, ratios travel. One thread, unless
`OMP_NUM_THREADS` says otherwise. The JSON files under `results/` hold the same numbers with
machine, versions, commit and date.

"""


def print_figures(name: str, figures: Figures) -> None:
    """One table."""
    rows = [_cells(what, figure.to_json()) for what, figure in figures.items()]
    show.table(COLUMNS[1:], rows, title=name)


def write_result(name: str, purpose: str, figures: Figures, folder: Path = FOLDER) -> None:
    """Keep the figures as JSON and make the page anew."""
    result = {
        "benchmark": name,
        "purpose": purpose,
        "figures": {what: figure.to_json() for what, figure in figures.items()},
        "machine": {**hardware(), "threads": os.environ.get(THREADS)},
        "versions": versions(),
        "commit": commit(),
        "date": datetime.now(UTC).isoformat(timespec="minutes"),
    }
    write_json(folder / "results" / f"{name}.json", result)
    write_text(folder / "README.md", page(folder))


def page(folder: Path = FOLDER) -> str:
    """The newest numbers of every benchmark as Markdown."""
    results = [read_json(path) for path in sorted((folder / "results").glob("*.json"))]
    rows = [
        (f"[{result['benchmark']}](results/{result['benchmark']}.json)", *_cells(*item))
        for result in results
        for item in result["figures"].items()
    ]
    lines = markdown_table(COLUMNS, rows, align="llrrrll")
    purposes = [f"- **{result['benchmark']}**: {result['purpose']}" for result in results]
    made: dict[str, list[str]] = {}
    for result in results:
        made.setdefault(_machine(result), []).append(result["benchmark"])
    machines = [f"- {', '.join(names)}: {machine}" for machine, names in made.items()]
    parts = ("\n".join(part) for part in (lines, purposes, ["Made with:", "", *machines]))
    return _HEADER + "\n\n".join(parts) + "\n"


def _cells(what: str, figure: Mapping[str, Any]) -> tuple[str, ...]:
    return (
        what,
        f"{_number(figure['value'])} {figure['unit']}",
        f"{_number(figure['peer'])} {figure['unit']} ({figure['peer_name']})",
        _number(figure["ratio"]),
        figure["target"] or MISSING,
        {True: "yes", False: "no", None: MISSING}[figure["met"]],
    )


def _number(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def _machine(result: Mapping[str, Any]) -> str:
    machine, libraries = result["machine"], result["versions"]
    parts = [machine["cpu"], f"{machine['cores']} cores ({machine['threads']} used)"]
    if "memory_gib" in machine:
        parts.append(f"{machine['memory_gib']} GiB")
    if "gpu" in machine:
        parts.append(machine["gpu"])
    parts += [f"Python {libraries['python']}", f"torch {libraries['torch']}"]
    return f"{', '.join(parts)}; commit {result['commit']}, {result['date'][:10]}."
