"""`matchwork score` on long pair files: memory must not grow with them."""

from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from benchmarks import child
from benchmarks.figures import Figure, Figures
from benchmarks.workload import matcher, texts
from matchwork.files import atomic_write

ROWS = {"quick": (20_000, 100_000), "full": (100_000, 1_000_000)}
_BLOCK = 10_000


def run(quick: bool) -> Figures:
    """A short and a long file through the real program."""
    short, long = ROWS["quick" if quick else "full"]
    with TemporaryDirectory(prefix="matchwork-bench-") as name:
        folder = Path(name)
        matcher("bag").save(folder / "bag")
        few, many = (_score(folder, num) for num in (short, long))
    return {
        f"peak memory, {long:,} rows": Figure(
            value=many.peak_mib,
            unit="MiB",
            peer=few.peak_mib,
            peer_name=f"{short:,} rows",
        ),
        f"speed, {long:,} rows": Figure(
            value=long / many.seconds,
            unit="rows/s",
            peer=short / few.seconds,
            peer_name=f"{short:,} rows",
        ),
    }


def _score(folder: Path, num: int) -> child.Finished:
    pairs, out = folder / f"{num}.tsv", folder / f"{num}.scored.tsv"
    write_pairs(pairs, num)
    program = ("-m", "matchwork", "score", str(folder / "bag"), str(pairs), "--out", str(out))
    finished = child.python(*program)
    for path in (pairs, out):
        path.unlink()
    return finished


def write_pairs(path: Path, num: int) -> None:
    """A pair file in which every document has a word that no other text has."""
    rng = np.random.default_rng(0)
    with atomic_write(path) as stream:
        stream.write("query\tdocument\tlabel\n")
        for start in range(0, num, _BLOCK):
            size = min(_BLOCK, num - start)
            queries, documents = texts(size, 8, rng), texts(size, 30, rng)
            stream.writelines(
                f"{query}\t{document} number{row}\t{row % 2}\n"
                for row, (query, document) in enumerate(zip(queries, documents, strict=True), start)
            )
