from dataclasses import replace
from pathlib import Path

import pytest

from matchwork.data import Split, load
from matchwork.data.partition import cut_by_query, share_of, tenth
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


@pytest.mark.parametrize("task", ["ranking", "classification", "regression"])
def test_shares_are_as_large_as_asked_and_lie_within_each_other(task) -> None:
    whole = replace(pair_split(100), label_scale=4.0, runs={"QL": {"q1": {"d1": 2.0}}})
    labels = {(row.query_id, row.document_id): row.label for row in whole.pairs()}
    inner: set[tuple[str, str]] = set()
    for share in (0.2, 0.4, 0.6, 0.8, 1.0):
        part = share_of(whole, share, task)
        rows = {(row.query_id, row.document_id): row.label for row in part.pairs()}
        assert len(rows) == round(share * 200) and inner <= rows.keys()
        assert all(labels[key] == label for key, label in rows.items())
        assert (part.name, part.label_scale) == ("pairs", 4.0)
        # nothing of the rest is left, not even a text
        assert part.queries.keys() == {query for query, _ in rows}
        assert part.documents.keys() == {document for _, document in rows}
        assert {(q, d) for q, judged in part.qrels.items() for d in judged} <= rows.keys()
        inner = set(rows)
    assert list(part.pairs()) == list(whole.pairs())


def test_a_ranking_keeps_whole_queries_and_a_classification_cuts_them() -> None:
    whole = pair_split(100)
    ranking, pairs = share_of(whole, 0.5, "ranking"), share_of(whole, 0.5, "classification")
    assert len(ranking.queries) == 50 and len(pairs.queries) > 60
    assert all(len(pool) == 2 for pool in ranking.candidates.values())
    assert {len(pool) for pool in pairs.candidates.values()} == {1, 2}


def test_a_share_does_not_depend_on_the_order_of_the_file() -> None:
    whole = pair_split(60)
    turned = replace(whole, queries=dict(reversed(whole.queries.items())))
    assert share_of(whole, 0.3, "ranking").queries == share_of(turned, 0.3, "ranking").queries
