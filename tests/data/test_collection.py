import gzip
import json

import pytest

from matchwork.data import read_beir, read_collection
from matchwork.errors import DataError


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "corpus.tsv").write_text("doc_id\ttitle\tdoc\n1\tCats\tthey purr\n2\t\tno title\n")
    (tmp_path / "queries.dev.tsv").write_text("query_id\tquery\na\twhat purrs\n")
    (tmp_path / "queries.test.tsv").write_text("query_id\tquery\nb\twhat has no title\nc\tx\n")
    (tmp_path / "qrels.dev.txt").write_text("a 0 1 2\na 0 99 1\n")
    (tmp_path / "qrels.test.txt").write_text("b 0 2 1\n")
    return tmp_path


@pytest.fixture
def beir(tmp_path):
    corpus = [{"_id": "1", "title": "Cats", "text": "they purr"}, {"_id": "2", "text": "bare"}]
    with gzip.open(tmp_path / "corpus.jsonl.gz", "wt") as stream:
        stream.writelines(json.dumps(record) + "\n" for record in corpus)
    queries = [{"_id": "a", "text": "what purrs"}, {"_id": "b", "text": "another"}]
    (tmp_path / "queries.jsonl").write_text("".join(json.dumps(q) + "\n" for q in queries))
    (tmp_path / "qrels").mkdir()
    for name, line in (("dev", "b\t2\t1"), ("test", "a\t1\t2")):
        header = "query-id\tcorpus-id\tscore"
        (tmp_path / "qrels" / f"{name}.tsv").write_text(f"{header}\n{line}\n")
    return tmp_path


def test_collection(folder):
    splits = read_collection(folder)
    assert list(splits) == ["dev", "test"]
    assert splits["dev"].documents == {"1": "Cats they purr", "2": "no title"}
    assert splits["test"].queries == {"b": "what has no title", "c": "x"}
    assert splits["test"].candidates is None
    # A judged document that the corpus lacks counts as relevant but is no pair to train on.
    assert splits["dev"].qrels == {"a": {"1": 2, "99": 1}}
    assert [pair.document_id for pair in splits["dev"].pairs()] == ["1"]


def test_collection_with_pools_and_only_the_split_asked_for(folder):
    (folder / "pool.test.tsv").write_text("query_id\tdoc_ids\nb\t2 1\n")
    (folder / "queries.dev.tsv").write_text("broken")
    splits = read_collection(folder, ["test"])
    assert list(splits) == ["test"]
    assert splits["test"].candidates == {"b": ("2", "1")}


def test_collection_without_split_names(folder):
    for kind, suffix in (("queries", "tsv"), ("qrels", "txt")):
        (folder / f"{kind}.dev.{suffix}").unlink()
        (folder / f"{kind}.test.{suffix}").rename(folder / f"{kind}.{suffix}")
    assert list(read_collection(folder)) == ["test"]


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("qrels.dev.txt", "z 0 1 1\n", "name 1 queries that are not.*'z'"),
        ("qrels.dev.txt", "a 0 77 1\n", "no judged document of split 'dev' is in the corpus"),
        ("pool.dev.tsv", "query_id\tdoc_ids\na\t1 77\n", "pool of query 'a' lists"),
        ("pool.dev.tsv", "query_id\tdoc_ids\na\t1 1\n", "pool of query 'a' lists"),
        ("corpus.tsv", "doc_id\tdoc\n1\ta\n1\tb\n", "line 3, column 'doc_id': id '1' is there twi"),
        ("corpus.tsv", "doc_id\tdoc\n\ta\n", "line 2, column 'doc_id': expected an id"),
        ("corpus.tsv", "doc_id\tbody\n1\ta\n", "column 'document': no such column"),
        ("queries.dev.tsv", "query_id\tquery\n", "no rows"),
    ],
)
def test_collection_errors(folder, name, content, message):
    (folder / name).write_text(content)
    with pytest.raises(DataError, match=message):
        read_collection(folder)


@pytest.mark.parametrize("name", ["corpus.tsv", "qrels.dev.txt"])
def test_missing_file(folder, name):
    (folder / name).unlink()
    with pytest.raises(DataError, match=name.removesuffix(".tsv").removesuffix(".txt")):
        read_collection(folder)


def test_unknown_split(folder):
    with pytest.raises(DataError, match=r"no split 'tset'; did you mean 'test'\?"):
        read_collection(folder, ["tset"])


def test_beir(beir):
    splits = read_beir(beir)
    assert list(splits) == ["dev", "test"]
    assert splits["test"].queries == {"a": "what purrs"}
    assert splits["test"].qrels == {"a": {"1": 2}}
    assert splits["test"].documents == {"1": "Cats they purr", "2": "bare"}


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("a\t1\tx", "line 2, column 'score': expected a whole number, found 'x'"),
        ("zz\t1\t1", "name 1 queries that are not.*'zz'"),
    ],
)
def test_beir_errors(beir, line, message):
    (beir / "qrels" / "dev.tsv").write_text(f"query-id\tcorpus-id\tscore\n{line}\n")
    with pytest.raises(DataError, match=message):
        read_beir(beir)
