"""Names, options and counts of the catalogue; folders and files of one's own."""

import gzip
import os
from pathlib import Path

import pytest

from matchwork.data import CATALOGUE, Columns, Counts, count, load, toy
from matchwork.data.catalogue import CatalogueEntry
from matchwork.data.pairs import read_pair_files
from matchwork.data.sets.twitterurl import twitterurl
from matchwork.errors import ConfigError, DataError, UnknownNameError

SHARED = os.environ.get("MATCHWORK_DATA", "")
needs_shared_data = pytest.mark.skipif(
    not (SHARED and Path(SHARED).is_dir()), reason="MATCHWORK_DATA is not set"
)
HEADER = "query_id\tquery\tdoc_id\tdoc\tlabel\n"


def write(folder, files):
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in files.items():
        data = text.encode()
        (folder / name).write_bytes(gzip.compress(data) if name.endswith(".gz") else data)
    return folder


@pytest.fixture
def small_set(monkeypatch):
    """An entry of two pairs, gone again after the test."""
    entry = CatalogueEntry(
        title="two pairs",
        licence="none",
        folder="small",
        splits={"train": Counts(1, 2, 1), "dev-clean": Counts(1, 2, 1)},
        protocol="has-positive",
        options={"pool": ("near", "far"), "deep": (False, True)},
        read=lambda folder, names, **options: read_pair_files(folder, names),
    )
    monkeypatch.setitem(CATALOGUE._entries, "small", entry)


@pytest.fixture
def root(tmp_path):
    rows = HEADER + "q\twhat\tx\tthis\t1\nq\twhat\ty\tthat\t0\n"
    write(tmp_path / "small", {"train.tsv.gz": rows, "dev_clean.tsv": rows})
    return tmp_path


def test_load_by_name(small_set, root):
    dataset = load("small", root)
    assert list(dataset.splits) == ["train", "dev-clean"]
    assert dataset["dev-clean"].name == "dev-clean"
    assert dataset.protocol == "has-positive"
    assert dataset.licence == "none"
    assert dataset.options == {"pool": "near", "deep": False}
    assert load("small", root, pool="far").options["pool"] == "far"


def test_root_from_the_environment(small_set, root, monkeypatch):
    monkeypatch.setenv("MATCHWORK_DATA", str(root))
    assert list(load("small", splits=["train"]).splits) == ["train"]
    monkeypatch.delenv("MATCHWORK_DATA")
    with pytest.raises(ConfigError, match=r"set MATCHWORK_DATA.*small/.*--data-root"):
        load("small")


def test_only_the_splits_asked_for_are_read(small_set, root):
    (root / "small" / "train.tsv.gz").write_bytes(b"broken")
    assert list(load("small", root, ["dev-clean"]).splits) == ["dev-clean"]
    with pytest.raises(DataError, match=r"no split 'dev-clen'; did you mean 'dev-clean'\?"):
        load("small", root, ["dev-clen"])


def test_missing_folder(small_set, tmp_path):
    with pytest.raises(DataError, match="small: no such folder; data set 'small'"):
        load("small", tmp_path)


def test_missing_file(small_set, root):
    (root / "small" / "dev_clean.tsv").unlink()
    with pytest.raises(DataError, match=r"no file dev_clean\.tsv"):
        load("small", root)


def test_counts_are_checked(small_set, root):
    write(root / "small", {"train.tsv.gz": HEADER + "q\twhat\tx\tthis\t0\n"})
    message = "split 'train': expected 2 judgements, found 1; expected 1 positives, found 0"
    with pytest.raises(DataError, match=message):
        load("small", root)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"pol": "far"}, r"data set 'small' has no option 'pol'; did you mean 'pool'\?"),
        ({"pool": "middle"}, "pool = 'middle'; it is one of 'near', 'far'"),
        ({"deep": "yes"}, "deep = 'yes'; it is one of False, True"),
        ({"deep": 1}, "deep = 1; it is one of"),
    ],
)
def test_options_are_checked(small_set, root, options, message):
    with pytest.raises(ConfigError, match=message):
        load("small", root, **options)


def test_unknown_name():
    with pytest.raises(DataError, match=r"no data set is named 'wikqa'.*did you mean 'wikiqa'\?"):
        load("wikqa")
    with pytest.raises(UnknownNameError, match="no data set named 'wikqa'"):
        CATALOGUE["wikqa"]


def test_every_entry_tells_what_a_reader_must_know():
    assert {"wikiqa", "trecqa", "insuranceqa-v2", "twitterurl", "quora"} <= set(CATALOGUE)
    assert {"trec-microblog", "pubmed", "yodaqa", "cranfield", "pydocs", "toy"} <= set(CATALOGUE)
    for name in CATALOGUE:
        entry = CATALOGUE[name]
        assert entry.title and entry.licence and entry.splits
        assert bool(entry.folder) != bool(entry.build), name
        if entry.folder:
            assert all(entry.splits.values()), f"{name} has no expected counts"


