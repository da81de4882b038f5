"""Charts of one model family on one data set, for the pages of models."""

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from matchwork.experiment.results.charts import results_chart
from matchwork.experiment.results.tables import Group
from matchwork.models import MODELS

if TYPE_CHECKING:
    from matchwork.report.altair import Chart

FOLDER = "models"
"""The folder of these charts inside that of all charts."""


def model_charts(groups: Iterable[Group]) -> Iterator[tuple[str, "Chart"]]:
    """Draw the results of every model family on every data set.

    Args:
        groups: All groups of results; those of a data set follow each other.

    Yields:
        `<page of the model>-<data set>`, such as "iam-wikiqa", and a chart for each way in which
        the family was measured there, one below the other.
    """
    import altair as alt

    from matchwork.report.drawing import stack

    charts: dict[str, list[Chart]] = {}
    for group in groups:
        for page in sorted({_page(result["model"]) for result in group.results}):
            own = [result for result in group.results if _page(result["model"]) == page]
            family = Group(group.dataset, group.condition, group.description, own)
            description = group.description.replace("`", "").removesuffix(".")
            heading = alt.TitleParams(f"{group.dataset}: {description}", fontSize=11)
            chart = results_chart(family, group.main_measures[0]).properties(title=heading)
            charts.setdefault(f"{page}-{group.dataset}", []).append(chart)
    for name, each in charts.items():
        yield name, stack(each)


def _page(model: str) -> str:
    """Return the name of a model's page: that of the module which defines it."""
    return MODELS[model].model.__module__.split(".")[2] if model in MODELS else model
