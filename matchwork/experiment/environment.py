"""Provenance of a number: code, machine, libraries."""

import os
import platform
import subprocess
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from matchwork.version import VERSION

_LIBRARIES = (
    "torch",
    "lightning",
    "tokenizers",
    "transformers",
    "numpy",
    "scipy",
    "bm25s",
    "ir-measures",
)


def commit() -> str | None:
    """The commit of the working copy the code runs from, with `-dirty` when it was changed.

    Ask when a run begins: by its end, the working copy may be another. Where the code runs
    without its history, in a container say, MATCHWORK_COMMIT tells.
    """
    folder = package_folder()
    try:
        name = _git(folder, "rev-parse", "--short=12", "HEAD")
        tracked = _git(folder, "ls-files", "--error-unmatch", "__init__.py")
        changed = _git(folder, "status", "--porcelain", "--untracked-files=no", "--", ".")
    except (OSError, subprocess.CalledProcessError):
        return os.environ.get("MATCHWORK_COMMIT")
    return f"{name}-dirty" if changed and tracked else name


def package_folder() -> Path:
    """Return the folder of the package."""
    return Path(__file__).parent.parent


def _git(folder: Path, *arguments: str) -> str:
    done = subprocess.run(
        ["git", *arguments], cwd=folder, capture_output=True, text=True, check=True, timeout=20
    )
    return done.stdout.strip()


def hardware() -> dict[str, object]:
    """Processor, cores, memory and accelerator."""
    import torch

    found: dict[str, object] = {"cpu": _cpu_name(), "cores": os.cpu_count()}
    if hasattr(os, "sysconf"):
        total = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
        found["memory_gib"] = round(total / 2**30, 1)
    if torch.cuda.is_available():
        found["gpu"] = torch.cuda.get_device_name()
        found["float32_matmul"] = torch.get_float32_matmul_precision()  # "high" is TF32
    return found


def _cpu_name() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.processor() or platform.machine()
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.machine()


def versions() -> dict[str, str]:
    """Python and the libraries that decide numbers."""
    found = {"matchwork": VERSION, "python": platform.python_version()}
    for library in _LIBRARIES:
        try:
            found[library] = version(library)
        except PackageNotFoundError:
            continue
    return found
