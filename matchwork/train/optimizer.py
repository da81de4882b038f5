"""The optimiser, the learning rate of every parameter, and how rates move."""

from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
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
    if config.optimizer == "sgd":
        options = {"momentum": config.momentum, "nesterov": config.nesterov}
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
    """What stands outside an encoder's layers (the input vectors) counts as below them all.

    Only a norm of the last layer's vectors counts as part of that layer.
    """
    layers, decay = encoder.layers(), config.layer_decay
    trained = any(parameter.requires_grad for parameter in encoder.parameters())
    if config.encoder_learning_rate is not None and not trained:
        raise ConfigError(
            f"encoder_learning_rate = {config.encoder_learning_rate} has no effect: the encoder "
            "is frozen; make it trainable or leave the rate out"
        )
    if decay != 1 and not (trained and layers):
        raise ConfigError(
            f"layer_decay = {decay} has no effect: the encoder has no layers that are trained; "
            "use a trainable transformer or leave it out"
        )
    top = config.encoder_learning_rate or config.learning_rate
    rates = {parameter: top * decay ** len(layers) for parameter in encoder.parameters()}
    for below, layer in enumerate(reversed(layers)):
        rates |= {parameter: top * decay**below for parameter in layer.parameters()}
    return rates | dict.fromkeys(_norm_behind(encoder, layers), top)


def _norm_behind(encoder: Encoder, layers: list[nn.Module]) -> Iterator[nn.Parameter]:
    """Parameters of a norm right behind the last layer, as ModernBERT and other pre-norms have.

    What else is listed after the layers goes into all of them, as the positions of MPNet do.
    """
    for module in encoder.modules():
        for part, after in pairwise(module.children()):
            if "Norm" in type(after).__name__ and _ends_in(part, layers):
                yield from after.parameters()


def _ends_in(part: nn.Module | None, layers: list[nn.Module]) -> bool:
    """Whether these layers are the last of a part of a network."""
    while part is not None and not isinstance(part, nn.ModuleList):
        part = next(reversed(list(part.children())), None)
    return bool(layers) and part is not None and list(part) == layers


def set_rates(optimizer: Optimizer, config: TrainConfig, state: TrainState, num_steps: int) -> None:
    """Give the next of `num_steps` steps its learning rates.

    They follow from where the run stands, so a checkpoint holds nothing more for them.
    """
    if config.schedule == "constant":
        return
    if config.schedule == "linear":
        share = linear_share(state.step, num_steps, round(config.warmup * num_steps))
    elif config.schedule == "steps":
        share = stepped_share(state.epoch, config.halve_every)
    else:
        halves = num_halvings(state.history, config.halve_patience)
        share = max(0.5**halves, config.min_learning_rate / config.learning_rate)
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


def num_halvings(history: Sequence[dict[str, float]], patience: int) -> int:
    """How often `patience` epochs have passed without a better dev measure."""
    waited = halvings = 0
    for record in history:
        waited = 0 if record["best"] else waited + 1
        if waited == patience:
            waited, halvings = 0, halvings + 1
    return halvings
