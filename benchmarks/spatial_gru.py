"""The spatial GRU's engines on two threads, beside MatchZoo's loop and beside their arithmetic."""

import sys
from collections.abc import Callable
from pathlib import Path
from time import perf_counter

if not __package__:  # started as a file
    sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import torch
from torch import Tensor, nn

from benchmarks import spatial_peer
from benchmarks.as_file import CORES, options, read, tell, threads
from benchmarks.clock import medians
from benchmarks.figures import Figure, Figures, Target
from matchwork.kernels.spatial_gru import ENGINES, SpatialWeights, corner_states, spatial_gru

BATCH, UNITS, CHANNELS = 128, 10, 10
SIDES = (20, 40)  # words of both texts
SHORTEST, LONGEST = 5, 50
WARM_SECONDS = 0.5
SPEEDUPS = {"native": (15, 15), "diagonal": (2.5, 3.5)}  # forward, forward and backward
FLOOR = Target("ratio", "most", 2.5)
GPU_PURPOSE = "The spatial GRU on a GPU, beside MatchZoo's loop on the same one."
Job = Callable[[], object]


def run(quick: bool) -> Figures:
    """Both sides of a grid 20 and 40 words, batch 128; then ragged lengths."""
    return on_cpu(quick, None if quick else _peer(None))


def on_cpu(quick: bool, peer: type[nn.Module] | None) -> Figures:
    """All CPU figures; those beside the peer are left out where there is none."""
    batch, sides, repeats = (2, (3,), 1) if quick else (BATCH, SIDES, 5)
    figures: Figures = {}
    with threads(CORES):
        for side in sides:
            work = Work(torch.full((batch, 2), side), "cpu")
            if peer is not None:
                figures |= _beside_peer(work, peer, repeats)
            figures |= _beside_floor(work, repeats)
        figures |= _ragged(batch, repeats)
        figures |= _kept(Work(torch.full((batch, 2), sides[-1]), "cpu"), _engine("cpu"))
    return figures


def on_gpu(quick: bool, peer: type[nn.Module] | None) -> Figures:
    """50 x 50 words on this machine's GPU."""
    work = Work(torch.full((2 if quick else BATCH, 2), LONGEST), "cuda")
    repeats = 1 if quick else 20
    fast, plain = work.jobs("triton"), work.jobs("diagonal")
    loop = None if peer is None else work.peer_jobs(peer)
    figures: Figures = {}
    for index, name in enumerate(("forward", "forward and backward")):
        jobs = [fast[index], plain[index]] + ([] if loop is None else [loop[index]])
        counts = (repeats, repeats, min(repeats, 5))  # the loop takes seconds a call
        triton, diagonal, *rest = (
            _warm_median(count, _until_done(job)) for count, job in zip(counts, jobs, strict=False)
        )
        target = Target("value", "most", 0.5) if index == 0 else None
        figures[f"triton {name}, 50 x 50"] = _time(triton, diagonal, "diagonal", target)
        for slow in rest:
            figures[f"triton {name} beside a loop"] = _speed(
                work, triton, slow, Target("ratio", "least", 100)
            )
            figures[f"diagonal {name} beside a loop"] = _speed(work, diagonal, slow, None)
    return figures | _kept(work, "triton") | _peak(work)


class Work:
    """A batch of grids, random weights, and the jobs that are timed on them."""

    def __init__(self, lengths: Tensor, device: str) -> None:
        torch.manual_seed(0)
        near, units = 3 * UNITS + CHANNELS, UNITS
        shapes = ((3, units, near), (3, units), (4, units, near), (4, units))
        shapes += ((units, CHANNELS), (units, 3 * units), (units,))
        parts = (0.2 * torch.randn(1, *shape, device=device) for shape in shapes)
        self.weights = SpatialWeights(*(part.requires_grad_() for part in parts))
        self.lengths = lengths.to(device)
        rows, columns = lengths.amax(0).tolist()
        self.inputs = torch.randn(len(lengths), rows, columns, CHANNELS, device=device)
        self.inputs.requires_grad_()

    @property
    def flops(self) -> float:
        """Of the products alone, forward; the derivatives ask for twice as many more."""
        near = 3 * UNITS + CHANNELS
        return 2.0 * self.inputs.shape[:3].numel() * (7 * UNITS + UNITS) * near

    def corners(self, engine: str) -> Tensor:
        """What a matcher reads: the last state of every grid."""
        states = spatial_gru(self.inputs, self.lengths, self.weights, engine=engine)
        return corner_states(states, self.lengths)

    def jobs(self, engine: str) -> tuple[Job, Job]:
        """Forward, and forward with all gradients."""
        parts = [self.inputs, *(part for part in self.weights if part is not None)]
        return _pair(lambda: self.corners(engine), parts)

    def peer_jobs(self, peer: type[nn.Module]) -> tuple[Job, Job]:
        """The same by the peer, after a look that it gives the same."""
        model = spatial_peer.with_weights(peer, self.weights)

        def corners() -> Tensor:
            return model(self.inputs.permute(0, 3, 1, 2))

        with torch.no_grad():
            torch.testing.assert_close(corners(), self.corners("diagonal"), rtol=1e-4, atol=1e-4)
        return _pair(corners, [self.inputs, *model.parameters()])


def _pair(corners: Callable[[], Tensor], parts: list[Tensor]) -> tuple[Job, Job]:
    def forward() -> None:
        with torch.no_grad():
            corners()

    def both() -> None:
        torch.autograd.grad(corners().sum(), parts)

    return forward, both


