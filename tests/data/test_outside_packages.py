"""Data sets, readers and table formats of a package outside the tree, one file each."""

import sys

import pytest

from matchwork.data import CATALOGUE, FORMATS, READERS, load
from matchwork.errors import DataError
from matchwork.plugins import import_plugins

DATA_SET = """
from matchwork.data import CATALOGUE, CatalogueEntry, Counts

CATALOGUE.add(
    "rivers",
    CatalogueEntry(
        title="Rivers", licence="CC0", folder="rivers", splits={"test": Counts(1, 2, 1)}
    ),
)
"""
READER = """
from matchwork.data import Dataset, READERS, Reader, Split

def read(folder, splits, columns):
    query, document = (folder / "only.pair").read_text().split("|")
    split = Split("test", {"q": query}, {"d": document}, {"q": {"d": 1}}, {"q": ("d",)})
    return Dataset("one", {"test": split})

READERS.add("one-pair", Reader(lambda folder: (folder / "only.pair").is_file(), read))
"""
FORMAT = """
from matchwork.data import FORMATS, TableFormat
from matchwork.data.tables import quoted, with_header

FORMATS.add("psv", TableFormat(lambda path: with_header(path, quoted(path, "|"))))
"""


@pytest.fixture
def add(tmp_path, monkeypatch):
    """Import a module from outside the tree; everything that it registers is gone afterwards."""
    for registry in (CATALOGUE, READERS, FORMATS):
        monkeypatch.setattr(registry, "_entries", dict(registry._entries))
    monkeypatch.syspath_prepend(tmp_path)

    def add(code):
        (tmp_path / "outside_package.py").write_text(code)
        import_plugins(["outside_package"])

    yield add
    sys.modules.pop("outside_package", None)


def test_a_data_set(add, tmp_path):
    add(DATA_SET)
    folder = tmp_path / "rivers"
    folder.mkdir()
    (folder / "test.tsv").write_text("query\tdocument\tlabel\na\tb\t1\na\tc\t0\n")
    assert load("rivers", tmp_path)["test"].top_label == 1
    (folder / "test.tsv").write_text("query\tdocument\tlabel\na\tb\t1\n")
    with pytest.raises(DataError, match="expected 2 judgements, found 1"):
        load("rivers", tmp_path)


def test_a_reader(add, tmp_path):
    add(READER)
    (tmp_path / "only.pair").write_text("a question|its answer")
    assert load(tmp_path)["test"].documents == {"d": "its answer"}
    assert READERS["one-pair"].read(tmp_path, None, None)["test"].queries == {"q": "a question"}


def test_a_table_format(add, tmp_path):
    add(FORMAT)
    (tmp_path / "mine.psv").write_text("query|document|label\na|b|1\n")
    assert load(tmp_path / "mine.psv")["mine"].queries == {"q1": "a"}
