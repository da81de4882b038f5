"""Recipes in, results out: everything an experiment needs beside the library itself."""

from typing import TYPE_CHECKING

from matchwork.packages import lazy_names

if TYPE_CHECKING:
    from matchwork.experiment.observer import Observer as Observer
    from matchwork.experiment.recipe import Recipe as Recipe
    from matchwork.experiment.recipe import load_recipe as load_recipe
    from matchwork.experiment.results import load_results as load_results
    from matchwork.experiment.results import results_table as results_table
    from matchwork.experiment.results import write_results_page as write_results_page
    from matchwork.experiment.run import run_recipe as run_recipe

_HOMES = {
    "Observer": "matchwork.experiment.observer",
    "Recipe": "matchwork.experiment.recipe",
    "load_recipe": "matchwork.experiment.recipe",
    "load_results": "matchwork.experiment.results",
    "results_table": "matchwork.experiment.results",
    "run_recipe": "matchwork.experiment.run",
    "write_results_page": "matchwork.experiment.results",
}
__all__ = [
    "Observer",
    "Recipe",
    "load_recipe",
    "load_results",
    "results_table",
    "run_recipe",
    "write_results_page",
]
__getattr__ = lazy_names(__name__, _HOMES)
