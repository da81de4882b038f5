"""`pydocs`: a collection generated from the docstrings of installed packages.

The first paragraph of a docstring is the query, the rest of it the only relevant document, and
every query searches the documents of all splits. Its content depends on what is installed, so
`Dataset.versions` names the packages and a fingerprint of the texts.
"""

import gzip
import hashlib
import json
import os
import subprocess
import sys
import tempfile
import zlib
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import replace
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path

from matchwork.data.catalogue import CATALOGUE
from matchwork.data.dataset import Dataset, Split
from matchwork.data.sets.pydocs import worker
from matchwork.data.sets.pydocs.clean import Pair, make_pair, words
from matchwork.data.sets.pydocs.duplicates import first_of_each
from matchwork.errors import DataError, OutputError
from matchwork.files import atomic_write, user_cache

FORMAT = 1
"""Part of the cache key: increase it when the same docstrings would give other pairs."""

TIME_LIMIT = 600

# Import names. transformers is left out: thousands of near-duplicates.
SCIENTIFIC = (
    *("lightning", "matplotlib", "networkx", "numba", "numpy", "pandas", "scipy", "sklearn"),
    *("sympy", "torch", "torchmetrics"),
)
# Gone from newer Pythons; leaving them out keeps the set stable.
# fmt: off
_REMOVED_FROM_PYTHON = frozenset({
    "aifc", "asynchat", "asyncore", "audioop", "binhex", "cgi", "cgitb", "chunk", "crypt",
    "imghdr", "imp", "mailcap", "msilib", "nis", "nntplib", "ossaudiodev", "pipes", "smtpd",
    "sndhdr", "spwd", "sunau", "telnetlib", "uu", "xdrlib",
})
# fmt: on


def standard_library() -> list[str]:
    """Return the public modules of the standard library that are safe to import."""
    names = sys.stdlib_module_names - _REMOVED_FROM_PYTHON
    return sorted(name for name in names if worker.is_wanted(name))


def installed_packages() -> list[str]:
    """Return the standard library, then the scientific packages that are installed."""
    return [*standard_library(), *(name for name in SCIENTIFIC if find_spec(name) is not None)]


def build(cache: Path | None = None, packages: Sequence[str] | None = None) -> Dataset:
    """Read the data set from its cache, or generate it (about half a minute) and cache it."""
    names = list(dict.fromkeys(installed_packages() if packages is None else packages))
    versions = _versions(names)
    key = _digest([str(FORMAT), *names, *versions.values()])
    path = (cache or user_cache()) / f"pydocs-{key}.jsonl.gz"
    pairs = _read_cache(path)
    if pairs is None:
        pairs = _distinct(_collect(names))
        if not pairs:
            raise DataError(f"pydocs: no usable docstring in {', '.join(names)}; add packages")
        # A cache that cannot be written costs time on the next call, not the data set.
        with suppress(OutputError):
            _write_cache(path, pairs)
    return _dataset(pairs, versions)


def _versions(names: Iterable[str]) -> dict[str, str]:
    """Return the versions of Python and of each package outside the standard library."""
    versions = {"python": ".".join(map(str, sys.version_info[:3]))}
    for name in names:
        root = name.partition(".")[0]
        if root in sys.stdlib_module_names:
            continue
        if find_spec(root) is None:
            raise DataError(
                f"pydocs: package {root!r} is not installed; install it or leave it out"
            )
        distribution = "scikit-learn" if root == "sklearn" else root
        with suppress(metadata.PackageNotFoundError):
            versions[distribution] = metadata.version(distribution)
    return versions


def _collect(names: Sequence[str]) -> list[Pair]:
    """Run the worker and return the cleaned pairs, sorted by qualified name."""
    # -P and an empty working folder: no module of the caller's is imported by accident.
    command = [sys.executable, "-P", "-W", "ignore", worker.__file__, *names]
    quiet = {"MPLBACKEND": "Agg", "CUDA_VISIBLE_DEVICES": "", "OMP_NUM_THREADS": "1"}
    # Some docstrings are generated from sets; their order must be the same every time.
    quiet["PYTHONHASHSEED"] = "0"
    with tempfile.TemporaryDirectory() as empty:
        try:
            done = subprocess.run(
                command,
                cwd=empty,
                env={**os.environ, **quiet},
                stdin=subprocess.DEVNULL,
                capture_output=True,
                encoding="utf-8",
                errors="replace",
                timeout=TIME_LIMIT,
                check=False,
            )
        except (OSError, subprocess.TimeoutExpired) as error:
            raise DataError(f"pydocs: the docstring worker did not finish: {error}") from error
    if done.returncode != 0:
        tail = "\n".join(done.stderr.strip().splitlines()[-5:])
        raise DataError(
            f"pydocs: the docstring worker ended with code {done.returncode}; "
            f"leave the failing package out. End of its output:\n{tail}"
        )
    records = [json.loads(line) for line in done.stdout.splitlines()]
    made = (make_pair(record["doc"], record["names"]) for record in records if "doc" in record)
    return sorted(pair for pair in made if pair is not None)


def _distinct(pairs: Sequence[Pair]) -> list[Pair]:
    """Keep the first of equal names, queries and documents, then of near-duplicate documents."""
    for part in range(len(Pair._fields)):
        first: dict[str, Pair] = {}
        for pair in pairs:
            first.setdefault(" ".join(words(pair[part])) if part else pair.name, pair)
        pairs = list(first.values())
    return [pairs[position] for position in first_of_each([words(pair.document) for pair in pairs])]


def _digest(parts: Iterable[str]) -> str:
    """Return a short hash, equal on every machine."""
    return hashlib.blake2b("\0".join(parts).encode(), digest_size=8).hexdigest()


def split_of(query: str) -> str:
    """Return the split of a query, a function of its text: 80 % train, 10 % dev, 10 % test."""
    share = int(_digest([query]), 16) % 100
    return "train" if share < 80 else "dev" if share < 90 else "test"


def _dataset(pairs: Sequence[Pair], versions: dict[str, str]) -> Dataset:
    documents = {pair.name: pair.document for pair in pairs}
    queries: dict[str, dict[str, str]] = {"train": {}, "dev": {}, "test": {}}
    for pair in pairs:
        queries[split_of(pair.query)][f"q:{pair.name}"] = pair.query
    splits = {
        name: Split(name, part, documents, {query: {query[2:]: 1} for query in part})
        for name, part in queries.items()
    }
    fingerprint = _digest(text for pair in pairs for text in pair)
    dataset = CATALOGUE["pydocs"].dataset("pydocs", splits)
    return replace(dataset, versions={**versions, "fingerprint": fingerprint})


def _write_cache(path: Path, pairs: Sequence[Pair]) -> None:
    lines = "".join(json.dumps(pair._asdict()) + "\n" for pair in pairs)
    with atomic_write(path, "wb") as stream:
        stream.write(gzip.compress(lines.encode(), mtime=0))


def _read_cache(path: Path) -> list[Pair] | None:
    """Read cached pairs; None if there are none or the file is damaged (they are made again)."""
    try:
        lines = gzip.decompress(path.read_bytes()).decode().splitlines()
        return [Pair(**json.loads(line)) for line in lines]
    except (OSError, EOFError, ValueError, TypeError, zlib.error):
        return None
