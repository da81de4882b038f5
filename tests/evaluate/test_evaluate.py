import random
from itertools import permutations

import ir_measures
import numpy as np
import pytest
import pytrec_eval
from hypothesis import given
from hypothesis import strategies as st

from matchwork.errors import DataError, UnknownNameError
from matchwork.evaluate import PROTOCOLS, evaluate

MEASURES = ["AP", "RR", "RR@10", "P@1", "P@30", "nDCG@10", "Success@1", "R@5"]

documents = st.integers(0, 30).map(lambda number: f"d{number}")
grades = st.dictionaries(documents, st.integers(0, 3), min_size=1, max_size=12)
tied_scores = st.dictionaries(documents, st.integers(0, 3).map(float), min_size=1, max_size=12)
untied_scores = st.lists(documents, min_size=1, max_size=12, unique=True).map(
    lambda names: {name: -float(place) for place, name in enumerate(names)}
)


def per_query(run, qrels, measures=MEASURES, protocol="raw"):
    return evaluate(run, qrels, measures, protocol).per_query


def judged_in_order(grades_in_order):
    """A query whose documents are ranked in the order of the grades given."""
    names = [f"d{place}" for place in range(len(grades_in_order))]
    run = {"q": {name: -float(place) for place, name in enumerate(names)}}
    return run, {"q": dict(zip(names, grades_in_order, strict=True))}


def test_by_hand():
    run, qrels = judged_in_order([0, 1, 0, 1])
    qrels["q"]["never ranked"] = 1
    found = evaluate(run, qrels, MEASURES)
    assert found["AP"] == pytest.approx((1 / 2 + 2 / 4) / 3)
    assert found["MRR"] == found["RR"] == pytest.approx(1 / 2)
    assert found["P@1"] == found["Success@1"] == 0
    assert found["P@30"] == pytest.approx(2 / 30)  # divided by 30 although only 4 were ranked
    assert list(found.values) == MEASURES
    assert found.per_query["AP"] == {"q": found["AP"]}


def test_graded_judgements_count_in_ndcg():
    run, qrels = judged_in_order([1, 3])
    ideal = 3 + 1 / np.log2(3)
    assert evaluate(run, qrels, ["nDCG@10"])["nDCG@10"] == pytest.approx(
        (1 + 3 / np.log2(3)) / ideal
    )


@given(run=untied_scores, qrels=grades)
def test_agrees_with_pytrec_eval_where_nothing_is_tied(run, qrels):
    names = {"map": "AP", "recip_rank": "RR", "P_1": "P@1", "P_30": "P@30"}
    names |= {"ndcg_cut_10": "nDCG@10", "success_1": "Success@1", "recall_5": "R@5"}
    expected = pytrec_eval.RelevanceEvaluator({"q": qrels}, set(names)).evaluate({"q": run})["q"]
    ours = per_query({"q": run}, {"q": qrels})
    for theirs, name in names.items():
        assert ours[name]["q"] == pytest.approx(expected[theirs], abs=1e-12), name
    reciprocal = ir_measures.calc_aggregate([ir_measures.RR @ 10], {"q": qrels}, {"q": run})
    assert ours["RR@10"]["q"] == pytest.approx(reciprocal[ir_measures.RR @ 10])


@given(run=tied_scores, qrels=grades)
def test_ties_are_pessimistic(run, qrels):
    """No way to break the ties gives a lower value than the one we report."""
    ours = per_query({"q": run}, {"q": qrels})
    shuffled = list(run)
    for seed in range(5):
        random.Random(seed).shuffle(shuffled)
        broken = {name: run[name] - place / 100 for place, name in enumerate(shuffled)}
        other = per_query({"q": broken}, {"q": qrels})
        for name in MEASURES:
            assert ours[name]["q"] <= other[name]["q"] + 1e-12, name


def test_an_all_tied_run_gets_the_worst_order():
    grades = [2, 1, 0, 0, 0]
    run, qrels = judged_in_order(grades)
    tied = {"q": dict.fromkeys(run["q"], 0.5)}
    worst = min(
        evaluate(*judged_in_order(ordering), ["nDCG@10"])["nDCG@10"]
        for ordering in permutations(grades)
    )
    found = evaluate(tied, qrels, ["nDCG@10", "RR"])
    assert found["nDCG@10"] == pytest.approx(worst)
    assert found["RR"] == pytest.approx(1 / 4)
    assert found.num_ties == 5
    assert evaluate(run, qrels, ["RR"]).num_ties == 0


@given(run=tied_scores, qrels=grades, seed=st.integers(0, 100))
def test_the_order_of_insertion_never_matters(run, qrels, seed):
    def shuffled(table):
        items = list(table.items())
        random.Random(seed).shuffle(items)
        return dict(items)

    first = evaluate({"q": run, "p": run}, {"p": qrels, "q": qrels}, MEASURES)
    second = evaluate(
        {"p": shuffled(run), "q": shuffled(run)},
        {"q": shuffled(qrels), "p": shuffled(qrels)},
        MEASURES,
    )
    assert first.per_query == second.per_query
    assert first.queries == second.queries


@given(run=tied_scores, qrels=grades)
def test_precision_at_1_is_at_most_reciprocal_rank(run, qrels):
    found = per_query({"q": run}, {"q": qrels})
    assert found["P@1"]["q"] <= found["RR"]["q"]
    assert found["RR@10"]["q"] <= found["RR"]["q"]


