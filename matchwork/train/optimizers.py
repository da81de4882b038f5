"""Optimizers and learning-rate schedules by name.

Another package adds one with `OPTIMIZERS.register` or `register_schedule`.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

import torch
from torch.optim import Optimizer

from matchwork.registry import Registry

OPTIMIZERS: Registry[Callable[..., Optimizer]] = Registry("optimizer")
"""Each is called with parameters or groups, `lr`, `weight_decay` and, if it takes it, `fused`."""
F = TypeVar("F", bound=Callable[..., float])

OPTIMIZERS.add("adam", torch.optim.Adam)
OPTIMIZERS.add("adamw", torch.optim.AdamW)
OPTIMIZERS.add("sgd", torch.optim.SGD)


@OPTIMIZERS.register("adagrad")
def adagrad(parameters: Any, *, lr: float, weight_decay: float) -> Optimizer:
    """Return Adagrad without a fused kernel, which PyTorch has on CPUs only."""
    return torch.optim.Adagrad(parameters, lr=lr, weight_decay=weight_decay)


@dataclass(frozen=True)
class Schedule:
    """A registered learning-rate schedule.

    Attributes:
        share: Called with step (from 0), epoch (from 0) and the number of steps of the whole run;
            returns the factor on the learning rate. Its keyword-only parameters are fields of
            `TrainConfig`.
        needs_num_steps: Whether the factor depends on the number of steps, so that a run with
            more epochs is another run.
    """

    share: Callable[..., float]
    needs_num_steps: bool = False


SCHEDULES: Registry[Schedule] = Registry("schedule")


def register_schedule(name: str, *, needs_num_steps: bool = False) -> Callable[[F], F]:
    """Return a decorator that registers a schedule; see `Schedule` for the arguments."""

    def register(share: F) -> F:
        SCHEDULES.add(name, Schedule(share, needs_num_steps))
        return share

    return register


@register_schedule("constant")
def constant(step: int, epoch: int, num_steps: int) -> float:
    """Keep the learning rate."""
    return 1.0


@register_schedule("linear", needs_num_steps=True)
def linear(step: int, epoch: int, num_steps: int, *, warmup: float) -> float:
    """Rise to 1 over the share `warmup` of all steps, then fall to 0."""
    num_warmup = round(warmup * num_steps)
    if step < num_warmup:
        return (step + 1) / (num_warmup + 1)
    return (num_steps - step) / (num_steps - num_warmup)


@register_schedule("steps")
def steps(step: int, epoch: int, num_steps: int, *, halve_every: int) -> float:
    """Halve after every `halve_every` epochs."""
    return float(0.5 ** (epoch // halve_every))
