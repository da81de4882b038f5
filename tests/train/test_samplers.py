"""Negatives are what they claim to be, and follow from the random numbers alone."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from matchwork.data import Split
from matchwork.errors import DataError, UnknownNameError
from matchwork.rank import BM25
from matchwork.text import WordTokenizer
from matchwork.train import SAMPLERS, TrainConfig, TrainingSet
from matchwork.train.samplers import Groups

DRAWN = ["own", "random", "hard", "replace"]


def judged(labels: dict[str, dict[str, int]], texts: dict[str, str] | None = None) -> TrainingSet:
    """Samples from judgements alone; a text is its own name unless given."""
    documents = dict.fromkeys(document for grades in labels.values() for document in grades)
    split = Split(
        "train",
        {query: (texts or {}).get(query, query) for query in labels},
        {document: (texts or {}).get(document, document) for document in documents},
        labels,
        {query: tuple(grades) for query, grades in labels.items()},
    )
    return TrainingSet.from_split(split, WordTokenizer.fit(split.texts))


def draw(samples: TrainingSet, kind: str, seed: int = 0, **settings: Any) -> Groups:
    config = TrainConfig(loss="cross-entropy", negatives=kind, **settings)
    return config.make_sampler(samples).draw(np.random.default_rng(seed))


def negatives(groups: Groups) -> list[tuple[int, int]]:
    """Query and document row of every negative that counts."""
    chosen = groups.mask & (groups.labels == 0)
    return list(zip(groups.query_rows[chosen], groups.document_rows[chosen], strict=True))


grades = st.dictionaries(
    st.sampled_from([f"q{i}" for i in range(5)]),
    st.dictionaries(
        st.sampled_from([f"d{i}" for i in range(6)]), st.integers(0, 2), min_size=1, max_size=6
    ),
    min_size=1,
).filter(
    lambda labels: (
        any(grade > 0 for row in labels.values() for grade in row.values())
        and any(grade == 0 for row in labels.values() for grade in row.values())
    )
)


@pytest.mark.parametrize("kind", DRAWN)
@given(grades, st.integers(0, 3))
def test_a_negative_is_never_positive(kind: str, labels: dict[str, dict[str, int]], seed: int):
    samples = judged(labels)
    groups = draw(samples, kind, seed, num_negatives=3)
    positive = {
        (query, document)
        for query, document, label in zip(
            samples.query_rows, samples.document_rows, samples.labels, strict=True
        )
        if label > 0
    }
    assert set(zip(groups.query_rows[:, 0], groups.document_rows[:, 0], strict=True)) == positive
    assert groups.mask[:, 0].all() and (groups.labels[:, 0] == 1).all()
    assert (groups.labels[:, 1:] == 0).all() and groups.labels.shape[1] == 4
    assert not positive & set(negatives(groups))


def test_own_negatives_come_from_the_query(samples: TrainingSet):
    own = {
        (query, document)
        for query, document, label in zip(
            samples.query_rows, samples.document_rows, samples.labels, strict=True
        )
        if label == 0
    }
    drawn = [pair for seed in range(30) for pair in negatives(draw(samples, "own", seed))]
    assert set(drawn) == own  # all of them in turn, and nothing else


def test_own_borrows_where_a_query_has_none():
    samples = judged({"q1": {"a": 1}, "q2": {"b": 1, "c": 0, "d": 0}})
    drawn = [pair for seed in range(20) for pair in negatives(draw(samples, "own", seed))]
    names = {(samples.query_texts[q], samples.document_texts[d]) for q, d in drawn}
    assert names == {("q1", "c"), ("q1", "d"), ("q2", "c"), ("q2", "d")}


def test_own_without_any_negative_is_an_error():
    with pytest.raises(DataError, match=r'"own" needs candidates with label 0.*use "random"'):
        draw(judged({"q1": {"a": 1}}), "own")


def test_random_reaches_every_other_document(samples: TrainingSet):
    drawn = {d for seed in range(60) for q, d in negatives(draw(samples, "random", seed)) if q == 0}
    positive = set(
        samples.document_rows[samples.positives[samples.query_rows[samples.positives] == 0]]
    )
    assert drawn == set(range(len(samples.documents))) - positive


def test_replace_changes_exactly_one_side(samples: TrainingSet):
    groups = draw(samples, "replace", num_negatives=400)
    assert groups.mask.all()
    same_query = groups.query_rows[:, 1:] == groups.query_rows[:, :1]
    same_document = groups.document_rows[:, 1:] == groups.document_rows[:, :1]
    assert (same_query ^ same_document).all()
    assert same_query.mean() == pytest.approx(0.5, abs=0.05)
    # every other query and document takes part
    assert len(np.unique(groups.query_rows[0])) == len(samples.queries)
    assert len(np.unique(groups.document_rows[0])) == len(samples.documents)


def test_hard_negatives_are_what_bm25_likes_best(samples: TrainingSet):
    documents = {str(row): text for row, text in enumerate(samples.document_texts)}
    best = BM25.fit(documents).search(samples.query_texts, top_k=6)
    expected = {
        (query, int(document))
        for query, found in enumerate(best)
        for document in found
        if not samples.is_positive(np.array(query), np.array(int(document)))
    }
    drawn = [
        pair
        for seed in range(40)
        for pair in negatives(draw(samples, "hard", seed, hard_depth=6, num_negatives=4))
    ]
    assert set(drawn) == expected


def test_hard_negatives_are_searched_once_for_every_depth(samples: TrainingSet):
    first, again, deeper = (
        TrainConfig(negatives="hard", hard_depth=depth).make_sampler(samples) for depth in (2, 2, 3)
    )
    assert first.lists is again.lists
    assert len(deeper.lists.flat) > len(first.lists.flat)


def test_hard_falls_back_on_any_document():
    texts = {"q1": "nothing shared", "q2": "apple", "a": "pear", "b": "apple tree", "c": "plum"}
    samples = judged({"q1": {"a": 1}, "q2": {"b": 1, "c": 0}}, texts)
    drawn = {pair for seed in range(20) for pair in negatives(draw(samples, "hard", seed))}
    first = samples.query_texts.index("nothing shared")
    assert {samples.document_texts[d] for q, d in drawn if q == first} == {"apple tree", "plum"}


@pytest.mark.parametrize("kind", ["own", "random", "hard", "replace"])
def test_a_place_nothing_fits_is_masked(kind: str):
    samples = judged({"q1": {"a": 1, "b": 1}, "q2": {"a": 1, "b": 1, "c": 0}, "q3": {"c": 1}})
    for seed in range(5):
        groups = draw(samples, kind, seed)
        assert not groups.mask.all() or kind != "own"
        wrong = samples.is_positive(groups.query_rows, groups.document_rows)
        np.testing.assert_array_equal(groups.mask[:, 1:], ~wrong[:, 1:])


def test_everything_relevant_leaves_only_positives():
    groups = draw(judged({"q1": {"a": 1, "b": 2}}), "random")
    assert groups.mask[:, 0].all() and not groups.mask[:, 1:].any()


def test_labelled_pairs_stay_as_they_are(samples: TrainingSet):
    groups = draw(samples, "labelled")
    np.testing.assert_array_equal(groups.query_rows[:, 0], samples.query_rows)
    np.testing.assert_array_equal(groups.document_rows[:, 0], samples.document_rows)
    np.testing.assert_array_equal(groups.labels[:, 0], samples.labels)
    assert groups.mask.all()


@pytest.mark.parametrize("kind", DRAWN)
def test_equal_seeds_draw_alike_and_others_differ(samples: TrainingSet, kind: str):
    first, again, other = (draw(samples, kind, seed) for seed in (1, 1, 2))
    for one, two in zip(first, again, strict=True):
        np.testing.assert_array_equal(one, two)
    assert negatives(first) != negatives(other)


def test_no_positive_is_an_error():
    with pytest.raises(DataError, match="'train' has 2 pairs and no positive one"):
        judged({"q": {"a": 0, "b": 0}})


def test_unknown_kind():
    with pytest.raises(UnknownNameError, match="no negative sampler named 'onw'"):
        SAMPLERS["onw"]
