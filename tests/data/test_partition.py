from pathlib import Path

import pytest

from matchwork.data import Split, load
from matchwork.data.partition import cut_by_query, tenth
from matchwork.errors import DataError


def pair_split(num_queries: int) -> Split:
    queries = {f"q{i}": f"question number {i}" for i in range(num_queries)}
    documents = {f"d{i}": f"answer {i}" for i in range(num_queries)}
    qrels = {f"q{i}": {f"d{i}": 1} for i in range(num_queries)}
    candidates = {f"q{i}": (f"d{i}", f"d{(i + 1) % num_queries}") for i in range(num_queries)}
    return Split("pairs", queries, documents, qrels, candidates)


def test_parts_are_disjoint_complete_and_of_the_expected_size() -> None:
    whole = pair_split(1000)
    parts = cut_by_query(whole)
    names = [set(part.queries) for part in parts.values()]
    assert set.union(*names) == set(whole.queries)
    assert sum(map(len, names)) == 1000
    assert 740 < len(parts["train"].queries) < 860
    for part in parts.values():
        rows = [row for row in whole.pairs() if row.query_id in part.queries]
        assert list(part.pairs()) == rows


def test_equal_questions_fall_into_the_same_part() -> None:
    assert tenth("Who wrote Hamlet?") == tenth("who wrote  hamlet")
    assert {tenth(f"question {i}") for i in range(200)} == set(range(10))


def test_too_few_queries_say_so() -> None:
    with pytest.raises(DataError, match=r"3 queries are too few .* give a folder with"):
        cut_by_query(pair_split(3))


def test_a_pair_file_is_cut_when_parts_are_asked_for(tmp_path: Path) -> None:
    lines = [f"question number {i}\tanswer {i}\t{j}" for i in range(200) for j in (1, 0)]
    path = tmp_path / "mine.tsv"
    path.write_text("\n".join(["query\tdocument\tlabel", *lines]) + "\n")
    assert list(load(path).splits) == ["mine"]
    parts = load(path, splits=["train", "test"])
    assert list(parts.splits) == ["train", "test"]
    assert not set(parts["train"].queries.values()) & set(parts["test"].queries.values())
