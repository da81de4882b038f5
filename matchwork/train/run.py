"""One training run: its arguments, the callbacks while it runs, and its result."""

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, TypeAlias

from matchwork.inputs import Truncation
from matchwork.models import Model, StageConfig
from matchwork.rank.calibration import AnyCalibration
from matchwork.train.config import TrainConfig
from matchwork.train.samples import TrainingSet
from matchwork.types import Run

Validate: TypeAlias = Callable[[Model], Mapping[str, float]]
"""Returns dev measures of a model; one of them is `dev_measure`."""


class TrainObserver:
    """Callbacks of one training run; override those you need.

    With several devices, training happens in other processes: `epoch` is then called for all
    epochs at the end.
    """

    def begin_stage(self, name: str, number: int, total: int, reused: bool) -> None:
        """Stage `number` of `total` begins, or is taken from the cache (`reused`)."""

    def stage_batch(self, done: int, total: int) -> None:
        """`done` batches of the stage's epoch are done; `total` is 0 where it is unknown."""

    def stage_epoch(self, name: str, record: Mapping[str, float]) -> None:
        """An epoch of a stage ended."""

    def begin_model(self) -> None:
        """All stages are done; training of the whole model begins. Not called without stages."""

    def epoch(self, record: Mapping[str, float]) -> None:
        """An epoch of the whole model ended; `record` is its line of the history."""

    def calibrate(self) -> None:
        """Training is done; the probabilities are fitted on dev next."""


@dataclass(frozen=True)
class TrainingRun:
    """The arguments of a run, as in `matchwork.train`; without `validate`, no epoch is better."""

    model: Model
    samples: TrainingSet
    config: TrainConfig
    folder: Path
    seed: int = 0
    validate: Validate | None = None
    dev_samples: TrainingSet | None = None
    resume: bool = False
    show_progress: bool = False
    observer: TrainObserver = field(default_factory=TrainObserver)
    stages: Mapping[str, StageConfig] = field(default_factory=dict)
    stage_cache: Path | None = None


@dataclass(frozen=True)
class StageResult:
    """Result of a stage: the best epoch (from 1), its loss on dev, whether it was reused."""

    name: str
    hash: str  # of all that decided its weights
    best_epoch: int
    best_loss: float | None
    history: list[dict[str, float]]
    seconds: float
    reused: bool = False

    def to_dict(self) -> dict[str, Any]:
        """Return plain values, with the number of epochs in place of the history."""
        table = {key: value for key, value in asdict(self).items() if key != "history"}
        return {**table, "epochs": len(self.history)}


@dataclass(frozen=True)
class TrainResult:
    """Outcome of a training run; `print` it for a summary.

    Attributes:
        history: One record per epoch: "epoch", "loss", the dev measure, "best", "seconds".
        best_epoch: The epoch (from 1) whose weights the model has now.
        best_value: Its dev measure; None without dev.
        dev_measure: Name of that measure.
        seconds: Time of stages, epochs and calibration, including those before a resume.
        truncation: Training texts that the length limits cut, and the tokens they lost.
        dev_loss: Pairs (batches done, loss on dev), where `dev_loss_every` is set.
        stages: Results of the model's stages, in order.
        calibration: The calibration fitted on dev; None without dev, or with one class there.
        dev_run: Scores of the dev candidates under the final weights; None without dev.
        folder: Where the checkpoint is; None if the run had no folder of its own.
    """

    history: list[dict[str, float]]
    best_epoch: int
    best_value: float | None
    dev_measure: str
    seconds: float
    truncation: Truncation = field(default_factory=Truncation)
    dev_loss: list[list[float]] = field(default_factory=list)
    stages: list[StageResult] = field(default_factory=list)
    calibration: AnyCalibration | None = None
    dev_run: Run | None = field(default=None, repr=False)
    folder: Path | None = None

    def __str__(self) -> str:
        epochs = "1 epoch" if len(self.history) == 1 else f"{len(self.history)} epochs"
        value = "" if self.best_value is None else f", dev {self.dev_measure} {self.best_value:.4f}"
        lines = [f"{epochs} in {self.seconds:.1f} s; best: epoch {self.best_epoch}{value}"]
        for stage in self.stages:
            origin = "from the cache" if stage.reused else f"in {stage.seconds:.1f} s"
            loss = "" if stage.best_loss is None else f", dev loss {stage.best_loss:.4f}"
            lines.append(f"stage {stage.name}: epoch {stage.best_epoch}{loss}, {origin}")
        if self.truncation.texts:
            lines.append(f"truncation: {self.truncation}")
        if self.calibration is not None:
            lines.append("probabilities are calibrated on dev")
        if self.folder is not None:
            lines.append(f"checkpoint: {self.folder}")
        return "\n".join(lines)
