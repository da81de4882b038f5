"""IASM training throughput through Lightning, beside a bare loop over the same batches."""

from collections.abc import Mapping
from itertools import pairwise
from time import perf_counter

from benchmarks.figures import Figure, Figures
from benchmarks.train_step import config, epoch
from benchmarks.workload import matcher, positives
from matchwork.train import TrainingData, TrainingSet, TrainObserver, train


class _Clock(TrainObserver):
    def __init__(self) -> None:
        self.ends: list[float] = []

    def epoch(self, record: Mapping[str, float]) -> None:
        self.ends.append(perf_counter())


def run(quick: bool) -> Figures:
    """Epochs after the first: setting up Lightning is not training."""
    iasm, settings = matcher("iasm-dynamic"), config(max_epochs=2 if quick else 3)
    samples = TrainingSet.from_split(positives(64 if quick else 640), iasm.tokenizer)
    num_pairs = len(samples.positives) * (1 + settings.num_negatives)
    bare = min(sum(epoch(iasm, samples, settings)) for _ in range(settings.max_epochs - 1))
    clock = _Clock()
    train(iasm, TrainingData(samples), config=settings, observer=clock)
    fitted = min(after - before for before, after in pairwise(clock.ends))
    return {
        "pairs trained": Figure(
            value=num_pairs / fitted,
            unit="pairs/s",
            peer=num_pairs / bare,
            peer_name="bare torch loop",
        )
    }
