"""Rows a second of the pair-file reader, beside splitting lines and checking nothing."""

from collections import deque
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.clock import medians
from benchmarks.figures import Figure, Figures
from benchmarks.score_file import write_pairs
from matchwork.data import read_pairs


def run(quick: bool) -> Figures:
    """A TSV file of 8 + 30 words a row."""
    num = 200 if quick else 100_000
    with TemporaryDirectory(prefix="matchwork-bench-") as folder:
        path = Path(folder) / "pairs.tsv"
        write_pairs(path, num)
        ours, plain = medians(
            1 if quick else 5, lambda: deque(read_pairs(path), 0), lambda: _split_lines(path)
        )
    return {
        "rows read": Figure(
            value=num / ours, unit="rows/s", peer=num / plain, peer_name="splitting lines"
        )
    }


def _split_lines(path: Path) -> None:
    with path.open(encoding="utf-8") as stream:
        deque((line.rstrip("\n").split("\t") for line in stream), 0)
