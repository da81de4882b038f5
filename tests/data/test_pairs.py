"""Pair files: every format gives the same rows, every kind of damage its own message."""

import csv
import gzip
import json
import re
import tracemalloc

import pyarrow as arrow
import pyarrow.parquet as parquet
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from matchwork.data import Columns, PairRow, read_pairs, read_split
from matchwork.errors import DataError

NAMES = ["query_id", "query", "document_id", "document", "label"]
ROWS = [
    ("Q1", 'a "quoted" question', "D1", "first, with a comma", 1),
    ("Q1", 'a "quoted" question', "D2", "", 0),
    ("Q2", "größe\u2028\x85 ok", "D1", "first, with a comma", 2),
]


def write(path, rows, names=NAMES):
    """Write rows in the format of the path, with nothing of the library under test."""
    suffixes = path.name.split(".")[1:]
    if suffixes == ["parquet"]:
        columns = zip(*rows, strict=True)
        parquet.write_table(arrow.table(dict(zip(names, map(list, columns), strict=True))), path)
        return path
    open_text = gzip.open if suffixes[-1] == "gz" else open
    with open_text(path, "wt", encoding="utf-8", newline="") as stream:
        if suffixes[0] == "jsonl":
            for row in rows:
                record = dict(zip(names, row, strict=True))
                stream.write(json.dumps(record, ensure_ascii=False) + "\n")
        elif suffixes[0] == "csv":
            csv.writer(stream).writerows([names, *rows])
        else:
            stream.writelines("\t".join(map(str, row)) + "\n" for row in [names, *rows])
    return path


@pytest.mark.parametrize(
    "name", ["a.tsv", "a.tsv.gz", "a.csv", "a.csv.gz", "a.jsonl", "a.jsonl.gz", "a.parquet"]
)
def test_every_format_gives_the_same_rows(tmp_path, name):
    rows = list(read_pairs(write(tmp_path / name, ROWS)))
    expected = [(query, document, label, q, d) for q, query, d, document, label in ROWS]
    assert [row[1:] for row in rows] == expected
    first = 1 if name.startswith(("a.jsonl", "a.parquet")) else 2
    assert [row.line for row in rows] == [first, first + 1, first + 2]


def test_format_can_be_named_and_need_not_be_in_the_suffix(tmp_path):
    path = write(tmp_path / "a.tsv", ROWS)
    path = path.rename(tmp_path / "pairs.txt")
    assert len(list(read_pairs(path, format="tsv"))) == 3
    with pytest.raises(DataError, match=r"cannot tell the format from the suffix '\.txt'"):
        read_pairs(path)
    with pytest.raises(DataError, match=r"no format 'tvs'; did you mean 'tsv'\?"):
        read_pairs(path, format="tvs")


@pytest.mark.parametrize("name", ["a.tsv", "a.csv", "a.jsonl.gz", "a.parquet"])
def test_memory_does_not_grow_with_the_file(tmp_path, name):
    rows = [
        (f"Q{i}", "some words " * 5, f"D{i}", f"{i} more words " * 20, 1) for i in range(20_000)
    ]
    path = write(tmp_path / name, rows)
    tracemalloc.start()
    try:
        assert sum(1 for _ in read_pairs(path)) == len(rows)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 4e6 < sum(len(row[3]) for row in rows)


TEXT = st.text(st.characters(blacklist_categories=("Cs",)), max_size=30)
# What a TSV cannot hold (it has no quoting): tabs and line ends inside a text.
PLAIN = TEXT.map(lambda text: re.sub(r"[\t\n\r]", " ", text))


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.tuples(PLAIN, PLAIN, st.integers(0, 4)), min_size=1), st.booleans())
def test_tsv_round_trip(tmp_path, rows, packed):
    path = tmp_path / ("a.tsv.gz" if packed else "a.tsv")
    write(path, rows, ["query", "document", "label"])
    assert [(r.query, r.document, r.label) for r in read_pairs(path)] == rows


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.tuples(TEXT, TEXT, st.integers(0, 4)), min_size=1))
def test_jsonl_and_parquet_hold_any_text(tmp_path, rows):
    for name in ("a.jsonl", "a.parquet"):
        write(tmp_path / name, rows, ["query", "document", "label"])
        assert [(r.query, r.document, r.label) for r in read_pairs(tmp_path / name)] == rows


