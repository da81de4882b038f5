"""A recipe on the toy questions that runs in a second."""

from collections.abc import Callable
from pathlib import Path

import pytest

RECIPE = """
[data]
name = "toy"
measures = ["AP", "RR", "P@1"]
[model]
name = "bag"
[vectors]
dim = 8
trainable = true
[train]
max_epochs = 3
batch_size = 4
accelerator = "cpu"
[run]
seeds = [3, 5]
[paper]
MAP = 0.9
source = "Table 1"
"""

WriteRecipe = Callable[..., Path]


@pytest.fixture
def write_recipe(tmp_path: Path) -> WriteRecipe:
    """`write_recipe(text)`: the path of a file `tiny.toml` with that content."""

    def write(text: str = RECIPE) -> Path:
        path = tmp_path / "tiny.toml"
        path.write_text(text, encoding="utf-8")
        return path

    return write
