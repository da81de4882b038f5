"""How much of an IASM training step is data work: tokenizing, drawing and padding."""

from statistics import median
from time import perf_counter

from benchmarks.figures import Figure, Figures, Target
from benchmarks.train_step import config, epoch
from benchmarks.workload import matcher, positives
from matchwork.train import TrainingSet


def run(quick: bool) -> Figures:
    """The worst case: a single epoch pays for tokenizing all texts."""
    split = positives(64 if quick else 640)
    iasm, settings = matcher("iasm-dynamic"), config()
    began = perf_counter()
    samples = TrainingSet.from_split(split, iasm.tokenizer)
    tokenizing = perf_counter() - began
    epochs = [epoch(iasm, samples, settings) for _ in range(1 if quick else 3)]
    num_steps = -(-len(split.queries) // settings.batch_size)
    data = median(time.data for time in epochs)
    whole = median(time.data + time.model for time in epochs)
    return {
        "batching in a step": _share(data, whole, num_steps),
        "tokenizing and batching in a step": _share(
            data + tokenizing, whole + tokenizing, num_steps
        ),
    }


def _share(data: float, whole: float, num_steps: int) -> Figure:
    return Figure(
        value=1e3 * data / num_steps,
        unit="ms",
        peer=1e3 * whole / num_steps,
        peer_name="whole training step",
        target=Target("ratio", "most", 0.2),
    )