def test_csv_records_may_run_over_lines(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text('query,doc,label\n"two\nlines","say ""hi""",1\nnext,row,x\n')
    rows = read_pairs(path)
    assert next(rows) == PairRow(2, "two\nlines", 'say "hi"', 1, None, None)
    with pytest.raises(DataError, match=r"a\.csv, line 4, column 'label'.*'x'"):
        next(rows)


def test_long_csv_fields_and_byte_order_mark(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("query,doc,label\nq," + "x" * 200_000 + ",1\n", encoding="utf-8-sig")
    assert len(next(read_pairs(path)).document) == 200_000


@pytest.mark.parametrize(
    "text", ["query\tdoc\tlabel\r\na\tb\t1\r\n", "query\tdoc\tlabel\n\na\tb\t1"]
)
def test_line_ends_and_blank_lines(tmp_path, text):
    path = tmp_path / "a.tsv"
    path.write_bytes(text.encode())
    (row,) = read_pairs(path)
    assert row[1:4] == ("a", "b", 1)


@pytest.mark.parametrize(
    "header",
    ["question\tanswer\trelevance", "Query\tPassage\tLabel", "question1\tquestion2\tis_duplicate"],
)
def test_usual_column_names(tmp_path, header):
    path = tmp_path / "a.tsv"
    path.write_text(f"{header}\na\tb\t1\n")
    assert next(read_pairs(path))[1:4] == ("a", "b", 1)


def test_columns_can_be_named(tmp_path):
    path = tmp_path / "a.tsv"
    path.write_text("left\tright\tquery\ty\na\tb\tc\t1\n")
    row = next(read_pairs(path, Columns(query="left", document="right", label="y")))
    assert row[1:4] == ("a", "b", 1)
    with pytest.raises(DataError, match=r"column 'lef': no such column.*did you mean 'left'\?"):
        read_pairs(path, Columns(query="lef"))


def test_label_is_optional_for_scoring_only(tmp_path):
    path = tmp_path / "a.tsv"
    path.write_text("query\tdoc\na\tb\n")
    assert next(read_pairs(path, require_label=False)).label is None
    assert read_split(path, "all", require_label=False).qrels == {}
    with pytest.raises(DataError, match=r"line 1, column 'label'.*the file has 'query', 'doc'"):
        read_pairs(path)


@pytest.mark.parametrize(("value", "label"), [("1", 1), ("1.0", 1), ("0", 0), ("3", 3)])
def test_labels(tmp_path, value, label):
    path = tmp_path / "a.tsv"
    path.write_text(f"query\tdoc\tlabel\na\tb\t{value}\n")
    assert next(read_pairs(path)).label == label


@pytest.mark.parametrize("value", ["yes", "", "-1", "0.5", "nan", "inf"])
def test_wrong_label(tmp_path, value):
    path = tmp_path / "a.tsv"
    path.write_text(f"query\tdoc\tlabel\na\tb\t1\nc\td\t{value}\n")
    message = rf"a\.tsv, line 3, column 'label': expected a whole number.*found '{value}'"
    with pytest.raises(DataError, match=message):
        list(read_pairs(path))


def test_json_labels_and_ids_may_be_numbers(tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_text('{"query": "a", "doc": "b", "label": true, "qid": 7}\n')
    assert next(read_pairs(path)) == PairRow(1, "a", "b", 1, "7", None)


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.tsv", b"query\tdoc\tlabel\na\tb\n", "line 2: expected 3 fields, found 2"),
        ("a.csv", b"query,doc,label\na,b,1,2\n", "line 2: expected 3 fields, found 4"),
        ("a.csv", b'query,doc,label\na,"b,1\n', "line 2: broken CSV quoting"),
        ("a.tsv", b"query\tdoc\tlabel\na\tb\xff\t1\n", r"line 2: byte 4 \(0xff\) is not UTF-8"),
        ("a.tsv", b"", "the file is empty"),
        ("a.jsonl", b"\n", "the file is empty"),
        ("a.tsv", b"query\tdoc\tlabel\n", "column names but no rows"),
        ("a.tsv", b"query\tdoc\tdoc\na\tb\tc\n", r"not unique: \['doc'\]"),
        ("a.tsv", b"query\tdoc\tlabel\tqid\na\tb\t1\t\n", "line 2, column 'qid': expected an id"),
        ("a.jsonl", b'{"query": "a"\n', "line 1: not valid JSON"),
        ("a.jsonl", b"[1]\n", "line 1: expected one JSON object a line"),
        (
            "a.jsonl",
            b'{"query": "a", "doc": "b", "label": 1}\n{"query": 3, "doc": "b", "label": 1}\n',
            "line 2, column 'query': expected a text, found 3",
        ),
        (
            "a.jsonl",
            b'{"query": "a", "doc": "b", "label": 1}\n{"query": "a", "label": 1}\n',
            "line 2, column 'doc': expected a text, found None",
        ),
        ("a.tsv.gz", b"query\tdoc\tlabel\n", "gzip data is damaged"),
        ("a.parquet", b"query", "not a Parquet file"),
    ],
)
def test_damage_is_named(tmp_path, name, content, message):
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(DataError, match=rf"{re.escape(name)}.*{message}"):
        list(read_pairs(path))


def test_truncated_gzip(tmp_path):
    path = write(tmp_path / "a.tsv.gz", ROWS * 5000)
    path.write_bytes(path.read_bytes()[:-200])
    with pytest.raises(DataError, match=r"damaged or cut short after line \d+"):
        list(read_pairs(path))


def test_truncated_parquet(tmp_path):
    path = write(tmp_path / "a.parquet", ROWS)
    path.write_bytes(path.read_bytes()[:-20])
    with pytest.raises(DataError, match="not a Parquet file"):
        read_pairs(path)


@pytest.mark.parametrize("name", ["a.tsv", "a.tsv.gz", "a.parquet"])
def test_missing_file(tmp_path, name):
    with pytest.raises(DataError, match=rf"{re.escape(name)}: no such file"):
        read_pairs(tmp_path / name)


def test_split_keeps_given_ids(tmp_path):
    split = read_split(write(tmp_path / "a.tsv", ROWS), "train")
    assert split.queries == {"Q1": ROWS[0][1], "Q2": ROWS[2][1]}
    assert split.candidates == {"Q1": ("D1", "D2"), "Q2": ("D1",)}
    assert split.qrels == {"Q1": {"D1": 1, "D2": 0}, "Q2": {"D1": 2}}
    assert [(p.query_id, p.document_id, p.label) for p in split.pairs()] == [
        ("Q1", "D1", 1),
        ("Q1", "D2", 0),
        ("Q2", "D1", 2),
    ]


def test_split_makes_absent_ids(tmp_path):
    path = tmp_path / "a.tsv"
    path.write_text("query\tdoc\tlabel\na\tx\t1\nb\tx\t0\na\tx\t1\n")
    split = read_split(path, "train")
    assert split.queries == {"q1": "a", "q2": "b"}
    assert split.candidates == {"q1": ("d1", "d3"), "q2": ("d2",)}


def test_a_pair_listed_again_is_kept_apart_with_its_own_label(tmp_path):
    rows = [("Q", "a", "D", "x", 1), ("Q", "a", "D", "x", 0), ("Q", "a", "D", "x", 1)]
    split = read_split(write(tmp_path / "a.tsv", rows), "train")
    assert split.qrels == {"Q": {"D": 1, "D#2": 0, "D#3": 1}}
    assert set(split.documents.values()) == {"x"}


@pytest.mark.parametrize(
    ("second", "message"),
    [
        (("Q", "b", "E", "y", 0), "line 3: query id 'Q' has another text than in line 2: 'b'"),
        (("P", "b", "D", "y", 0), "line 3: document id 'D' has another text than in line 2: 'y'"),
    ],
)
def test_an_id_with_two_texts_is_an_error(tmp_path, second, message):
    path = write(tmp_path / "a.tsv", [("Q", "a", "D", "x", 1), second])
    with pytest.raises(DataError, match=message):
        read_split(path, "train")


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.lists(
        st.tuples(st.sampled_from("ab"), st.sampled_from("xyz"), st.integers(0, 1)), min_size=1
    ),
    st.booleans(),
)
def test_no_row_is_lost(tmp_path, rows, with_ids):
    path = tmp_path / "a.tsv"
    if with_ids:
        named = [(f"Q{q}", q, f"D{d}", d, label) for q, d, label in rows]
        write(path, named)
    else:
        write(path, rows, ["query", "document", "label"])
    pairs = [(p.query, p.document, p.label) for p in read_split(path, "all").pairs()]
    # A split groups by query; inside a query the order is the file's.
    first_seen = list(dict.fromkeys(q for q, _, _ in rows))
    assert pairs == sorted(rows, key=lambda row: first_seen.index(row[0]))
