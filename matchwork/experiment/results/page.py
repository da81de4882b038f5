"""The page of results: for each data set a chart, a short table and the full one."""

from collections.abc import Iterator
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING

from matchwork.experiment.results.charts import results_chart
from matchwork.experiment.results.model_charts import FOLDER, model_charts
from matchwork.experiment.results.result import SWEEPS, load_results
from matchwork.experiment.results.tables import Group, full_table, grouped, short_table
from matchwork.files import read_json, write_text

if TYPE_CHECKING:
    from matchwork.report.altair import Chart

PAGE = "README.md"
CHARTS = "charts"
_PADDING = {"left": 60, "right": 60, "top": 12, "bottom": 12}  # for browsers with wider fonts
_HEADER = """# Results

Every row is made by `matchwork train recipes/<data set>/<recipe>.toml`. The JSON file of the same
name holds the settings, seeds, commit, hardware and versions, and `<recipe>.queries.json.gz` beside
it the value of every query. Numbers are means over seeds on the test split; settings were chosen on
dev. ± is the standard deviation over seeds, brackets are 95 % bootstrap intervals over queries, and
*p* is a paired permutation test against BM25 on the same queries (Holm-corrected).

The short tables show, for each model, the recipe that is best on dev. In the charts a dot is a
mean, a bar its interval, a diamond the number of the paper, the dashed line BM25.
`matchwork results --write` generates this page and its charts.
"""


def results_page(folder: str | Path) -> str:
    """Return the page of a folder of results in Markdown."""
    folder = Path(folder)
    parts = [_HEADER]
    for dataset, groups in _datasets(folder):
        parts.append(f"## {dataset}\n")
        parts += [_section(group, name) for name, group in groups.items()]
    return "\n".join(parts) + _sweeps(folder)


def write_results_page(folder: str | Path) -> Path:
    """Write the page and its charts into the folder of results, and return the page's path."""
    from matchwork.report.drawing import to_svg

    folder = Path(folder)
    charts: list[tuple[str, Chart]] = [
        (name, results_chart(group, group.main_measures[0]))
        for _, groups in _datasets(folder)
        for name, group in groups.items()
    ]
    own = model_charts(grouped(load_results(folder)))
    charts += [(f"{FOLDER}/{name}", chart) for name, chart in own]
    for name, chart in charts:
        drawn = chart.properties(background="white", padding=_PADDING)
        write_text(folder / CHARTS / f"{name}.svg", to_svg(drawn))
    write_text(folder / PAGE, results_page(folder))
    return folder / PAGE


def _datasets(folder: Path) -> Iterator[tuple[str, dict[str, Group]]]:
    """Yield every data set with its groups by the names of their charts, the largest first."""
    for dataset, members in groupby(grouped(load_results(folder)), key=lambda one: one.dataset):
        groups = sorted(members, key=lambda group: -len(group.results))
        yield (
            dataset,
            {dataset + (f"-{i}" if i > 1 else ""): group for i, group in enumerate(groups, 1)},
        )


def _section(group: Group, name: str) -> str:
    return f"""### {group.description.removesuffix(".")}

![{group.main_measures[0]} of every recipe]({CHARTS}/{name}.svg)

{short_table(group)}

<details><summary>All systems</summary>

{full_table(group)}

</details>
"""


def _sweeps(folder: Path) -> str:
    """Return a list of the sweeps beside the results."""
    lines = []
    for path in sorted((folder / SWEEPS).glob("*.json")):
        titles = "; ".join(chart["title"] for chart in read_json(path)["charts"] if chart["title"])
        name = f"{SWEEPS}/{path.stem}"
        lines.append(f"- [{path.stem}]({name}.svg) ([data]({name}.json)): {titles}\n")
    return "".join(["\n## Sweeps\n\n", *lines]) if lines else ""