@given(run=tied_scores, relevant=documents)
def test_with_one_relevant_document_ap_is_rr(run, relevant):
    found = evaluate({"q": run}, {"q": {relevant: 1}}, ["AP", "RR"])
    assert found["AP"] == pytest.approx(found["RR"])


@pytest.mark.parametrize("num", [1, 2, 5])
def test_random_rr_is_the_harmonic_mean_of_ranks(num):
    names = [f"d{place}" for place in range(num)]
    run, qrels = {}, {}
    for number, ordering in enumerate(permutations(names)):
        run[f"q{number}"] = {name: -float(place) for place, name in enumerate(ordering)}
        qrels[f"q{number}"] = {"d0": 1}
    harmonic = sum(1 / rank for rank in range(1, num + 1))
    assert evaluate(run, qrels, ["RR"])["RR"] == pytest.approx(harmonic / num)


RUN = {
    "both": {"a": 2.0, "b": 1.0},
    "all-positive": {"a": 1.0},
    "all-negative": {"a": 1.0},
    "positive-not-ranked": {"b": 1.0},
    "nobody judged": {"a": 1.0},
}
QRELS = {
    "both": {"a": 1, "b": 0},
    "all-positive": {"a": 1},
    "all-negative": {"a": 0},
    "positive-not-ranked": {"a": 1, "b": 0},
    "not in the run": {"a": 1, "b": 0},
}


@pytest.mark.parametrize(
    ("protocol", "kept", "value"),
    [
        ("raw", sorted(QRELS), 2 / 5),
        ("has-positive", sorted(QRELS.keys() - {"all-negative"}), 2 / 4),
        ("clean", ["both", "not in the run"], 1 / 2),
        ("trec-eval", sorted(QRELS), 2 / 5),
    ],
)
def test_protocols_keep_and_drop(protocol, kept, value):
    found = evaluate(RUN, QRELS, ["RR"], protocol)
    assert list(found.queries) == kept
    assert (found.num_queries, found.num_dropped) == (len(kept), 5 - len(kept))
    assert found.protocol == protocol
    assert found["RR"] == pytest.approx(value)


def test_ties_of_trec_eval_fall_by_descending_id():
    """Checked with trec_eval's own sort, which pytrec_eval keeps."""
    run = {"q": {"9": 1.0, "b": 1.0, "10": 1.0, "a": 1.0, "z": 0.5}}
    for place, relevant in enumerate(["b", "a", "9", "10", "z"], start=1):
        qrels = {"q": {relevant: 1}}
        assert evaluate(run, qrels, ["RR"], "trec-eval")["RR"] == pytest.approx(1 / place)
        theirs = pytrec_eval.RelevanceEvaluator(qrels, {"recip_rank"}).evaluate(run)
        assert theirs["q"]["recip_rank"] == pytest.approx(1 / place)
    assert evaluate(run, {"q": {"b": 1}}, ["RR"])["RR"] == 1 / 4  # elsewhere against the system
    assert evaluate(run, {"q": {"b": 1}}, ["RR"], "trec-eval").num_ties == 4


def test_every_protocol_is_tested_above():
    assert list(PROTOCOLS) == ["clean", "has-positive", "raw", "trec-eval"]


def test_a_negative_grade_is_not_relevant():
    run, qrels = judged_in_order([-2, 1])
    assert evaluate(run, qrels, ["RR", "nDCG"]).values == pytest.approx(
        {"RR": 0.5, "nDCG": 1 / np.log2(3)}
    )


def test_an_empty_run_scores_nothing():
    found = evaluate({}, QRELS, ["AP"])
    assert found.values == {"AP": 0.0}
    assert found.num_queries == 5


def test_intervals_hold_the_value_and_shrink():
    rng = np.random.default_rng(3)
    run, qrels = {}, {}
    for number in range(200):
        run[f"q{number}"] = {f"d{place}": float(rng.random()) for place in range(10)}
        qrels[f"q{number}"] = {"d0": 1}
    found = evaluate(run, qrels, ["RR"])
    low, high = found.interval("MRR")
    narrow_low, narrow_high = found.interval("RR", confidence=0.5)
    assert low < narrow_low < found["RR"] < narrow_high < high
    assert (low, high) == found.interval("RR")


def test_bad_input_says_what_to_do():
    run, qrels = judged_in_order([1, 0])
    with pytest.raises(DataError, match=r"no query of the run is judged: the run has 'x'.*'q'"):
        evaluate({"x": {"d0": 1.0}}, qrels, ["AP"])
    with pytest.raises(DataError, match="there are no judgements"):
        evaluate(run, {}, ["AP"])
    with pytest.raises(DataError, match="protocol 'clean' drops all 1 queries"):
        evaluate(run, {"q": {"d0": 0}}, ["AP"], "clean")
    with pytest.raises(UnknownNameError, match="no protocol named 'raww'; did you mean 'raw'"):
        evaluate(run, qrels, ["AP"], "raww")
    with pytest.raises(DataError, match="query 'q': score number 1 is not a number"):
        evaluate({"q": {"d0": 1.0, "d1": float("nan")}}, qrels, ["AP"])
    with pytest.raises(DataError, match="'RR' was not measured; there are AP"):
        evaluate(run, qrels, ["AP"])["RR"]
