import json
import os
from itertools import permutations
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from matchwork.audit import check
from matchwork.audit.ranking import expected_average_precision, expected_reciprocal_rank
from matchwork.data import load
from matchwork.data.dataset import Dataset, Split
from matchwork.data.partition import normalise
from matchwork.evaluate import evaluate
from matchwork.evaluate.benchmark import Benchmark
from matchwork.evaluate.measured_split import MeasuredSplit


def split(name, rows, candidates=True):
    """A split from (query, document, label) texts; ids are counted."""
    queries, documents, qrels, pools = {}, {}, {}, {}
    for query, document, label in rows:
        query_id = next((key for key, text in queries.items() if text == query), None)
        query_id = query_id or f"{name}-q{len(queries)}"
        document_id = f"{name}-d{len(documents)}"
        queries[query_id], documents[document_id] = query, document
        qrels.setdefault(query_id, {})[document_id] = label
        pools.setdefault(query_id, []).append(document_id)
    pools = {query: tuple(pool) for query, pool in pools.items()} if candidates else None
    return Split(name, queries, documents, qrels, pools)


def audit(*splits):
    return check(Dataset("mine", {each.name: each for each in splits}))


def only(report):
    (found,) = report.splits
    return found


def messages(report, level=None):
    return [
        f"{each.where}: {each.message}; {each.remedy}"
        for each in report.findings
        if level in (None, each.level)
    ]


TRAIN = (
    ("who wrote hamlet", "shakespeare wrote hamlet", 1),
    ("who wrote hamlet", "it was wet", 0),
    ("where is rome", "in italy", 0),
    ("what is snow", "frozen water is snow", 2),
)


def test_counts_labels_and_lengths():
    found = only(audit(split("train", TRAIN)))
    assert (found.queries, found.documents, found.pairs, found.positives) == (3, 4, 4, 2)
    assert found.positive_share == 0.5
    assert found.grades == {0: 2, 1: 1, 2: 1}
    assert found.queries_without_positives == 1
    assert found.queries_only_positives == 1
    assert found.query_words.max == 3
    assert found.document_words.p50 == 3
    assert found.document_words.max == 4


def test_duplicates_and_conflicts_ignore_case_and_punctuation():
    report = audit(
        split(
            "train",
            [("Who?", "Me, myself!", 1), ("Who?", "me myself", 0), ("Who?", "ME MYSELF", 1)],
        )
    )
    assert only(report).duplicate_pairs == 2
    assert only(report).conflicting_pairs == 1
    assert any(
        "1 pair with contradicting labels, such as 'train-q0 / train-d0'" in each
        for each in messages(report, "warning")
    )


def test_file_order_that_gives_the_answer_away_is_found():
    rows = [("red fox", "nothing in common", 1), ("red fox", "a red fox", 0)]
    orders = only(audit(split("test", rows))).orders
    assert (orders.file_ap, orders.bm25_ap, orders.random_ap) == (1.0, 0.5, 0.75)
    assert any(
        "file order alone scores MAP 1.000 on test (BM25 0.500, random 0.750)" in each
        for each in messages(audit(split("test", rows)), "warning")
    )


def test_tied_bm25_scores_count_against_the_positive():
    orders = only(audit(split("test", [("zebra", "one", 1), ("zebra", "two", 0)]))).orders
    assert orders.bm25_rr == 0.5


def test_orders_need_a_query_with_both_kinds_of_candidates():
    assert only(audit(split("test", [("a b", "c", 1), ("d e", "f", 0)]))).orders is None


def test_candidate_pool_without_the_answer_is_a_ceiling():
    whole = split("test", [("a", "x", 1), ("b", "y", 1), ("b", "z", 0)])
    pools = {"test-q0": ("test-d1",), "test-q1": ("test-d1", "test-d2")}
    report = audit(Split("test", whole.queries, whole.documents, whole.qrels, pools))
    assert only(report).first_stage.success == {"pool": 0.5}
    assert any("only 50.0% of the answerable queries" in each for each in messages(report))


