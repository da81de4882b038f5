"""Recipes in, results out: everything an experiment needs beside the library itself."""

from matchwork.experiment.recipe import Recipe, load_recipe
from matchwork.experiment.results import load_results, results_table, write_results_page
from matchwork.experiment.run import Observer, run_recipe

__all__ = [
    "Observer",
    "Recipe",
    "load_recipe",
    "load_results",
    "results_table",
    "run_recipe",
    "write_results_page",
]
