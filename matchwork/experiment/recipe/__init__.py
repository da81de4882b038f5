"""Recipes: TOML files with every setting of an experiment, read and checked before any work."""

from matchwork.experiment.recipe.recipe import SECTIONS, Recipe, load_recipe, make_recipe

__all__ = ["SECTIONS", "Recipe", "load_recipe", "make_recipe"]