def test_collection_is_searched_with_bm25():
    rows = [(f"word{number}", f"about word{number} here", 1) for number in range(30)]
    rows[0] = ("absent", "about nothing here", 1)
    found = only(audit(split("test", rows, candidates=False)))
    assert found.first_stage.success["10"] == pytest.approx(29 / 30)
    assert found.first_stage.recall["1000"] == pytest.approx(29 / 30)
    assert found.orders is None


def test_missing_and_empty_texts():
    whole = split("test", [("a", "x", 1), ("a", "  ", 0), ("", "y", 1)])
    qrels = {**whole.qrels, "test-q0": {**whole.qrels["test-q0"], "ghost": 1}}
    report = audit(Split("test", whole.queries, whole.documents, qrels, whole.candidates))
    assert only(report).missing_examples == ("ghost",)
    assert any(
        "1 judged document without a text, such as 'ghost'" in each for each in messages(report)
    )
    assert any("1 empty query and 1 empty document;" in each for each in messages(report))


def test_leaks_between_splits():
    test = split(
        "test",
        [("Who wrote Hamlet?", "Shakespeare wrote Hamlet.", 1)]
        + [(f"other {number}", "it was wet", 0) for number in range(9)],
    )
    report = audit(split("train", TRAIN), test)
    (overlap,) = report.overlaps
    assert (overlap.queries, overlap.pairs, overlap.documents) == (1, 1, 2)
    assert overlap.query_examples == ("who wrote hamlet",)
    assert any(
        each.startswith("train / test: 1 query (1 pair) in both, such as 'who wrote hamlet'")
        and each.endswith("drop them from train")
        for each in messages(report, "error")
    )


def test_test_split_inside_another_is_no_leak_but_inside_training_it_is():
    def level(first):
        report = audit(split(first, TRAIN), split("test-clean", TRAIN[:2]))
        return next(each.level for each in report.findings if "every query" in each.message)

    assert level("test") == "info"
    assert level("train") == "error"


def test_relevant_documents_of_one_collection_shared_by_two_splits():
    documents = {"d1": "one text", "d2": "two texts"}
    parts = [
        Split(name, {f"{name}-q": name}, documents, {f"{name}-q": {"d1": 1}})
        for name in ("train", "test")
    ]
    report = audit(*parts)
    assert report.overlaps[0].same_collection
    assert report.overlaps[0].relevant_documents == 1
    assert messages(report) == [
        "train / test: 1 document relevant in both; a model may remember popular answers: "
        "watch it when comparing with BM25"
    ]


def test_split_without_positives_or_pairs_is_an_error():
    assert "test: no positive label" in messages(audit(split("test", [("a", "b", 0)])), "error")[0]
    assert "test: no judged pairs" in messages(audit(split("test", [])), "error")[0]


def test_report_is_json_and_a_table():
    report = audit(split("train", TRAIN), split("test", TRAIN[:2]))
    assert json.loads(json.dumps(report.to_dict()))["splits"][0]["queries"] == 3
    assert report.table()[0] == ["", "train", "test"]
    assert ["queries", "3", "1"] in report.table()
    assert {len(row) for row in report.table()} == {3}
    assert {len(row) for row in report.overlap_table()} == {5}


def test_findings_come_worst_first_and_progress_is_told():
    steps = []
    dataset = Dataset("mine", {"train": split("train", TRAIN), "test": split("test", TRAIN[:2])})
    levels = [each.level for each in check(dataset, on_step=steps.append).findings]
    assert levels == sorted(levels, key=["error", "warning", "info"].index)
    assert steps == ["reading train", "reading test", "comparing splits"]


def test_normalise_keeps_what_has_no_words():
    assert normalise(" Who's  there?! ") == "who s there"
    assert normalise("?!") != normalise("...")


@given(st.lists(st.booleans(), min_size=1, max_size=6).filter(any))
def test_expected_values_are_means_over_all_orders(relevant):
    run, qrels = {}, {}
    for number, order in enumerate(permutations(relevant)):
        names = [f"d{position}" for position in range(len(order))]
        run[f"q{number}"] = {name: -float(rank) for rank, name in enumerate(names)}
        qrels[f"q{number}"] = dict(zip(names, map(int, order), strict=True))
    values, total = evaluate(run, qrels, ["AP", "RR"]), sum(relevant)
    assert expected_average_precision(len(relevant), total, total) == pytest.approx(values["AP"])
    assert expected_reciprocal_rank(len(relevant), total) == pytest.approx(values["RR"])


