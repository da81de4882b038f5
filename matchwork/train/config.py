"""Everything that decides how a model is trained."""

from dataclasses import dataclass
from typing import Literal, TypeAlias

from matchwork.config import later
from matchwork.errors import ConfigError
from matchwork.evaluate import canonical

LossName: TypeAlias = Literal["cross-entropy", "squared", "hinge", "softmax"]
NegativesName: TypeAlias = Literal["labelled", "own", "random", "hard", "replace", "in-batch"]
GROUP_LOSSES = ("hinge", "softmax")
_ONLY_WITH = {
    "temperature": ("loss", "softmax"),
    "warmup": ("schedule", "linear"),
    "halve_every": ("schedule", "steps"),
}
"""Keys that have an effect only where another has a certain value."""


@dataclass(frozen=True, kw_only=True)
class TrainConfig:
    """Settings of one training run.

    `negatives` says what a positive pair is trained against: "labelled" (every labelled pair
    as it is), or `num_negatives` drawn anew each epoch from the query's "own" candidates, at
    "random" from all documents, from BM25's best wrong answers ("hard"), by putting a random
    text on either side ("replace", as IASM does), or all other documents of the batch
    ("in-batch"). `batch_size` counts positives (pairs, for "labelled").

    `schedule` moves the learning rate: "linear" up over the share `warmup` of all steps, then
    down to 0; "steps" by half after every `halve_every` epochs. A trained encoder may have a rate
    of its own. Every `dev_loss_every` batches (0: never) the loss is computed on a sample
    of dev.
    """

    loss: LossName = "cross-entropy"
    margin: float = 1.0
    temperature: float = later(1.0)
    negatives: NegativesName = "labelled"
    num_negatives: int = 4
    hard_depth: int = 50
    optimizer: Literal["adam", "adamw", "adagrad", "sgd"] = "adam"
    learning_rate: float = 1e-3
    encoder_learning_rate: float | None = later(None)
    schedule: Literal["constant", "linear", "steps"] = later("constant")
    warmup: float = later(0.0)
    halve_every: int = later(10)
    weight_decay: float = 0.0
    clip_norm: float | None = None
    batch_size: int = 32
    max_epochs: int = 10
    patience: int | None = None
    dev_measure: str = "RR"
    dev_loss_every: int = later(0)
    precision: Literal["32", "64", "16-mixed", "bf16-mixed"] = "32"
    accelerator: Literal["auto", "cpu", "gpu"] = "auto"
    devices: int = 1
    checkpoint_seconds: float = 60.0

    def __post_init__(self) -> None:
        # One spelling, since the measures of an epoch are looked up by name: MRR is RR.
        object.__setattr__(self, "dev_measure", canonical(self.dev_measure))
        at_least_1 = ("num_negatives", "batch_size", "max_epochs", "devices", "hard_depth")
        for name in (*at_least_1, "halve_every"):
            if getattr(self, name) < 1:
                raise ConfigError(f"{name} must be at least 1, got {getattr(self, name)}")
        self._check_rates()
        if self.patience is not None and self.patience < 1:
            raise ConfigError(f"patience must be at least 1 epoch, got {self.patience}")
        for name in ("margin", "weight_decay", "dev_loss_every", "checkpoint_seconds"):
            if getattr(self, name) < 0:
                raise ConfigError(f"{name} must not be negative, got {getattr(self, name)}")
        for name in ("clip_norm", "temperature"):
            value = getattr(self, name)
            if value is not None and value <= 0:
                raise ConfigError(f"{name} must be positive, got {value}")
        if self.loss in GROUP_LOSSES and self.negatives == "labelled":
            raise ConfigError(
                f"loss {self.loss!r} compares a positive with negatives, which "
                'negatives = "labelled" does not give; use "own", "random", "hard", '
                '"replace" or "in-batch"'
            )
        if self.negatives == "in-batch" and self.batch_size < 2:
            raise ConfigError("in-batch negatives need a batch_size of at least 2, got 1")

    def _check_rates(self) -> None:
        for name in ("learning_rate", "encoder_learning_rate"):
            rate = getattr(self, name)
            if rate is not None and rate <= 0:
                raise ConfigError(f"{name} must be positive, got {rate}")
        if not 0 <= self.warmup < 1:
            raise ConfigError(f"warmup must be at least 0 and below 1, got {self.warmup}")
        for name, (key, value) in _ONLY_WITH.items():
            given = getattr(self, name)
            if given != getattr(TrainConfig, name) and getattr(self, key) != value:
                raise ConfigError(
                    f'{name} = {given} needs {key} = "{value}"; without, leave it out'
                )
