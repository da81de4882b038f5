"""Running experiments: a queue of seeds, and schedulers that train them."""

from matchwork.experiment.runner.run import run_recipe, run_recipes, run_sweep
from matchwork.experiment.runner.seed import Finished, Job, Scheduler

__all__ = ["Finished", "Job", "Scheduler", "run_recipe", "run_recipes", "run_sweep"]
