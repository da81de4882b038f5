"""The charts of a sweep, drawn from its result alone."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from matchwork.experiment.sweep.result import missing_lines, read_sweep_result, sweep_table
from matchwork.experiment.sweep.sweep import as_word, matches, short
from matchwork.files import write_text
from matchwork.report.drawing import to_svg
from matchwork.report.line_charts import LinePoint, Titles, curves_with_bands, lines_with_intervals
from matchwork.report.page import Figure, Heading, Paragraph, Section, write_report

if TYPE_CHECKING:
    from matchwork.report.altair import Chart

_CAPTIONS = {
    "test": "Mean over seeds on test; the bars are 95 % bootstrap intervals over queries.",
    "dev": "Mean over seeds on dev, of the epoch that was best there; the bars are the standard "
    "deviation over seeds.",
    "curve": "Mean over seeds, as far as all of them were trained; the band is the standard "
    "deviation over seeds.",
}
_Y_TITLES = {"dev_loss": "loss on dev"}
_WIDE = 20  # times the smallest value: then an axis shows values in their order


def draw_sweep(path: str | Path) -> list[Path]:
    """Draw the result of a sweep as an SVG and as a page beside it."""
    path = Path(path)
    result = read_sweep_result(path)
    charts = sweep_charts(result)
    page = path.with_suffix(".html")
    write_report(page, f"Sweep {result['sweep']}", _sections(result, charts))
    if not charts:
        return [page]
    import altair as alt

    picture = path.with_suffix(".svg")
    drawings = [chart for chart, _ in charts]
    together = alt.hconcat(*drawings, spacing=40).resolve_scale(color="independent")
    # On white: a picture in someone's page cannot know whether that is light or dark.
    write_text(picture, to_svg(together.properties(background="white")))
    return [picture, page]


def sweep_charts(result: Mapping[str, Any]) -> list[tuple["Chart", str]]:
    """Each chart for which there is anything to draw, and what it shows."""
    found: list[tuple[Chart, str]] = []
    for chart in result["charts"]:
        rows = [row for row in result["combinations"] if matches(row["values"], chart["where"])]
        free = [key for key in result["keys"] if key not in chart["where"]]
        if rows:
            draw = _chart_of_measure if chart["measure"] else _chart_of_curve
            found += draw(chart, rows, free)
    return found


def _chart_of_measure(
    chart: Mapping[str, Any], rows: Sequence[Mapping[str, Any]], free: Sequence[str]
) -> Iterator[tuple["Chart", str]]:
    """A measure over the first key, a line for each value of the second."""
    x, *lines = free
    split = chart.get("split", "test")  # which older results do not name
    points = list(_measured(rows, chart["measure"], x, lines, split))
    measure = chart["measure"] + (" on dev" if split == "dev" else "")
    titles = Titles(_words(x), measure, _legend(lines), chart["title"])
    ordered = all(_is_number(row["values"][x]) for row in rows)  # as words are not
    yield lines_with_intervals(points, titles, joined=ordered), _CAPTIONS[split]


def _chart_of_curve(
    chart: Mapping[str, Any], rows: Sequence[Mapping[str, Any]], free: Sequence[str]
) -> Iterator[tuple["Chart", str]]:
    """Return the values logged during training, if there are any."""
    points = [point for row in rows for point in _curve(row, chart["curve"], free)]
    titles = Titles("batches", _Y_TITLES[chart["curve"]], _legend(free), chart["title"])
    if points:
        yield curves_with_bands(points, titles), _CAPTIONS["curve"]


def _measured(
    rows: Sequence[Mapping[str, Any]], measure: str, x: str, lines: Sequence[str], split: str
) -> Iterator[LinePoint]:
    places = [row["values"][x] for row in rows]
    in_order = not all(map(_is_number, places)) or _wide(places)
    for row, place in zip(rows, places, strict=True):
        mean, low, high = _on_dev(row) if split == "dev" else _on_test(row, measure)
        yield LinePoint(_line(row, lines), as_word(place) if in_order else place, mean, low, high)


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _wide(places: Sequence[float]) -> bool:
    """Whether numbers span so many powers of ten that most would fall on one spot of an axis."""
    sizes = [abs(place) for place in places if place]
    return bool(sizes) and max(sizes) >= _WIDE * min(sizes)


def _on_test(row: Mapping[str, Any], measure: str) -> tuple[float, float, float]:
    value = row["measures"][measure]
    low, high = value["ci"]
    return value["mean"], low, high


def _on_dev(row: Mapping[str, Any]) -> tuple[float, float, float]:
    values = [seed["dev"] for seed in row["per_seed"]]
    mean, spread = float(np.mean(values)), float(np.std(values))
    return mean, mean - spread, mean + spread


def _curve(row: Mapping[str, Any], name: str, lines: Sequence[str]) -> Iterator[LinePoint]:
    """The mean over seeds where all of them have a value."""
    seeds = [dict(map(tuple, seed.get(name) or ())) for seed in row["per_seed"]]
    for batches in sorted(set.intersection(*map(set, seeds))):
        values = [seed[batches] for seed in seeds]
        mean, spread = float(np.mean(values)), float(np.std(values))
        yield LinePoint(_line(row, lines), batches, mean, mean - spread, mean + spread)


def _line(row: Mapping[str, Any], keys: Sequence[str]) -> str:
    return ", ".join(as_word(row["values"][key]) for key in keys)


def _legend(keys: Sequence[str]) -> str:
    return ", ".join(map(_words, keys))


def _words(key: str) -> str:
    """Return the label of a key on an axis: "num layers"; `name` gets the label of its section."""
    section, _, name = key.rpartition(".")
    return section if name == "name" else short(key).replace("_", " ")


def _sections(
    result: Mapping[str, Any], charts: Sequence[tuple["Chart", str]]
) -> Iterator[Section]:
    varied = "; ".join(
        f"{key}: {', '.join(map(as_word, values))}" for key, values in result["keys"].items()
    )
    yield Paragraph(f"{result['base']} with every combination of {varied}.")
    if result["set"]:
        fixed = ", ".join(f"{key} = {as_word(value)}" for key, value in result["set"].items())
        yield Paragraph(f"In all of them: {fixed}.")
    for chart, caption in charts:
        yield Figure(chart, caption)
    yield Heading("Every combination")
    yield sweep_table(result)
    for line in missing_lines(result):
        yield Paragraph(f"Missing: {line}")
