"""IASM's training step without Lightning, taken apart into data work and model work."""

from time import perf_counter
from typing import NamedTuple

import torch

from matchwork.matcher import Matcher
from matchwork.train import TrainConfig, TrainingSet
from matchwork.train.loader import EpochLoader, TrainBatch


class EpochTime(NamedTuple):
    """Seconds of one epoch: drawing and gathering batches, and what the model does with them."""

    data: float
    model: float


def config(**settings: int) -> TrainConfig:
    """IASM's own settings (32 positives with 4 negatives each) on the CPU."""
    from matchwork.models import MODELS

    defaults = MODELS["iasm-dynamic"].model.training_defaults
    return TrainConfig(**{**defaults, "accelerator": "cpu", **settings})


def epoch(matcher: Matcher, samples: TrainingSet, settings: TrainConfig) -> EpochTime:
    """Train one epoch and say where the time went."""
    loader = EpochLoader(samples, settings.make_sampler(samples), settings.batch_size, seed=0)
    loss = settings.make_loss()
    trained = [p for p in matcher.model.parameters() if p.requires_grad]
    optimizer = torch.optim.Adam(trained, lr=settings.learning_rate)

    def step(batch: TrainBatch) -> None:
        optimizer.zero_grad()
        scores = matcher.model(batch.pairs).scores.view_as(batch.labels)
        loss(scores, batch.labels, batch.mask).backward()  # type: ignore[no-untyped-call]
        optimizer.step()

    step(next(iter(loader)))
    data = model = 0.0
    before = perf_counter()
    for batch in loader:
        ready = perf_counter()
        step(batch)
        done = perf_counter()
        data, model, before = data + ready - before, model + done - ready, done
    return EpochTime(data, model)
