"""The files of well-known releases as their authors packed them: folder in, `Dataset` out.

`LAYOUTS` knows each by a file only it has, so that a folder can be opened without naming it.
"""

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path

from matchwork.data.collection import collection_split
from matchwork.data.dataset import Dataset, Split
from matchwork.data.formats import Columns, PairRow, build_split, read_split, to_label
from matchwork.data.tables import numbered_lines, quoted, tab_separated, with_header
from matchwork.data.trec import read_qrels
from matchwork.errors import DataError
from matchwork.types import Qrels

CLASSIFICATION = ("Accuracy", "F1", "macro-F1")


def read_wikiqa(folder: str | Path) -> Dataset:
    """`WikiQA-{train,dev,test}.tsv`: questions and the sentences of one page each."""
    columns = Columns(
        query="Question",
        document="Sentence",
        label="Label",
        query_id="QuestionID",
        document_id="SentenceID",
    )
    splits = {
        name: read_split(_need(Path(folder), f"WikiQA-{name}.tsv"), name, columns)
        for name in ("train", "dev", "test")
    }
    return Dataset("wikiqa", splits, protocol="has-positive")


def read_hcan(folder: str | Path) -> Dataset:
    """One folder a split, with `a.toks`, `b.toks`, `sim.txt` and perhaps `id.txt`, line by line.

    A line of `id.txt` is a query id, or a TREC run line (the microblog sets), whose third field
    is the document id.
    """
    folder = Path(folder)
    parts = sorted(path.parent for path in folder.glob("*/a.toks*"))
    if not parts:
        raise DataError("no folder in it holds a.toks, b.toks and sim.txt", path=folder)
    splits = {part.name: build_split(part.name, _hcan_rows(part), part) for part in parts}
    return Dataset(folder.name, splits, protocol="has-positive")


def read_insuranceqa_v1(folder: str | Path) -> Dataset:
    """`answers.label.token_idx` and the `question.*` files, decoded with `vocabulary`."""
    folder = Path(folder)
    words = _vocabulary(folder)
    answers = {
        label: _decode(text, words, folder / "answers.label.token_idx", line)
        for line, (label, text) in tab_separated(_need(folder, "answers.label.token_idx"), 2)
    }
    train_file = _need(folder, "question.train.token_idx.label")
    train = (
        _Question(_decode(text, words, train_file, line), truth.split(), None)
        for line, (text, truth) in tab_separated(train_file, 2)
    )
    splits = {"train": _question_split("train", train, answers, train_file)}
    for name in ("dev", "test1", "test2"):
        path = _need(folder, f"question.{name}.label.token_idx.pool")
        questions = (
            _Question(_decode(text, words, path, line), truth.split(), pool.split())
            for line, (truth, text, pool) in tab_separated(path, 3)
        )
        splits[name] = _question_split(name, questions, answers, path)
    return Dataset("insuranceqa-v1", splits, measures=("P@1", "RR", "AP"))


def read_insuranceqa_v2(
    folder: str | Path, pool: int = 500, tokenization: str = "token"
) -> Dataset:
    """`InsuranceQA.label2answer.*` and `InsuranceQA.question.anslabel.*`, decoded.

    `pool` is the number of Solr candidates in the file names (100, 500, 1000 or 1500),
    `tokenization` is `token` (lower-cased) or `raw`. The release calls its dev split `valid`.
    """
    folder = Path(folder)
    words = _vocabulary(folder)
    answers_file = _need(folder, f"InsuranceQA.label2answer.{tokenization}.encoded")
    answers = {
        label: _decode(text, words, answers_file, line)
        for line, (label, text) in tab_separated(answers_file, 2)
    }
    splits = {}
    for name, theirs in (("train", "train"), ("dev", "valid"), ("test", "test")):
        stem = f"InsuranceQA.question.anslabel.{tokenization}.{pool}.pool.solr.{theirs}.encoded"
        path = _need(folder, stem)
        questions = (
            _Question(_decode(text, words, path, line), truth.split(), ids.split())
            for line, (_, text, truth, ids) in tab_separated(path, 4)
        )
        splits[name] = _question_split(name, questions, answers, path)
    return Dataset("insuranceqa-v2", splits, measures=("P@1", "RR", "AP"))


def read_quora(folder: str | Path) -> Dataset:
    """The original `quora_duplicate_questions.tsv`, which is quoted and has no splits."""
    path = _need(Path(folder), "quora_duplicate_questions.tsv")
    table = with_header(path, quoted(path, "\t"))
    wanted = ("question1", "question2", "is_duplicate", "id")
    if not set(wanted) <= set(table.names):
        raise DataError(f"expected the columns {wanted}, found {table.names}", path=path, line=1)
    rows = (_question_pair(path, line, *map(str, values)) for line, values in table.select(wanted))
    splits = {"all": build_split("all", rows, path)}
    return Dataset("quora", splits, task="classification", measures=CLASSIFICATION)


