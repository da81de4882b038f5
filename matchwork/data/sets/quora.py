"""Quora question pairs in both published layouts."""

from pathlib import Path

from matchwork.data.dataset import Dataset
from matchwork.data.pairs import PairRow, build_split, to_label
from matchwork.data.readers import READERS, need_file, release
from matchwork.data.tables import quoted, tab_separated, with_header
from matchwork.errors import DataError

CLASSIFICATION = ("Accuracy", "F1", "macro-F1")


def read_quora(folder: str | Path) -> Dataset:
    """Read the original `quora_duplicate_questions.tsv`, which is quoted and has no splits."""
    path = need_file(Path(folder), "quora_duplicate_questions.tsv")
    table = with_header(path, quoted(path, "\t"))
    wanted = ("question1", "question2", "is_duplicate", "id")
    if not set(wanted) <= set(table.names):
        raise DataError(f"expected the columns {wanted}, found {table.names}", path=path, line=1)
    rows = (_question_pair(path, line, *map(str, values)) for line, values in table.select(wanted))
    splits = {"all": build_split("all", rows, path)}
    return Dataset("quora", splits, task="classification", measures=CLASSIFICATION)


def read_quora_bimpm(folder: str | Path) -> Dataset:
    """Read the BiMPM partition: `{train,dev,test}.tsv` of label, two questions, id; no header."""
    splits = {}
    for name in ("train", "dev", "test"):
        path = need_file(Path(folder), f"{name}.tsv")
        rows = (
            _question_pair(path, line, query, document, label, id)
            for line, (label, query, document, id) in tab_separated(path, 4)
        )
        splits[name] = build_split(name, rows, path)
    return Dataset("quora", splits, task="classification", measures=CLASSIFICATION)


def _question_pair(
    path: Path, line: int, query: str, document: str, label: str, id: str
) -> PairRow:
    """Return a pair as a query of its own with one candidate."""
    grade = to_label(label, path, line, "label")
    return PairRow(line, query, document, grade, f"{id}-a", f"{id}-b")


READERS.add("quora", release("quora_duplicate_questions.tsv*", read_quora))
READERS.add("quora-bimpm", release("", read_quora_bimpm))
