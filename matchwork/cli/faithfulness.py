"""The work of `matchwork explain --faithfulness`; imported only by it."""

from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from matchwork.cli import show
from matchwork.cli.progress import counting
from matchwork.data import Dataset
from matchwork.experiment.environment import commit, hardware, versions
from matchwork.explain.faithfulness import (
    Faithfulness,
    faithfulness,
    faithfulness_chart,
    faithfulness_table,
    matching_pairs,
)
from matchwork.files import write_json, write_text
from matchwork.matcher import Matcher
from matchwork.report.drawing import to_svg

FOLDER = "faithfulness"


def measure_faithfulness(
    matcher: str,
    dataset: Dataset,
    split: str,
    *,
    num_pairs: int,
    num_draws: int,
    seed: int,
    results: Path | None,
    json: bool,
) -> None:
    """Measure, print, and write JSON and chart into `results` where it is given."""
    with show.working(f"opening {matcher}"):
        code, opened = commit(), Matcher.load(matcher)
    pairs = matching_pairs(dataset[split], num_pairs, seed)
    with counting("texts") as advance:
        result = faithfulness(opened, pairs, num_draws=num_draws, seed=seed, progress=advance)
    with show.working("comparing"):
        record: dict[str, Any] = {
            "dataset": dataset.name,
            "split": split,
            **result.to_dict(),
            "commit": code,
            "hardware": hardware(),
            "versions": versions(),
            "date": datetime.now(UTC).date().isoformat(),
        }
        paths = [] if results is None else _write(results / FOLDER, record, result)
    if json:
        show.as_json(record)
        return
    table = faithfulness_table(result)
    title = f"{result.model} on {dataset.name}, split {split}"
    show.table(table.header, table.rows, title=title, note=table.note)
    for path in paths:
        show.line(f"written  {path}")


def _write(folder: Path, record: Mapping[str, Any], result: Faithfulness) -> list[Path]:
    stem = f"{record['dataset']}-{record['model']}".replace("/", "-")
    table, chart = folder / f"{stem}.json", folder / f"{stem}.svg"
    write_json(table, record)
    write_text(chart, to_svg(faithfulness_chart(result)))
    return [table, chart]
