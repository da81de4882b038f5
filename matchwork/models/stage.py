"""Stages: parts of a model that are trained before the whole model."""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

import torch
from torch import Tensor, nn

from matchwork.inputs import require_at_least, require_positive
from matchwork.text import TokenTable
from matchwork.types import Side


@dataclass(frozen=True, kw_only=True)
class StageConfig:
    """Base of a stage's settings, `[stage.NAME]` of a recipe; a stage may add its own."""

    optimizer: str = "adam"  # name of the optimizer
    learning_rate: float = 1e-3  # initial learning rate
    weight_decay: float = 0.0  # weight decay of the optimizer
    clip_norm: float | None = None  # largest norm of a gradient; None: no clipping
    batch_size: int = 32  # size of a batch; the stage says what it counts
    max_epochs: int = 10  # number of epochs after which the stage ends
    patience: int | None = None  # epochs without a lower dev loss; None: never ends early
    halve_every: int | None = None  # halve the learning rate after every so many epochs

    def __post_init__(self) -> None:
        require_at_least(self, 1, "batch_size", "max_epochs", "patience", "halve_every")
        require_positive(self, "learning_rate", "clip_norm")
        require_at_least(self, 0, "weight_decay")


class Texts(Protocol):
    """The tokenised texts of a split, as a stage sees a `matchwork.train.TrainingSet`."""

    @property
    def queries(self) -> TokenTable:
        """Distinct queries."""

    @property
    def documents(self) -> TokenTable:
        """Distinct documents."""


class StageBatch(Protocol):
    """Anything that can be moved to a device, such as `Sequences` or a tensor."""

    def to(self, device: torch.device) -> "StageBatch":
        """Return the batch on `device`."""


class Stage(ABC):
    """A part of a model that is trained before the whole: its batches, loss and dev measure.

    The trainer seeds torch before every method with an effect, and moves modules and batches to
    the device of training; `prepare`, `measure` and `finish` move what they read of `texts`.

    Attributes:
        name: Name in recipes and logs.
        module: Holds exactly the parameters that the stage trains; the whole model trains them
            again if they require gradients there.
        config: Settings of the stage.
        sides: The texts that it reads.
        after: Names of earlier stages whose result it uses; None: all of them.
    """

    name: str
    module: nn.Module
    config: StageConfig
    sides: tuple[Side, ...] = ("query", "document")
    after: tuple[str, ...] | None = None

    @property
    def reads(self) -> Mapping[str, Any]:
        """Further JSON values that must be equal for a finished stage to be reused.

        `config` and the printed `module` must be equal, too.
        """
        return {}

    def prepare(self, texts: Texts, seed: int) -> None:  # noqa: B027
        """Prepare before the first step; must have the same effect when a run is resumed."""

    @abstractmethod
    def batches(self, texts: Texts, epoch: int, seed: int) -> Iterable[StageBatch]:
        """Return the batches of an epoch (from 0), equal for equal `epoch` and `seed`.

        A length, or a `__length_hint__`, lets the progress bar show its end.
        """

    @abstractmethod
    def loss(self, batch: Any) -> Tensor:
        """Return the loss of a batch; only its gradient matters."""

    def after_step(self) -> None:  # noqa: B027
        """Project parameters back into their domain; called after every step."""

    @abstractmethod
    def measure(self, texts: Texts) -> dict[str, float]:
        """Return measures on dev, without gradients; the lowest "loss" selects the epoch."""

    def finish(self, texts: Texts) -> None:  # noqa: B027
        """Fill buffers of `module`; called once, with the weights of the best epoch."""
