"""TwitterURL: tweets that link to the same page; dev is cut from the training pairs."""

from collections.abc import Sequence
from pathlib import Path

from matchwork.data.catalogue import CATALOGUE, CatalogueEntry, Counts, Options
from matchwork.data.dataset import Split
from matchwork.data.pairs import build_split, read_pairs
from matchwork.data.partition import tenth
from matchwork.data.tables import need_table


def twitterurl(folder: Path, names: Sequence[str], options: Options) -> dict[str, Split]:
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


CATALOGUE.add(
    "twitterurl",
    CatalogueEntry(
        title="TwitterURL: tweets that link to the same page, paraphrase or not",
        folder="twitterurl",
        read=twitterurl,
        splits={
            "train": Counts(3199, 38039, 9976),
            "dev": Counts(359, 4161, 1191),
            "test": Counts(771, 9324, 1820),
        },
        task="classification",
        measures=("Accuracy", "macro-F1", "F1"),
        licence="CC BY-NC-SA 3.0 and Twitter's terms",
        citation="Lan et al.: A continuously growing dataset of sentential paraphrases, EMNLP 2017",
        notes="dev is our cut: a tenth of the 42,200 training pairs by hash of the anchor. Test is "
        "the published 9,324 pairs. Pairs listed again, some with the other label, are kept apart.",
    ),
)
