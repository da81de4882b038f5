"""The charts on the pages of models show the results in the repository."""

import re
from pathlib import Path

import pytest

from matchwork.experiment.results.model_charts import model_charts
from matchwork.experiment.results.result import load_results
from matchwork.experiment.results.tables import grouped

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "results/charts/models"
CHARTS = dict(model_charts(grouped(load_results(ROOT / "results"))))
# Vega writes the values of every mark into its label.
INTERVAL = re.compile(r'aria-label="low: ([\d.]+); name: (\S+); high: ([\d.]+); kind')
PUBLISHED = re.compile(r'aria-label="paper: ([\d.]+); name: (\S+); kind')


def expected(name):
    """Return the intervals and the published values that a chart should show."""
    spec = CHARTS[name].to_dict(validate=False)
    rows = [
        row
        for panel in spec["vconcat"]
        for row in spec["datasets"][panel["layer"][1]["data"]["name"]]
    ]
    intervals = [(f"{row['low']:.9f}", row["name"], f"{row['high']:.9f}") for row in rows]
    published = [(f"{row['paper']:.9f}", row["name"]) for row in rows if row["paper"] is not None]
    return sorted(intervals), sorted(published)


def test_every_chart_is_there_and_no_other():
    assert {path.stem for path in FOLDER.glob("*.svg")} == set(CHARTS)


@pytest.mark.parametrize("name", CHARTS)
def test_a_chart_is_fresh(name):
    svg = (FOLDER / f"{name}.svg").read_text(encoding="utf-8")
    intervals = sorted(
        (f"{float(low):.9f}", recipe, f"{float(high):.9f}")
        for low, recipe, high in INTERVAL.findall(svg)
    )
    published = sorted((f"{float(value):.9f}", recipe) for value, recipe in PUBLISHED.findall(svg))
    assert (intervals, published) == expected(name), "run matchwork results --write"