def read_quora_bimpm(folder: str | Path) -> Dataset:
    """The BiMPM partition: `{train,dev,test}.tsv` of label, question, question, id; no header."""
    splits = {}
    for name in ("train", "dev", "test"):
        path = _need(Path(folder), f"{name}.tsv")
        rows = (
            _question_pair(path, line, query, document, label, id)
            for line, (label, query, document, id) in tab_separated(path, 4)
        )
        splits[name] = build_split(name, rows, path)
    return Dataset("quora", splits, task="classification", measures=CLASSIFICATION)


def read_msmarco(folder: str | Path) -> Dataset:
    """MS MARCO passages: `collection.tsv`, `queries.*.tsv`, `qrels.*.tsv`, perhaps `top1000.dev`.

    Train keeps the judged queries; dev is `dev.small`. The whole collection is held in memory
    (about 5 GB for the 8.8 million passages of the release).
    """
    folder = Path(folder)
    documents = _id_and_text(_need(folder, "collection.tsv"))
    pools_file = _find(folder, "top1000.dev") or _find(folder, "top1000.dev.tsv")
    splits = {}
    for name, theirs in (("train", "train"), ("dev", "dev.small")):
        path = _need(folder, f"queries.{theirs}.tsv")
        qrels = read_qrels(_need(folder, f"qrels.{theirs}.tsv"))
        queries = {id: text for id, text in _id_and_text(path).items() if id in qrels}
        pools = _top_1000(pools_file, queries) if pools_file and name == "dev" else None
        splits[name] = collection_split(name, queries, documents, qrels, pools, source=path)
    return Dataset("msmarco-passage", splits, measures=("RR@10",))


@dataclass(frozen=True)
class Layout:
    """A release and the file (a glob) that gives it away."""

    marker: str
    read: Callable[[Path], Dataset]


LAYOUTS: Mapping[str, Layout] = {
    "wikiqa": Layout("WikiQA-train.tsv*", read_wikiqa),
    "hcan": Layout("*/a.toks*", read_hcan),
    "insuranceqa-v1": Layout("answers.label.token_idx*", read_insuranceqa_v1),
    "insuranceqa-v2": Layout("InsuranceQA.label2answer.*", read_insuranceqa_v2),
    "quora": Layout("quora_duplicate_questions.tsv*", read_quora),
    "msmarco-passage": Layout("collection.tsv*", read_msmarco),
}
"""The releases a folder can be recognised as; BiMPM's Quora looks like plain pair files."""


@dataclass(frozen=True)
class _Question:
    text: str
    truth: list[str]
    pool: list[str] | None


def _find(folder: Path, name: str) -> Path | None:
    return next((path for path in (folder / name, folder / f"{name}.gz") if path.is_file()), None)


def _need(folder: Path, name: str) -> Path:
    path = _find(folder, name)
    if path is None:
        raise DataError(f"no file {name} (or {name}.gz) in the folder", path=folder)
    return path


def _hcan_rows(part: Path) -> Iterator[PairRow]:
    queries, documents, labels = (
        numbered_lines(_need(part, name)) for name in ("a.toks", "b.toks", "sim.txt")
    )
    id_file = _find(part, "id.txt")
    ids = numbered_lines(id_file) if id_file else None
    for query, document, label in zip_longest(queries, documents, labels):
        if query is None or document is None or label is None:
            raise DataError("a.toks, b.toks and sim.txt differ in their number of lines", path=part)
        line = query[0]
        grade = to_label(label[1], part / "sim.txt", line, "sim")
        fields = next(ids, (line, ""))[1].split() if ids else []
        if id_file and not fields:
            raise DataError(
                "expected an id, found an empty line or the end", path=id_file, line=line
            )
        yield PairRow(
            line,
            query[1],
            document[1],
            grade,
            fields[0] if fields else None,
            fields[2] if len(fields) > 2 else None,
        )


def _question_pair(
    path: Path, line: int, query: str, document: str, label: str, id: str
) -> PairRow:
    """A pair is its own query: neither question is a candidate of the other's pairs."""
    grade = to_label(label, path, line, "label")
    return PairRow(line, query, document, grade, f"{id}-a", f"{id}-b")


def _vocabulary(folder: Path) -> dict[str, str]:
    return {index: word for _, (index, word) in tab_separated(_need(folder, "vocabulary"), 2)}


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


def _id_and_text(path: Path) -> dict[str, str]:
    return {id: text for _, (id, text) in tab_separated(path, 2)}


def _top_1000(path: Path, queries: Mapping[str, str]) -> dict[str, tuple[str, ...]]:
    pools: defaultdict[str, dict[str, None]] = defaultdict(dict)
    for _, (query_id, document_id, _, _) in tab_separated(path, 4):
        if query_id in queries:
            pools[query_id][document_id] = None
    return {query_id: tuple(pool) for query_id, pool in pools.items()}
