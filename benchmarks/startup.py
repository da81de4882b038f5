"""What the first second feels like: `import matchwork` and `matchwork --help`."""

from statistics import median

from benchmarks import child
from benchmarks.figures import Figure, Figures, Target

_WITHOUT_TORCH = "import sys, matchwork; sys.exit('torch' in sys.modules)"


def run(quick: bool) -> Figures:
    """Whole processes, in turn with an empty one; importing torch would be a failure."""
    commands = (("-c", "pass"), ("-c", _WITHOUT_TORCH), ("-m", "matchwork", "--help"))
    rounds = [
        [child.python(*command).seconds for command in commands] for _ in range(1 if quick else 15)
    ]
    nothing, importing, helping = (median(times) for times in zip(*rounds, strict=True))
    return {
        "import matchwork": _seconds(importing, nothing, 0.3),
        "matchwork --help": _seconds(helping, nothing, 0.5),
    }


def _seconds(value: float, nothing: float, bound: float) -> Figure:
    target = Target("value", "most", bound)
    return Figure(value=value, unit="s", peer=nothing, peer_name="python -c pass", target=target)
