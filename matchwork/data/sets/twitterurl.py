"""TwitterURL: tweets that link to the same page; dev is cut from the training pairs."""

from collections.abc import Sequence
from pathlib import Path

from matchwork.data.dataset import Split
from matchwork.data.pairs import build_split, read_pairs
from matchwork.data.partition import tenth
from matchwork.data.tables import need_table


def twitterurl(folder: Path, names: Sequence[str]) -> dict[str, Split]:
    """Read pair files without a dev split: a tenth of the training anchors, by hash, is dev."""
    splits = {}
    for name in names:
        path = need_table(folder, "test" if name == "test" else "train")
        rows = (
            row
            for row in read_pairs(path)
            if name == "test" or (tenth(row.query) == 0) == (name == "dev")
        )
        splits[name] = build_split(name, rows, path)
    return splits
