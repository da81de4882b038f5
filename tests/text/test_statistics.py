from collections import Counter
from math import log

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from matchwork.errors import ConfigError
from matchwork.text import CorpusStatistics, TokenTable

corpora = st.lists(st.lists(st.integers(2, 6), max_size=7), max_size=6)
some_ids = st.lists(st.integers(2, 8), max_size=6)


def slow_weight(corpus: list[list[int]], phrase: tuple[int, ...]) -> float:
    """Phrase weights as the HCAN specification says, by counting."""
    order = len(phrase)
    counts = Counter(
        tuple(text[i : i + order]) for text in corpus for i in range(len(text) - order + 1)
    )
    if phrase not in counts:
        return 1.0
    total = sum(map(len, corpus))
    idf = {gram: log(1 + total / count) for gram, count in counts.items()}
    low, high = min(idf.values()), max(idf.values())
    return (idf[phrase] - low) / (high - low) if high > low else 0.0


@given(corpus=corpora, ids=some_ids)
def test_document_frequency_and_idf(corpus: list[list[int]], ids: list[int]) -> None:
    statistics = CorpusStatistics.fit(TokenTable.from_rows(corpus))
    slow = [sum(i in text for text in corpus) for i in ids]
    assert statistics.document_frequency(np.array(ids, dtype=np.int64)).tolist() == slow
    idf = statistics.idf(np.array(ids, dtype=np.int64))
    np.testing.assert_allclose(idf, [log((1 + len(corpus)) / (1 + n)) + 1 for n in slow])
    assert statistics.num_tokens == sum(map(len, corpus))


@given(corpus=corpora, ids=some_ids, order=st.integers(1, 3))
@example(corpus=[[2, 3, 2], [3, 2, 3], [3], [2, 2, 3]], ids=[3, 3, 2, 2, 7], order=2)
@example(corpus=[[2, 3, 2], [3, 2, 3], [3], [2, 2, 3]], ids=[3, 2, 3, 2], order=3)
def test_phrase_weights(corpus: list[list[int]], ids: list[int], order: int) -> None:
    statistics = CorpusStatistics.fit(TokenTable.from_rows(corpus), max_order=3)
    weights = statistics.ngram_weights(np.array(ids, dtype=np.int64), order)
    # Position i weighs the phrase that starts there; the end of the text cuts it short.
    expected = [slow_weight(corpus, tuple(ids[i : i + order])) for i in range(len(ids))]
    np.testing.assert_allclose(weights, expected, atol=1e-12)
    assert ((weights >= 0) & (weights <= 1)).all()


@given(corpus=corpora, ids=some_ids)
def test_arrays_and_back(corpus: list[list[int]], ids: list[int]) -> None:
    statistics = CorpusStatistics.fit(TokenTable.from_rows(corpus), max_order=2)
    again = CorpusStatistics.from_arrays(statistics.to_arrays())  # type: ignore[arg-type]
    asked = np.array(ids, dtype=np.int64)
    assert (again.num_documents, again.max_order) == (len(corpus), 2)
    assert np.array_equal(again.idf(asked), statistics.idf(asked))
    assert np.array_equal(again.ngram_weights(asked, 2), statistics.ngram_weights(asked, 2))


def test_phrases_never_cross_the_end_of_a_text() -> None:
    corpus = [[2, 3], [2, 3], [2, 3], [4, 5]]
    statistics = CorpusStatistics.fit(TokenTable.from_rows(corpus), max_order=2)
    across = statistics.ngram_weights(np.array([3, 2]), 2)
    inside = statistics.ngram_weights(np.array([2, 3]), 2)
    assert across[0] == 1.0
    assert inside[0] == 0.0  # the most frequent pair


def test_unknown_words_are_counted_apart() -> None:
    huge = 2**60
    statistics = CorpusStatistics.fit(TokenTable.from_rows([[huge], [huge], [huge + 1]]))
    assert statistics.document_frequency(np.array([huge, huge + 1, huge + 2])).tolist() == [2, 1, 0]


def test_orders_that_were_not_counted() -> None:
    statistics = CorpusStatistics.fit(TokenTable.from_rows([[2, 3]]), max_order=2)
    with pytest.raises(ConfigError, match=r"order 3 were not counted \(1..2\)"):
        statistics.ngram_weights(np.array([2, 3]), 3)
    with pytest.raises(ConfigError, match="max_order must be at least 1, got 0"):
        CorpusStatistics.fit(TokenTable.from_rows([[2]]), max_order=0)
