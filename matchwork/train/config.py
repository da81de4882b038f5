"""The settings of a training run and of its stages; reading them loads no training code."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cache, partial
from inspect import Parameter, signature
from typing import Any, Literal

import torch

from matchwork.config import build
from matchwork.errors import ConfigError
from matchwork.evaluate import canonical
from matchwork.inputs import require_at_least, require_dropout, require_positive
from matchwork.models import ModelConfig, StageConfig
from matchwork.registry import did_you_mean
from matchwork.train.losses import LOSSES, Loss
from matchwork.train.optimizers import OPTIMIZERS, SCHEDULES
from matchwork.train.samplers import SAMPLERS, Sampler
from matchwork.train.samples import TrainingSet


@dataclass(frozen=True, kw_only=True)
class TrainConfig:
    """Settings of one training run; `[train]` of a recipe.

    Attributes:
        loss: Name in `LOSSES`.
        margin: Margin of the hinge loss.
        temperature: Scores are divided by it in the softmax loss.
        negatives: Name in `SAMPLERS`: what a positive pair is trained against. "labelled" uses
            labelled pairs as they are. The others draw anew each epoch: from the query's "own"
            candidates, at "random" from all documents, from BM25's best wrong answers ("hard"),
            or by putting a random text on either side ("replace", as IASM does). "in-batch" takes
            all other documents of the batch.
        num_negatives: Negatives drawn for each positive.
        hard_depth: "hard" draws from so many of BM25's best documents.
        optimizer: Name in `OPTIMIZERS`.
        learning_rate: Largest learning rate.
        encoder_learning_rate: Learning rate of a trained encoder; None: `learning_rate`.
        schedule: Name in `SCHEDULES`: "constant", "linear" up then down to 0, or halved in
            "steps".
        warmup: Share of all steps in which "linear" rises.
        halve_every: Epochs after which "steps" halves the rate.
        weight_decay: Weight decay.
        clip_norm: Largest norm of the gradient; None: not clipped.
        batch_size: Positives in a batch (pairs, for "labelled").
        max_epochs: Epochs; the one that is best on dev is kept.
        patience: Stop after so many epochs without a better dev measure; None: never.
        dev_measure: The measure on dev that decides which epoch is best.
        dev_loss_every: Batches after which the loss on a sample of dev is computed; 0: never.
        precision, accelerator, devices: As in Lightning's `Trainer`.
        checkpoint_seconds: Seconds between two checkpoints.
    """

    loss: str = "cross-entropy"
    margin: float = 1.0
    temperature: float = 1.0
    negatives: str = "labelled"
    num_negatives: int = 4
    hard_depth: int = 50
    optimizer: str = "adam"
    learning_rate: float = 1e-3
    encoder_learning_rate: float | None = None
    schedule: str = "constant"
    warmup: float = 0.0
    halve_every: int = 10
    weight_decay: float = 0.0
    clip_norm: float | None = None
    batch_size: int = 32
    max_epochs: int = 10
    patience: int | None = None
    dev_measure: str = "RR"
    dev_loss_every: int = 0
    precision: Literal["32", "64", "16-mixed", "bf16-mixed"] = "32"
    accelerator: Literal["auto", "cpu", "gpu"] = "auto"
    devices: int = 1
    checkpoint_seconds: float = 60.0

    def __post_init__(self) -> None:
        # Measures of an epoch are looked up by their canonical name: MRR is RR.
        object.__setattr__(self, "dev_measure", canonical(self.dev_measure))
        require_at_least(self, 1, "num_negatives", "batch_size", "max_epochs", "devices")
        require_at_least(self, 1, "hard_depth", "halve_every", "patience")
        require_at_least(self, 0, "margin", "weight_decay", "dev_loss_every", "checkpoint_seconds")
        require_positive(self, "clip_norm", "temperature", "learning_rate", "encoder_learning_rate")
        require_dropout(self, "warmup")
        self._check_names()
        if self.in_batch and self.batch_size < 2:
            raise ConfigError("in-batch negatives need a batch_size of at least 2, got 1")

    @property
    def uses_gpu(self) -> bool:
        """Whether training runs on a GPU."""
        return self.accelerator != "cpu" and torch.cuda.is_available()

    @property
    def in_batch(self) -> bool:
        """Whether a batch's other documents are the negatives of a pair."""
        return SAMPLERS[self.negatives].in_batch

    def make_loss(self) -> Loss:
        """Return the loss for scores, with its options filled in."""
        function = LOSSES[self.loss].function
        return partial(function, **self.options(function))

    def make_sampler(self, samples: TrainingSet) -> Sampler:
        """Return the negative sampler over these training pairs."""
        sampler = SAMPLERS[self.negatives]
        return sampler(samples, **self.options(sampler))

    def learning_rate_share(self, **position: int) -> float:
        """Return the schedule's factor on all rates, given `step`, `epoch` and `num_steps`."""
        schedule = SCHEDULES[self.schedule]
        return schedule(**self.options(schedule, **position))

    def options(self, function: Callable[..., Any], **more: Any) -> dict[str, Any]:
        """Return the keyword-only arguments of `function` that are settings, or among `more`."""
        values = {**vars(self), **more}
        return {name: values[name] for name in keyword_only(function) if name in values}

    def check_model(self, num_classes: int, bi_encoded: bool, where: str = "") -> None:
        """Raise a `ConfigError` if the settings do not fit a model; `where` prefixes messages."""
        if num_classes > 2:
            losses = [name for name in LOSSES if LOSSES[name].class_function is not None]
            samplers = [name for name in SAMPLERS if not SAMPLERS[name].draws_negatives]
            for key, fitting in (("loss", losses), ("negatives", samplers)):
                value = getattr(self, key)
                if value not in fitting:
                    raise ConfigError(
                        f'{where}{key} = "{value}" knows only relevant and not relevant; with '
                        f"num_classes = {num_classes} use {key} = {_either(fitting)}"
                    )
        if self.in_batch and not bi_encoded:
            raise ConfigError(
                f'{where}negatives = "{self.negatives}" needs texts that are encoded separately, '
                'but this model cross-encodes pairs; use "labelled" or "own", another model, or '
                "vectors.cross_encode = false"
            )

    def _check_names(self) -> None:
        """Look up every name, and refuse options that the named entries do not take.

        `margin`, `num_negatives` and `hard_depth` are not refused: models set them by default,
        whatever loss and negatives a recipe chooses.
        """
        OPTIMIZERS.check(self.optimizer)
        SCHEDULES.check(self.schedule)
        if LOSSES[self.loss].needs_negatives and not SAMPLERS[self.negatives].draws_negatives:
            others = _either(name for name in SAMPLERS if SAMPLERS[name].draws_negatives)
            raise ConfigError(
                f"loss {self.loss!r} compares a positive with negatives, which negatives = "
                f'"{self.negatives}" does not give; use {others}'
            )
        losses = {name: LOSSES[name].function for name in LOSSES}
        schedules = {name: SCHEDULES[name] for name in SCHEDULES}
        for name, key, entries in (
            ("temperature", "loss", losses),
            ("warmup", "schedule", schedules),
            ("halve_every", "schedule", schedules),
        ):
            takers = [entry for entry in entries if name in keyword_only(entries[entry])]
            value, chosen = getattr(self, name), getattr(self, key)
            if value != getattr(TrainConfig, name) and chosen not in takers:
                raise ConfigError(
                    f"{name} = {value} needs {key} = {_either(takers)}; "
                    f'with {key} = "{chosen}" leave it out'
                )


