"""The work of `matchwork explain --faithfulness`; imported only by it."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np

from matchwork.cli import show
from matchwork.cli.progress import counting
from matchwork.cli.scorers import open_matcher
from matchwork.data import Columns, Dataset, load
from matchwork.errors import DataError
from matchwork.experiment.environment import commit, hardware, versions
from matchwork.explain import Faithfulness, faithfulness, faithfulness_chart
from matchwork.files import write_json, write_text
from matchwork.report.drawing import to_svg
from matchwork.types import TextPair

FOLDER = "faithfulness"


@dataclass(frozen=True)
class Trial:
    """Which pairs are explained, and against how many random orders."""

    dataset: str
    split: str
    num_pairs: int
    num_draws: int
    seed: int
    data_root: Path | None
    columns: Columns | None
    options: Mapping[str, str | bool]

    def read(self) -> tuple[Dataset, list[TextPair]]:
        """The data set, and matching pairs of the split in random order."""
        with show.working(f"reading {self.dataset}"):
            dataset = load(
                self.dataset, self.data_root, [self.split], columns=self.columns, **self.options
            )
        found = [
            (each.query, each.document) for each in dataset[self.split].pairs() if each.label > 0
        ]
        if not found:
            raise DataError(
                f"split {self.split!r} of {self.dataset} has no pair labelled as a match to explain"
            )
        chosen = np.random.default_rng(self.seed).permutation(len(found))[: self.num_pairs]
        return dataset, [found[place] for place in chosen.tolist()]


def run_trial(matcher: str, trial: Trial, results: Path | None, json: bool) -> None:
    """Measure, print, and write JSON and chart into `results` where it is given."""
    code, opened = commit(), open_matcher(matcher)
    dataset, pairs = trial.read()
    with counting("texts") as advance:
        found = faithfulness(
            opened, pairs, num_draws=trial.num_draws, seed=trial.seed, progress=advance
        )
    with show.working("comparing"):
        record: dict[str, Any] = {
            "dataset": dataset.name,
            "split": trial.split,
            **found.to_dict(),
            "commit": code,
            "hardware": hardware(),
            "versions": versions(),
            "date": datetime.now(UTC).date().isoformat(),
        }
        paths = [] if results is None else _write(results / FOLDER, record, found)
    if json:
        show.as_json(record)
        return
    _print(found, f"{found.model} on {dataset.name}, split {trial.split}")
    for path in paths:
        show.line(f"written  {path}")


def _write(folder: Path, record: Mapping[str, Any], found: Faithfulness) -> list[Path]:
    stem = f"{record['dataset']}-{record['model']}".replace("/", "-")
    table, chart = folder / f"{stem}.json", folder / f"{stem}.svg"
    write_json(table, record)
    write_text(chart, to_svg(faithfulness_chart(found)))
    return [table, chart]


def _print(found: Faithfulness, title: str) -> None:
    rows: list[list[show.Cell]] = [
        [
            kind,
            outcome["area"],
            outcome["random_area"],
            show.signed(outcome["gain"]),
            show.interval(*outcome["ci"]),
            show.p_value(outcome["p"]),
        ]
        for kind, outcome in found.outcomes.items()
    ]
    header = ["curve", "area", "random", "gain", "95 % interval", "p"]
    note = (
        f"{found.num_pairs:,} matching pairs, {found.num_draws} random orders each; areas in "
        "standard deviations of the score; a gain above 0 means that the words named matter more "
        f"than others. Words by: {found.evidence.lower()}"
    )
    show.table(header, rows, title=title, note=note)
