"""What is kept out when a package is loaded."""

import subprocess
import sys
from pathlib import Path

import pytest

from matchwork.packages import without_package

SEARCH = """
import sys
from matchwork.rank import BM25
from matchwork.studies.iasm.overlap import _splitter
BM25.fit({"a": "red fox", "b": "blue whale"}).search(["fox"], top_k=1)
_splitter(False)
sys.exit("jax" in sys.modules)
"""


def test_a_search_does_not_load_jax(tmp_path: Path) -> None:
    """JAX reserves most of a GPU when it loads; bm25s tries it, and uses it for nothing here."""
    (tmp_path / "jax").mkdir()
    for name in ("__init__", "lax"):
        (tmp_path / "jax" / f"{name}.py").write_text("def top_k(values, k): return values, k\n")
    path = f"import sys; sys.path.insert(0, {str(tmp_path)!r})\n"
    assert subprocess.run([sys.executable, "-c", path + SEARCH], check=False).returncode == 0
    plain = path + "import bm25s, sys; sys.exit('jax' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", plain], check=False).returncode == 1


def test_an_absent_package_can_be_imported_again_afterwards() -> None:
    sys.modules.pop("this", None)
    with without_package("wave"), pytest.raises(ImportError):
        import wave
    import wave

    with without_package("wave"):  # already loaded: stays
        assert sys.modules["wave"] is wave