def stage_configs(
    model: ModelConfig, tables: Mapping[str, StageConfig | Mapping[str, Any]], where: str
) -> dict[str, StageConfig]:
    """Return every stage's settings, with defaults; `where` names the tables in messages."""
    known = model.stage_configs
    for name, table in tables.items():
        if not known:
            raise ConfigError(f"{where}: this model has no stages, so leave {name!r} out")
        if name not in known:
            raise ConfigError(f"{where}: no stage named {name!r}; {did_you_mean(name, known)}")
        if not isinstance(table, StageConfig | Mapping):
            raise ConfigError(f"{where}: {name} must be a table of settings, got {table!r}")
    configs = {}
    for name, config in known.items():
        table = tables.get(name, {})
        made = table if isinstance(table, StageConfig) else build(config, table, f"{where}: {name}")
        OPTIMIZERS.check(made.optimizer)
        configs[name] = made
    return configs


@cache
def keyword_only(function: Callable[..., Any]) -> list[str]:
    """Return the names of the keyword-only parameters of a function or class."""
    parameters = signature(function).parameters.values()
    return [each.name for each in parameters if each.kind is Parameter.KEYWORD_ONLY]


def _either(names: Iterable[str]) -> str:
    """Return names in quotes: `"a", "b" or "c"`."""
    quoted = [f'"{name}"' for name in sorted(names)]
    return " or ".join(filter(None, [", ".join(quoted[:-1]), quoted[-1]]))
