import gzip

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from matchwork.data import read_qrels, read_run, write_qrels, write_run
from matchwork.errors import DataError

IDS = st.text("aZ09_#.-ü", min_size=1, max_size=4)
SCORES = st.floats(allow_nan=False, allow_infinity=False)


def tables(values):
    return st.dictionaries(
        IDS, st.dictionaries(IDS, values, min_size=1, max_size=5), min_size=1, max_size=3
    )


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(tables(SCORES), st.booleans())
def test_run_round_trip(tmp_path, run, packed):
    path = tmp_path / ("a.run.gz" if packed else "a.run")
    write_run(path, run)
    assert read_run(path) == run


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(tables(st.integers(-2, 4)))
def test_qrels_round_trip(tmp_path, qrels):
    write_qrels(tmp_path / "qrels.txt", qrels)
    assert read_qrels(tmp_path / "qrels.txt") == qrels


def test_run_is_written_best_first(tmp_path):
    path = tmp_path / "a.run"
    write_run(path, {"q": {"low": 0.5, "high": np.float32(2.0), "tied": 0.5}}, tag="bm25")
    assert path.read_text().splitlines() == [
        "q Q0 high 1 2.0 bm25",
        "q Q0 low 2 0.5 bm25",
        "q Q0 tied 3 0.5 bm25",
    ]


def test_the_same_run_gives_the_same_bytes(tmp_path):
    write_run(tmp_path / "a.run.gz", {"q": {"d": 1.0}})
    write_run(tmp_path / "b.run.gz", {"q": {"d": 1.0}})
    assert (tmp_path / "a.run.gz").read_bytes() == (tmp_path / "b.run.gz").read_bytes()
    assert gzip.decompress((tmp_path / "a.run.gz").read_bytes()) == b"q Q0 d 1 1.0 matchwork\n"


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("1 0 d\n", r"line 1: expected 4 fields \(query 0 document grade\), found 3: '1 0 d'"),
        ("1 0 d 1\n1 0 e x\n", "line 2, column 'grade': expected a whole number, found 'x'"),
        ("1 0 d 1\n1 0 d 0\n", r"line 2: document 'd' is listed twice.*\(1 and 0\)"),
        ("\n", "the file holds no judgements"),
    ],
)
def test_qrels_errors(tmp_path, content, message):
    path = tmp_path / "qrels.txt"
    path.write_text(content)
    with pytest.raises(DataError, match=message):
        read_qrels(path)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("1 Q0 d 1 2.0\n", "line 1: expected 6 fields"),
        ("1 Q0 d 1 nan t\n", "line 1, column 'score': expected a finite number, found 'nan'"),
        ("1 Q0 d 1 high t\n", "found 'high'"),
        ("1 Q0 d 1 2 t\n1 Q0 d 2 1 t\n", "line 2: document 'd' is listed twice"),
        ("", "the file holds no ranking"),
    ],
)
def test_run_errors(tmp_path, content, message):
    path = tmp_path / "a.run"
    path.write_text(content)
    with pytest.raises(DataError, match=message):
        read_run(path)


@pytest.mark.parametrize("bad", ["two words", ""])
def test_ids_that_would_break_the_file_are_refused(tmp_path, bad):
    path = tmp_path / "a.run"
    for run in ({bad: {"d": 1.0}}, {"q": {bad: 1.0}}):
        with pytest.raises(DataError, match=f"cannot hold the id '{bad}'"):
            write_run(path, run)
    with pytest.raises(DataError, match=f"tag is one word, got '{bad}'"):
        write_run(path, {"q": {"d": 1.0}}, tag=bad)
    assert not path.exists()


def test_a_score_that_is_no_number_leaves_the_old_file_alone(tmp_path):
    path = tmp_path / "a.run"
    write_run(path, {"q": {"d": 1.0}})
    with pytest.raises(DataError, match="not a number"):
        write_run(path, {"q": {"d": 3.0}, "r": {"d": float("nan")}})
    assert read_run(path) == {"q": {"d": 1.0}}
    assert [file.name for file in tmp_path.iterdir()] == ["a.run"]