@pytest.mark.parametrize("protocol", ["raw", "has-positive", "trec-eval"])
def test_bm25_has_the_numbers_of_evaluate(protocol):
    rows = [
        *TRAIN,
        ("who painted rome", "shakespeare wrote rome", 0),
        ("x", "no", 1),
        ("x", "y", 0),
    ]
    whole = split("test", [*rows, ("x", "x y z", 1), ("who wrote hamlet", "wrote", 0)])
    (found,) = check(Dataset("mine", {"test": whole}, protocol=protocol)).splits
    measured = MeasuredSplit(whole, protocol, ["AP", "RR"])
    values = measured.evaluate(measured.bm25_run())
    assert (found.orders.bm25_ap, found.orders.bm25_rr) == (values["AP"], values["RR"])
    assert found.orders.queries == values.num_queries and found.orders.protocol == protocol


@pytest.fixture
def shared():
    root = os.environ.get("MATCHWORK_DATA")
    if not root or not Path(root).is_dir():
        pytest.skip("MATCHWORK_DATA is not set")
    return Path(root)


@pytest.mark.shared_data
def test_wikiqa_leaks_a_question_and_its_order_beats_bm25(shared):
    report = check(load("wikiqa", shared))
    by_name = {(each.first, each.second): each for each in report.overlaps}
    leak = by_name["train", "test"]
    assert (leak.queries, leak.pairs, leak.documents) == (1, 5, 739)
    assert by_name["train", "dev"].queries == by_name["dev", "test"].queries == 0
    assert [each.duplicate_pairs for each in report.splits] == [29, 1, 5]
    orders = report.splits[2].orders
    assert orders.queries == 243
    assert orders.file_ap == pytest.approx(0.6421, abs=5e-5)
    assert orders.file_rr == pytest.approx(0.6427, abs=5e-5)
    assert orders.bm25_ap == pytest.approx(0.6088, abs=0.01)
    assert orders.random_ap == pytest.approx(0.3999, abs=0.01)
    assert any("1 query (5 pairs) in both" in each for each in messages(report, "warning"))


@pytest.mark.shared_data
def test_trecqa_file_order_is_perfect(shared):
    report = check(load("trecqa", shared, ["dev", "test"]))
    orders = report.splits[1].orders
    assert (orders.queries, orders.file_ap, orders.file_rr) == (89, 1.0, 1.0)
    reported = (
        Benchmark("trecqa", data_root=shared, measures=["AP", "RR"]).run().evaluations["BM25"]
    )
    assert orders.bm25_ap == reported["AP"] == pytest.approx(0.7697, abs=5e-4)
    assert orders.bm25_rr == reported["RR"]
    assert any("file order alone scores MAP 1.000 on test" in each for each in messages(report))


@pytest.mark.shared_data
def test_twitterurl_contradicts_itself(shared):
    dataset = load("twitterurl", shared)
    train, dev, test = (dataset[name] for name in ("train", "dev", "test"))
    published = Split(
        "train",
        {**train.queries, **dev.queries},
        {**train.documents, **dev.documents},
        {**train.qrels, **dev.qrels},
        {**train.candidates, **dev.candidates},
    )
    report = audit(published, test)
    assert [each.conflicting_pairs for each in report.splits] == [363, 64]
    assert (report.overlaps[0].queries, report.overlaps[0].documents) == (0, 19)


@pytest.mark.shared_data
@pytest.mark.slow
def test_insuranceqa_pools_and_pubmed_collection(shared):
    report = check(load("insuranceqa-v2", shared, ["dev", "test"], pool="pool100"))
    assert report.splits[1].first_stage.success["pool"] == pytest.approx(0.6615)
    assert (report.overlaps[0].queries, report.overlaps[0].relevant_documents) == (1, 13)
    pubmed = check(load("pubmed", shared, ["dev", "test"]))
    assert pubmed.findings == ()
    assert pubmed.splits[1].first_stage.success["10"] == pytest.approx(0.974, abs=0.005)
