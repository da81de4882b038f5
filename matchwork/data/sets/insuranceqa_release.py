"""InsuranceQA as its authors released it, versions 1 and 2: texts are word numbers to decode."""

from pathlib import Path

from matchwork.data.collection import collection_split
from matchwork.data.dataset import Dataset, Split
from matchwork.data.readers import READERS, need_file, release
from matchwork.data.tables import tab_separated
from matchwork.errors import DataError
from matchwork.types import Qrels

MEASURES = ("P@1", "RR", "AP")


def read_insuranceqa_v1(folder: str | Path) -> Dataset:
    """Read `answers.label.token_idx` and the `question.*` files, decoded with `vocabulary`."""
    files = _Release(Path(folder), "answers.label.token_idx")
    splits = {"train": files.split("train", "question.train.token_idx.label", "text truth")}
    for name in ("dev", "test1", "test2"):
        file = f"question.{name}.label.token_idx.pool"
        splits[name] = files.split(name, file, "truth text pool")
    return Dataset("insuranceqa-v1", splits, measures=MEASURES)


def read_insuranceqa_v2(
    folder: str | Path, pool: int = 500, tokenization: str = "token"
) -> Dataset:
    """Read the decoded release; `pool`: 100, 500, 1000 or 1500, `tokenization`: "token", "raw"."""
    files = _Release(Path(folder), f"InsuranceQA.label2answer.{tokenization}.encoded")
    stem = f"InsuranceQA.question.anslabel.{tokenization}.{pool}.pool.solr"
    splits = {
        name: files.split(name, f"{stem}.{theirs}.encoded", "domain text truth pool")
        for name, theirs in (("train", "train"), ("dev", "valid"), ("test", "test"))
    }
    return Dataset("insuranceqa-v2", splits, measures=MEASURES)


class _Release:
    """The vocabulary and the answers of a release, which all its splits share."""

    def __init__(self, folder: Path, answers: str) -> None:
        self._folder = folder
        vocabulary = tab_separated(need_file(folder, "vocabulary"), 2)
        self._words = {index: word for _, (index, word) in vocabulary}
        path = need_file(folder, answers)
        rows = tab_separated(path, 2)
        self._answers = {label: self._decode(text, path, line) for line, (label, text) in rows}

    def split(self, name: str, file: str, layout: str) -> Split:
        """Read the questions of a file; `layout` names its fields."""
        path, fields = need_file(self._folder, file), layout.split()
        queries: dict[str, str] = {}
        qrels: Qrels = {}
        pools: dict[str, tuple[str, ...]] = {}
        for number, (line, values) in enumerate(tab_separated(path, len(fields))):
            row, query_id = dict(zip(fields, values, strict=True)), f"{name}-{number}"
            queries[query_id] = self._decode(row["text"], path, line)
            qrels[query_id] = dict.fromkeys(row["truth"].split(), 1)
            if "pool" in row:
                pools[query_id] = tuple(dict.fromkeys(row["pool"].split()))
        return collection_split(name, queries, self._answers, qrels, pools or None, source=path)

    def _decode(self, text: str, path: Path, line: int) -> str:
        try:
            return " ".join(self._words[index] for index in text.split())
        except KeyError as error:
            message = f"{error.args[0]!r} is not in vocabulary"
            raise DataError(message, path=path, line=line) from None


READERS.add("insuranceqa-v1", release("answers.label.token_idx*", read_insuranceqa_v1))
READERS.add("insuranceqa-v2", release("InsuranceQA.label2answer.*", read_insuranceqa_v2))
