"""Sweeps: a recipe trained with every combination of some settings."""

from matchwork.experiment.sweep.sweep import Combination, Sweep, load_sweep

__all__ = ["Combination", "Sweep", "load_sweep"]
