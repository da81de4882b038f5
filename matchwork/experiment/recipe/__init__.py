"""Recipes: TOML files with every setting of an experiment, read and checked before any work."""

from matchwork.experiment.recipe.data import MAIN, ConditionSection, DataSection
from matchwork.experiment.recipe.links import LinksSection
from matchwork.experiment.recipe.recipe import (
    SECTIONS,
    Recipe,
    RunSection,
    load_recipe,
    make_recipe,
)
from matchwork.experiment.recipe.text import TextSection, VectorsSection

__all__ = [
    "MAIN",
    "SECTIONS",
    "ConditionSection",
    "DataSection",
    "LinksSection",
    "Recipe",
    "RunSection",
    "TextSection",
    "VectorsSection",
    "load_recipe",
    "make_recipe",
]
