"""Parts of a model that are trained before the whole: what such a stage learns, and from what."""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol, TypeAlias, runtime_checkable

import torch
from torch import Tensor, nn

from matchwork.errors import ConfigError
from matchwork.text import TokenTable

Side: TypeAlias = Literal["query", "document"]


@dataclass(frozen=True, kw_only=True)
class StageConfig:
    """Base of the settings of a stage, `[stage.NAME]` of a recipe; a stage may add its own.

    `patience`: epochs without a lower loss on dev before the stage ends. `halve_every`: epochs
    after which the learning rate is halved, again and again.
    """

    optimizer: str = "adam"
    learning_rate: float = 1e-3
    weight_decay: float = 0.0
    clip_norm: float | None = None
    batch_size: int = 32
    max_epochs: int = 10
    patience: int | None = None
    halve_every: int | None = None

    def __post_init__(self) -> None:
        for name in ("batch_size", "max_epochs", "patience", "halve_every"):
            value = getattr(self, name)
            if value is not None and value < 1:
                raise ConfigError(f"{name} must be at least 1, got {value}")
        if self.learning_rate <= 0:
            raise ConfigError(f"learning_rate must be positive, got {self.learning_rate}")
        if self.weight_decay < 0:
            raise ConfigError(f"weight_decay must not be negative, got {self.weight_decay}")
        if self.clip_norm is not None and self.clip_norm <= 0:
            raise ConfigError(f"clip_norm must be positive, got {self.clip_norm}")


class Texts(Protocol):
    """The tokenised texts of a split; what `matchwork.train.TrainingSet` shows to a stage."""

    @property
    def queries(self) -> TokenTable:
        """Every query once."""
        ...

    @property
    def documents(self) -> TokenTable:
        """Every document once."""
        ...


class StageBatch(Protocol):
    """Anything that knows its way to another device: `Sequences`, a tensor."""

    def to(self, device: torch.device) -> "StageBatch":
        """The same batch there."""
        ...


class Stage(ABC):
    """A part of a model that is trained before the whole: its data, its loss, its measure.

    `module` holds the parameters that the stage trains, all of them and nothing else; they may
    be used frozen by the stages after it, and are trained again with the whole model if they
    require gradients there. The order of random numbers is the trainer's care: it seeds torch
    before `prepare`, every step, `measure` and `finish`. Modules and batches are on the device
    of training by then; `prepare`, `measure` and `finish` move what they read of `texts`.
    """

    name: str
    module: nn.Module
    config: StageConfig
    sides: tuple[Side, ...] = ("query", "document")
    """Whose texts it reads."""
    after: tuple[str, ...] | None = None
    """The stages whose outcome it uses, by name; None: all that come before it."""

    @property
    def reads(self) -> Mapping[str, Any]:
        """Plain values beside `config` and the printed form of `module` that decide what is learnt.

        A finished stage is used again only by one that reads the same.
        """
        return {}

    def prepare(self, texts: Texts, seed: int) -> None:  # noqa: B027
        """Once before the first step, also of a resumed run; must end alike both times."""

    @abstractmethod
    def batches(self, texts: Texts, epoch: int, seed: int) -> Iterable[StageBatch]:
        """One epoch (from 0); the same batches for equal (epoch, seed), similar lengths together.

        A sequence, or anything with a `__length_hint__`, tells the progress bar its end.
        """

    @abstractmethod
    def loss(self, batch: Any) -> Tensor:
        """What training makes small; its gradient counts, so it may stand in for another value."""

    def after_step(self) -> None:  # noqa: B027
        """After every step: put parameters back to where they are allowed to be."""

    @abstractmethod
    def measure(self, texts: Texts) -> dict[str, float]:
        """On dev, without gradients: "loss" (lower is better) chooses the epoch and ends the stage.

        The rest is only logged.
        """

    def finish(self, texts: Texts) -> None:  # noqa: B027
        """Once, with the best weights: fill buffers of `module`, which are kept with them."""


@runtime_checkable
class Staged(Protocol):
    """A model of which some parts are trained before the whole."""

    def stages(self) -> Sequence[Stage]:
        """The stages in the order of training, as in `StagedConfig.stage_configs`."""
        ...

    def after_stages(self) -> None:
        """Prepare the training of the whole model; called once all stages are trained."""
        ...


@runtime_checkable
class StagedConfig(Protocol):
    """The settings of a `Staged` model."""

    @property
    def stage_configs(self) -> Mapping[str, type[StageConfig]]:
        """Settings class of each stage by its name, in the order of training."""
        ...
