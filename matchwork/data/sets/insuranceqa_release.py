"""InsuranceQA as its authors released it, versions 1 and 2: texts are word numbers to decode."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from matchwork.data.collection import collection_split
from matchwork.data.dataset import Dataset, Split
from matchwork.data.readers import READERS, need_file, release
from matchwork.data.tables import tab_separated
from matchwork.errors import DataError
from matchwork.types import Qrels


def read_insuranceqa_v1(folder: str | Path) -> Dataset:
    """Read `answers.label.token_idx` and the `question.*` files, decoded with `vocabulary`."""
    folder = Path(folder)
    words = _vocabulary(folder)
    answers = {
        label: _decode(text, words, folder / "answers.label.token_idx", line)
        for line, (label, text) in tab_separated(need_file(folder, "answers.label.token_idx"), 2)
    }
    train_file = need_file(folder, "question.train.token_idx.label")
    train = (
        _Question(_decode(text, words, train_file, line), truth.split(), None)
        for line, (text, truth) in tab_separated(train_file, 2)
    )
    splits = {"train": _question_split("train", train, answers, train_file)}
    for name in ("dev", "test1", "test2"):
        path = need_file(folder, f"question.{name}.label.token_idx.pool")
        questions = (
            _Question(_decode(text, words, path, line), truth.split(), pool.split())
            for line, (truth, text, pool) in tab_separated(path, 3)
        )
        splits[name] = _question_split(name, questions, answers, path)
    return Dataset("insuranceqa-v1", splits, measures=("P@1", "RR", "AP"))


def read_insuranceqa_v2(
    folder: str | Path, pool: int = 500, tokenization: str = "token"
) -> Dataset:
    """Read `InsuranceQA.label2answer.*` and `InsuranceQA.question.anslabel.*`, decoded.

    Args:
        folder: Holds the release, which calls its dev split `valid`.
        pool: Number of Solr candidates in the file names (100, 500, 1000 or 1500).
        tokenization: "token" (lower-cased) or "raw".
    """
    folder = Path(folder)
    words = _vocabulary(folder)
    answers_file = need_file(folder, f"InsuranceQA.label2answer.{tokenization}.encoded")
    answers = {
        label: _decode(text, words, answers_file, line)
        for line, (label, text) in tab_separated(answers_file, 2)
    }
    splits = {}
    for name, theirs in (("train", "train"), ("dev", "valid"), ("test", "test")):
        stem = f"InsuranceQA.question.anslabel.{tokenization}.{pool}.pool.solr.{theirs}.encoded"
        path = need_file(folder, stem)
        questions = (
            _Question(_decode(text, words, path, line), truth.split(), ids.split())
            for line, (_, text, truth, ids) in tab_separated(path, 4)
        )
        splits[name] = _question_split(name, questions, answers, path)
    return Dataset("insuranceqa-v2", splits, measures=("P@1", "RR", "AP"))


@dataclass(frozen=True)
class _Question:
    text: str
    truth: list[str]
    pool: list[str] | None


def _vocabulary(folder: Path) -> dict[str, str]:
    return {index: word for _, (index, word) in tab_separated(need_file(folder, "vocabulary"), 2)}


def _decode(text: str, words: Mapping[str, str], path: Path, line: int) -> str:
    try:
        return " ".join(words[index] for index in text.split())
    except KeyError as error:
        raise DataError(f"{error.args[0]!r} is not in vocabulary", path=path, line=line) from None


def _question_split(
    name: str, questions: Iterator[_Question], answers: Mapping[str, str], source: Path
) -> Split:
    queries: dict[str, str] = {}
    qrels: Qrels = {}
    pools: dict[str, tuple[str, ...]] = {}
    for number, question in enumerate(questions):
        query_id = f"{name}-{number}"
        queries[query_id] = question.text
        qrels[query_id] = dict.fromkeys(question.truth, 1)
        if question.pool is not None:
            pools[query_id] = tuple(dict.fromkeys(question.pool))
    return collection_split(name, queries, answers, qrels, pools or None, source=source)


READERS.add("insuranceqa-v1", release("answers.label.token_idx*", read_insuranceqa_v1))
READERS.add("insuranceqa-v2", release("InsuranceQA.label2answer.*", read_insuranceqa_v2))
