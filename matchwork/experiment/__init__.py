"""Recipes in, results out: everything an experiment needs beside the library itself."""

from typing import TYPE_CHECKING

from matchwork.packages import lazy_names

if TYPE_CHECKING:
    from matchwork.experiment.outcome import Observer as Observer
    from matchwork.experiment.recipe import Recipe as Recipe
    from matchwork.experiment.recipe import load_recipe as load_recipe
    from matchwork.experiment.results import load_results as load_results
    from matchwork.experiment.results import results_table as results_table
    from matchwork.experiment.results import write_results_page as write_results_page
    from matchwork.experiment.runner import run_recipe as run_recipe
    from matchwork.experiment.runner import run_recipes as run_recipes
    from matchwork.experiment.runner import run_sweep as run_sweep
    from matchwork.experiment.sweep import Sweep as Sweep
    from matchwork.experiment.sweep import load_sweep as load_sweep
    from matchwork.experiment.sweep.charts import draw_sweep as draw_sweep

_HOMES = {
    "Observer": "matchwork.experiment.outcome",
    "Recipe": "matchwork.experiment.recipe",
    "Sweep": "matchwork.experiment.sweep",
    "draw_sweep": "matchwork.experiment.sweep.charts",
    "load_recipe": "matchwork.experiment.recipe",
    "load_results": "matchwork.experiment.results",
    "load_sweep": "matchwork.experiment.sweep",
    "results_table": "matchwork.experiment.results",
    "run_recipe": "matchwork.experiment.runner",
    "run_recipes": "matchwork.experiment.runner",
    "run_sweep": "matchwork.experiment.runner",
    "write_results_page": "matchwork.experiment.results",
}
__all__ = list(_HOMES)
__getattr__ = lazy_names(__name__, _HOMES)