def _beside_peer(work: Work, peer: type[nn.Module], repeats: int) -> Figures:
    figures: Figures = {}
    engines = [name for name in SPEEDUPS if ENGINES[name].supports("cpu", torch.float32) is None]
    loop = work.peer_jobs(peer)
    for index, name in enumerate(("forward", "forward and backward")):
        jobs = [work.jobs(engine)[index] for engine in engines]
        *times, slow = medians(repeats, *jobs, loop[index])
        for engine, seconds in zip(engines, times, strict=True):
            target = Target("ratio", "least", SPEEDUPS[engine][index])
            figures[f"{engine} {name}, {_size(work)}"] = _speed(work, seconds, slow, target)
    return figures


def _beside_floor(work: Work, repeats: int) -> Figures:
    engine = _engine("cpu")
    side = 1024 if repeats > 1 else 64
    matrix = torch.randn(side, side)
    forward, both = work.jobs(engine)
    jobs: tuple[Job, ...] = (forward, both, lambda: matrix @ matrix)
    *times, product = medians(3 * repeats, *jobs)
    rate = 2 * side**3 / product
    figures: Figures = {}
    for name, seconds, share in zip(
        ("forward", "forward and backward"), times, (1, 3), strict=True
    ):
        flops = share * work.flops
        against = f"{flops / 1e9:.3g} GFLOP at {rate / 1e9:.0f} GFLOP/s"
        figures[f"{engine} {name}, {_size(work)}, arithmetic"] = _time(
            seconds, flops / rate, against, FLOOR if engine == "native" else None
        )
    return figures


def _ragged(batch: int, repeats: int) -> Figures:
    engine = _engine("cpu")
    torch.manual_seed(0)
    lengths = torch.randint(SHORTEST, LONGEST + 1, (batch, 2))
    lengths[0] = LONGEST
    ragged, padded = Work(lengths, "cpu"), Work(torch.full_like(lengths, LONGEST), "cpu")
    figures: Figures = {}
    for index, name in enumerate(("forward", "forward and backward")):
        mine, full = medians(repeats, ragged.jobs(engine)[index], padded.jobs(engine)[index])
        figures[f"{engine} {name}, lengths {SHORTEST} to {LONGEST}"] = Figure(
            value=batch / mine,
            unit="pairs/s",
            peer=batch / full,
            peer_name=f"all padded to {LONGEST}",
            target=Target("ratio", "least", 1.8) if engine == "native" else None,
        )
    return figures


def _kept(work: Work, engine: str) -> Figures:
    """Bytes that wait for the backward sweep, beside those of the states and what was given."""
    kept: dict[int, int] = {}

    def note(tensor: Tensor) -> Tensor:
        storage = tensor.untyped_storage()
        kept[storage.data_ptr()] = storage.nbytes()
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(note, lambda tensor: tensor):
        states = spatial_gru(work.inputs, work.lengths, work.weights, engine=engine)
    given = (states, work.inputs, work.lengths, *work.weights)
    least = sum(part.nbytes for part in given if part is not None)
    return {
        f"{engine} kept for backward, {_size(work)}": Figure(
            value=sum(kept.values()) / 2**20,
            unit="MiB",
            peer=least / 2**20,
            peer_name="states, inputs and weights",
            target=Target("ratio", "most", 1.01) if engine != "diagonal" else None,
        )
    }


def _peak(work: Work) -> Figures:
    torch.cuda.reset_peak_memory_stats()
    before = torch.cuda.memory_allocated()
    work.jobs("triton")[1]()
    peak = (torch.cuda.max_memory_allocated() - before) / 2**20
    states = work.inputs.numel() // CHANNELS * UNITS * 4 / 2**20
    return {
        f"triton peak memory, {_size(work)}": Figure(
            value=peak, unit="MiB", peer=states, peer_name="states alone"
        )
    }


def _speed(work: Work, mine: float, loop: float, target: Target | None) -> Figure:
    batch = len(work.lengths)
    return Figure(
        value=batch / mine,
        unit="pairs/s",
        peer=batch / loop,
        peer_name=f"{spatial_peer.ARCHIVE} {spatial_peer.VERSION}",
        target=target,
    )


def _time(mine: float, other: float, name: str, target: Target | None) -> Figure:
    return Figure(value=1e3 * mine, unit="ms", peer=1e3 * other, peer_name=name, target=target)


def _size(work: Work) -> str:
    return f"{work.inputs.shape[1]} x {work.inputs.shape[2]}"


def _engine(device: str) -> str:
    """The compiled engine, or what takes its place where there is no compiler."""
    return "native" if ENGINES["native"].supports(device, torch.float32) is None else "diagonal"


def _until_done(job: Job) -> Job:
    def wait() -> None:
        job()
        torch.cuda.synchronize()

    return wait


def _warm_median(repeats: int, job: Job) -> float:
    """Not by turns with slower jobs: a GPU that waits for a loop in Python lowers its clock."""
    began = perf_counter()
    while perf_counter() - began < WARM_SECONDS:
        job()
    return medians(repeats, job)[0]


def _peer(folder: Path | None) -> type[nn.Module] | None:
    try:
        return spatial_peer.load(folder)
    except spatial_peer.NoPeerError as error:
        print(f"No peer, its figures are left out: {error}", file=sys.stderr)
        return None


def main() -> None:
    """`python benchmarks/spatial_gru.py`: as a file of its own, it has options of its own."""
    parser = options(__doc__)
    parser.add_argument(
        "--peer", type=Path, metavar="PATH", help="the peer's archive, or its folder"
    )
    given = read(parser)
    figures = (on_gpu if given.gpu else on_cpu)(given.quick, _peer(given.peer))
    tell("spatial_gru", given, figures, GPU_PURPOSE if given.gpu else str(__doc__))


if __name__ == "__main__":
    main()