def test_twitterurl_dev_is_cut_by_anchor(tmp_path):
    rows = "".join(f"a{i // 3}\tanchor {i // 3}\tb{i}\ttweet {i}\t{i % 2}\n" for i in range(900))
    write(tmp_path, {"train.tsv": HEADER + rows, "test.tsv": HEADER + rows})
    splits = twitterurl(tmp_path, ["train", "dev", "test"])
    train, dev = set(splits["train"].queries), set(splits["dev"].queries)
    assert train.isdisjoint(dev)
    assert train | dev == set(splits["test"].queries)
    assert 0.05 < len(dev) / 300 < 0.15
    assert twitterurl(tmp_path, ["dev"])["dev"] == splits["dev"]


def test_pair_file_of_ones_own(tmp_path):
    write(tmp_path, {"mine.tsv.gz": "left\tright\tlabel\na\tb\t1\n"})
    dataset = load(tmp_path / "mine.tsv.gz", columns=Columns(query="left", document="right"))
    assert dataset.name == "mine"
    assert dataset["mine"].queries == {"q1": "a"}
    with pytest.raises(ConfigError, match="has no option 'pool'"):
        load(tmp_path / "mine.tsv.gz", pool="full")


def test_a_path_is_never_taken_for_a_name(tmp_path, monkeypatch):
    write(tmp_path / "toy", {"train.tsv": HEADER + "q\ta\td\tb\t1\n"})
    monkeypatch.chdir(tmp_path)
    assert list(load(Path("toy")).splits) == ["train"]
    assert len(load("toy").splits) == 3


def test_folder_of_pair_files(tmp_path):
    jsonl = '{"query": "a", "document": "b", "label": 1}\n'
    write(tmp_path, {"train.tsv": HEADER + "q\ta\td\tb\t1\n", "valid.jsonl": jsonl})
    dataset = load(str(tmp_path))
    assert list(dataset.splits) == ["train", "dev"]
    with pytest.raises(DataError, match=r"data set .* has no split 'tran'; did you mean 'train'\?"):
        dataset["tran"]
    with pytest.raises(DataError, match="no split 'test'"):
        load(tmp_path, splits=["test"])


def test_folder_of_a_collection(tmp_path):
    write(
        tmp_path,
        {
            "corpus.tsv": "doc_id\tdoc\n1\ta text\n",
            "queries.test.tsv": "query_id\tquery\nq\twhat\n",
            "qrels.test.txt": "q 0 1 1\n",
        },
    )
    assert load(tmp_path)["test"].documents == {"1": "a text"}


def test_folder_with_nothing_in_it(tmp_path):
    with pytest.raises(DataError, match=r"no data recognised.*BEIR.*wikiqa"):
        load(tmp_path)


def test_toy():
    dataset = load("toy", splits=["train", "test"])
    assert list(dataset.splits) == ["train", "test"]
    assert {name: count(split).queries for name, split in toy().splits.items()} == {
        "train": 12,
        "dev": 6,
        "test": 6,
    }
    for split in toy().splits.values():
        assert all(sum(grades.values()) == 1 for grades in split.qrels.values())
        texts = [pair.document for pair in split.pairs()]
        assert len(set(texts)) == len(texts) == 4 * len(split.queries)
        places = [pool.index(f"{query_id}-a") for query_id, pool in split.candidates.items()]
        assert set(places) == {0, 1, 2, 3}


@needs_shared_data
@pytest.mark.shared_data
@pytest.mark.parametrize("name", [name for name in CATALOGUE if CATALOGUE[name].folder])
def test_real_data_holds_the_expected_counts(name):
    dataset = load(name, SHARED)
    assert list(dataset.splits) == list(CATALOGUE[name].splits)
    for split in dataset.splits.values():
        assert next(split.pairs()).query


@needs_shared_data
@pytest.mark.shared_data
def test_real_options():
    def pairs_and_positives(**options):
        split = load("insuranceqa-v2", SHARED, ["test"], **options)["test"]
        hits = sum(
            any(split.label(query_id, id) for id in pool)
            for query_id, pool in split.candidates.items()
        )
        return count(split).candidates, hits

    # The recalls of the release's own README.
    assert pairs_and_positives() == (1_000_000, 1625)
    assert pairs_and_positives(pool="pool100") == (200_000, 1323)
    assert pairs_and_positives(insert_truth=True)[1] == 2000
    assert load("insuranceqa-v2", SHARED, ["test"], pool="full")["test"].candidates is None
    assert len(load("pubmed", SHARED, ["test"])["test"].documents) == 3622
    assert len(load("pubmed", SHARED, ["test"], pool="full")["test"].documents) == 36225


@needs_shared_data
@pytest.mark.shared_data
def test_real_microblog_year():
    year = load("trec-microblog", SHARED, ["2011"])["2011"]
    assert sum(pair.label > 0 for pair in year.pairs()) == 2083
    assert {id: tuple(scores) for id, scores in year.runs["QL"].items()} == year.candidates
    assert min(grade for judged in year.qrels.values() for grade in judged.values()) == 0
