"""Optimizers and learning-rate schedules by name."""

from collections.abc import Callable
from typing import Any

import torch
from torch.optim import Optimizer

from matchwork.registry import Registry

OPTIMIZERS: Registry[Callable[..., Optimizer]] = Registry("optimizer")
"""Each is called with parameters or groups, `lr`, `weight_decay` and, if it takes it, `fused`."""

OPTIMIZERS.add("adam", torch.optim.Adam)
OPTIMIZERS.add("adamw", torch.optim.AdamW)
OPTIMIZERS.add("sgd", torch.optim.SGD)


@OPTIMIZERS.register("adagrad")
def adagrad(parameters: Any, *, lr: float, weight_decay: float) -> Optimizer:
    """Return Adagrad without a fused kernel, which PyTorch has on CPUs only."""
    return torch.optim.Adagrad(parameters, lr=lr, weight_decay=weight_decay)


SCHEDULES: Registry[Callable[..., float]] = Registry("schedule")
"""Each returns the factor on the learning rate of a step.

Keyword-only parameters are filled by name: `step` and `epoch` (from 0), `num_steps` (of the whole
run; a run with more epochs is then another run) and fields of `TrainConfig`.
"""


@SCHEDULES.register("constant")
def constant() -> float:
    """Keep the learning rate."""
    return 1.0


@SCHEDULES.register("linear")
def linear(*, step: int, num_steps: int, warmup: float) -> float:
    """Rise to 1 over the share `warmup` of all steps, then fall to 0."""
    num_warmup = round(warmup * num_steps)
    if step < num_warmup:
        return (step + 1) / (num_warmup + 1)
    return (num_steps - step) / (num_steps - num_warmup)


@SCHEDULES.register("steps")
def steps(*, epoch: int, halve_every: int) -> float:
    """Halve after every `halve_every` epochs."""
    return float(0.5 ** (epoch // halve_every))
