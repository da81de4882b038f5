"""The optimiser, the learning rate of every parameter, and how rates move."""

from collections.abc import Callable
from typing import Any

import torch
from torch import nn
from torch.optim import Optimizer

from matchwork.encode import Encoder
from matchwork.errors import ConfigError
from matchwork.models import Model
from matchwork.train.config import TrainConfig
from matchwork.train.state import TrainState

OPTIMIZERS: dict[str, Callable[..., Optimizer]] = {
    "adam": torch.optim.Adam,
    "adamw": torch.optim.AdamW,
    "adagrad": torch.optim.Adagrad,
    "sgd": torch.optim.SGD,
}
_FIRST = "initial_lr"


def make_optimizer(model: Model, config: TrainConfig) -> Optimizer:
    """The optimiser over all that is trained; parameters of equal rate make a group."""
    own = _encoder_rates(model.encoder, config)
    groups: dict[float, list[nn.Parameter]] = {}
    for parameter in model.parameters():
        if parameter.requires_grad:
            groups.setdefault(own.get(parameter, config.learning_rate), []).append(parameter)
    options: dict[str, Any] = {}
    if config.optimizer != "adagrad":
        options["fused"] = is_fused(config, next(model.parameters()).device)
    return OPTIMIZERS[config.optimizer](
        [{"params": group, "lr": rate, _FIRST: rate} for rate, group in groups.items()],
        weight_decay=config.weight_decay,
        **options,
    )


def is_fused(config: TrainConfig, device: torch.device) -> bool:
    """Whether one kernel moves all parameters; it undoes the scale of 16 bits too late to clip."""
    clips_scaled = config.clip_norm is not None and config.precision == "16-mixed"
    return device.type in ("cpu", "cuda") and not clips_scaled


def _encoder_rates(encoder: Encoder, config: TrainConfig) -> dict[nn.Parameter, float]:
    """Learning rate of every encoder parameter, where `encoder_learning_rate` is set."""
    if config.encoder_learning_rate is None:
        return {}
    if not any(parameter.requires_grad for parameter in encoder.parameters()):
        raise ConfigError(
            f"encoder_learning_rate = {config.encoder_learning_rate} has no effect: the encoder "
            "is frozen; make it trainable or leave the rate out"
        )
    return dict.fromkeys(encoder.parameters(), config.encoder_learning_rate)


def set_rates(optimizer: Optimizer, config: TrainConfig, state: TrainState, num_steps: int) -> None:
    """Give the next of `num_steps` steps its learning rates.

    They follow from where the run stands, so a checkpoint holds nothing more for them.
    """
    if config.schedule == "constant":
        return
    if config.schedule == "linear":
        share = linear_share(state.step, num_steps, round(config.warmup * num_steps))
    else:
        share = stepped_share(state.epoch, config.halve_every)
    for group in optimizer.param_groups:
        group["lr"] = group[_FIRST] * share


def linear_share(step: int, num_steps: int, num_warmup: int) -> float:
    """The part of the learning rate at a step (from 0): up to 1, then down to 0."""
    if step < num_warmup:
        return (step + 1) / (num_warmup + 1)
    return (num_steps - step) / (num_steps - num_warmup)


def stepped_share(epoch: int, halve_every: int | None) -> float:
    """The part of the learning rate in an epoch (from 0); all of it where nothing is halved."""
    return 1.0 if halve_every is None else 0.5 ** (epoch // halve_every)
