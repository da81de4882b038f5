from collections.abc import Callable, Sequence
from copy import copy
from threading import Event

import numpy as np
import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from matchwork.errors import DataError
from matchwork.inputs import recorded_truncation
from matchwork.interact import WordWeights
from matchwork.matcher import Matcher
from matchwork.models import MODELS
from matchwork.rank import Calibration, rank_all
from matchwork.text import TokenTable, WordTokenizer
from matchwork.types import Document, Scorer

Make = Callable[..., Matcher]
CLOSE = {"rtol": 1e-10, "atol": 1e-10}
SMALL = {"iam": {"units": 8, "hidden": 8}, "hcan": {"filters": 8, "hidden": 8}}
# Every example is up to twelve pairs, each scored alone as well, for every model.
few_examples = settings(
    max_examples=20, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
some_text = st.lists(
    st.sampled_from(["who", "wrote", "hamlet", "paris", "the", "unheard", "of", "x9"]), max_size=9
).map(" ".join)


class CountingTokenizer:
    """A word tokenizer that remembers what it was asked."""

    kind = "word"

    def __init__(self, inner: WordTokenizer) -> None:
        self.inner = inner
        self.asked: list[list[str]] = []

    @property
    def vocab_size(self) -> int:
        return self.inner.vocab_size

    def encode(self, texts: Sequence[str], max_length: int | None = None) -> TokenTable:
        self.asked.append(list(texts))
        return self.inner.encode(texts, max_length)

    def tokens(self, text: str, max_length: int | None = None):
        return self.inner.tokens(text, max_length)

    def to_dict(self):
        return self.inner.to_dict()


@pytest.fixture(params=list(MODELS))
def matcher(request: pytest.FixtureRequest, tiny_matcher: Make) -> Matcher:
    made = tiny_matcher(request.param, **SMALL.get(request.param.split("-")[0], {}))
    made.model.double()
    return made


@given(pairs=st.lists(st.tuples(some_text, some_text), max_size=12))
@few_examples
def test_scores_are_those_of_each_pair_alone(matcher: Matcher, pairs: list) -> None:
    scores = matcher.score(pairs)
    assert scores.dtype == np.float64 and scores.shape == (len(pairs),)
    alone = [matcher.score([pair])[0] for pair in pairs]
    np.testing.assert_allclose(scores, alone, **CLOSE)


def test_order_is_restored_over_many_batches(matcher: Matcher) -> None:
    random = np.random.default_rng(0)
    words = ["who", "wrote", "hamlet", "paris", "the", "museum", "a", "of", "light"]
    pairs = [
        tuple(" ".join(random.choice(words, size=n)) for n in random.integers(0, 20, size=2))
        for _ in range(60)
    ]
    matcher.max_tokens, matcher.max_pairs = 64, 7
    small = matcher.score(pairs)
    matcher.max_tokens = matcher.max_pairs = None
    np.testing.assert_allclose(matcher.score(pairs), small, **CLOSE)
    backwards = matcher.score(pairs[::-1])
    np.testing.assert_allclose(backwards[::-1], small, **CLOSE)


def test_streaming_equals_the_whole(matcher: Matcher, pairs: list) -> None:
    whole = matcher.score(pairs)
    windows = list(matcher.score_stream(iter(pairs), window=2))
    assert [len(window) for window in windows] == [2, 2, 1]
    np.testing.assert_allclose(np.concatenate(windows), whole, **CLOSE)


def test_streaming_reads_no_further_than_its_window(matcher: Matcher, pairs: list) -> None:
    read = []
    stream = matcher.score_stream((read.append(p) or p for p in pairs), window=2)
    next(stream)
    assert len(read) == 2


def test_no_pairs_no_scores(matcher: Matcher) -> None:
    assert matcher.score([]).shape == (0,)


def test_each_distinct_text_is_tokenized_once(tiny_matcher: Make) -> None:
    plain = tiny_matcher("iasm-static")
    counting = CountingTokenizer(plain.tokenizer)  # type: ignore[arg-type]
    matcher = Matcher(counting, plain.model)
    documents = ["paris", "hamlet", "paris"]
    pairs = [(query, document) for query in ("who", "where") for document in documents]
    scores = matcher.score(pairs)
    assert counting.asked == [["who", "where"], ["paris", "hamlet"]]
    assert np.array_equal(scores, plain.score(pairs))


def test_ranking_everything_tokenizes_once(tiny_matcher: Make) -> None:
    plain = tiny_matcher("knrm")
    counting = CountingTokenizer(plain.tokenizer)  # type: ignore[arg-type]
    matcher = Matcher(counting, plain.model)
    queries = {"q1": "who", "q2": "where is paris", "q3": "who"}
    documents = {"a": "paris", "b": "the museum", "c": "paris", "d": ""}
    run = rank_all(matcher, queries, documents, window=3)
    assert counting.asked == [["who", "where is paris"], ["paris", "the museum", ""]]
    for query, scores in run.items():
        alone = plain.score([(queries[query], text) for text in documents.values()])
        np.testing.assert_allclose(list(scores.values()), alone, rtol=1e-5, atol=1e-6)


def test_rows_are_scored_in_the_order_given(matcher: Matcher) -> None:
    queries, documents = ["who wrote", "paris"], ["hamlet", "the museum of light", "paris"]
    score = matcher.prepare(queries, documents)
    query_rows, document_rows = np.array([1, 0, 1, 0]), np.array([2, 2, 0, 1])
    pairs = [(queries[q], documents[d]) for q, d in zip(query_rows, document_rows, strict=True)]
    np.testing.assert_allclose(score(query_rows, document_rows), matcher.score(pairs), **CLOSE)
    assert score(query_rows[:0], document_rows[:0]).shape == (0,)


def test_truncation_is_counted(tiny_matcher: Make) -> None:
    plain = tiny_matcher("bag")
    matcher = Matcher(plain.tokenizer, plain.model, max_query_length=2, max_document_length=3)
    long, short = "the museum in paris the louvre", "the sea"
    with recorded_truncation() as cut:
        scores = matcher.score([(long, long), (short, short), (long, short)])
        assert cut.total == (2, 7)  # one query by 4 words, one document by 3
        matcher.score([(short, short), (short, long)])
        assert cut.total == (3, 10)  # adds up over calls
    matcher.score([(short, long)])
    assert cut.total == (3, 10)
    np.testing.assert_allclose(scores[0], plain.score([("the museum", "the museum in")])[0])
    query, document = matcher.tokens(long, long)
    assert [t.text for t in query] == ["the", "museum"] and len(document) == 3
    assert matcher.output(long, long).evidence["contribution"].values.shape == (1, 2, 3)


def test_truncation_adds_up_over_windows(tiny_matcher: Make) -> None:
    plain = tiny_matcher("bag")
    matcher = Matcher(plain.tokenizer, plain.model, max_document_length=1)
    pairs = [("a", f"the sea {i}") for i in range(5)]
    with recorded_truncation() as cut:
        list(matcher.score_stream(pairs, window=2))
    assert cut.total == (5, 10)


def test_progress_counts_every_pair(tiny_matcher: Make, pairs: list) -> None:
    told: list[int] = []
    matcher = tiny_matcher("bag")
    matcher.max_pairs = 2
    matcher.score(pairs, advance=told.append)
    assert sum(told) == len(pairs) and max(told) <= 2


def test_ranking_is_by_score(matcher: Matcher, pairs: list) -> None:
    documents = [Document(f"d{i}", text) for i, (_, text) in enumerate(pairs)]
    hits = matcher.rerank(pairs[0][0], documents)
    scores = matcher.score([(pairs[0][0], d.text) for d in documents])
    assert [hit.score for hit in hits] == pytest.approx(sorted(scores, reverse=True))
    assert [hit.rank for hit in hits] == [1, 2, 3, 4, 5]
    assert matcher.rerank(pairs[0][0], documents, top_k=2) == hits[:2]


def test_probabilities_follow_the_scores(matcher: Matcher, pairs: list) -> None:
    everything = [(q, d) for q, _ in pairs for _, d in pairs]
    scores = matcher.score(everything)
    for calibration in (None, Calibration(3.0, -0.5)):
        matcher.calibration = calibration
        probabilities = matcher.probability(everything)
        assert ((probabilities >= 0) & (probabilities <= 1)).all()
        assert (np.diff(probabilities[np.argsort(scores)]) >= 0).all()
        assert len(set(probabilities.tolist())) > len(pairs)


def test_scoring_leaves_the_model_as_it_was(matcher: Matcher, pairs: list) -> None:
    matcher.model.train()
    before = {k: v.clone() for k, v in matcher.model.state_dict().items()}
    matcher.score(pairs)
    assert matcher.model.training
    assert all(torch.equal(v, before[k]) for k, v in matcher.model.state_dict().items())
    assert all(p.grad is None for p in matcher.model.parameters())


def test_output_is_one_pair_with_its_evidence(matcher: Matcher, pairs: list) -> None:
    output = matcher.output(*pairs[0])
    assert output.scores.item() == pytest.approx(matcher.score([pairs[0]])[0], abs=1e-10)
    query, document = matcher.tokens(*pairs[0])
    first = next(iter(output.evidence.values()))
    sides = {"query": len(query), "document": len(document)}
    chosen = [first.side] if isinstance(first, WordWeights) else list(sides)
    assert first.values.shape == (1, *(sides[side] for side in chosen))


def test_a_matcher_is_a_scorer_with_a_name(tiny_matcher: Make) -> None:
    matcher = tiny_matcher("iasm-static")
    assert isinstance(matcher, Scorer)
    assert matcher.name == "iasm-static"
    assert Matcher(matcher.tokenizer, matcher.model, name="mine").name == "mine"
    assert tiny_matcher("iasm-dynamic", num_layers=5, alpha=0.1).name == "iasm-dynamic"


def test_odd_texts_score(tiny_matcher: Make) -> None:
    odd = ["\ud83d", "👍🏽", "\x00", "東京", "  ", "a" * 10_000]
    scores = tiny_matcher("iasm-dynamic").score([(q, d) for q in odd for d in odd])
    assert np.isfinite(scores).all()


def test_nobody_scores_with_dropout(tiny_matcher: Make, pairs: list) -> None:
    """Whoever ends first does not switch the model back under the others."""
    matcher = tiny_matcher("bag")
    matcher.model.train()
    with matcher.inference.scoring():
        with copy(matcher).inference.scoring():
            assert not matcher.model.training
        assert not matcher.model.training
    assert matcher.model.training
    with pytest.raises(ValueError), matcher.inference.scoring():
        raise ValueError
    assert matcher.model.training


def test_what_is_no_text_is_named(tiny_matcher: Make) -> None:
    with pytest.raises(DataError, match=r"documents\[1\] is not a text: None; leave it out"):
        tiny_matcher("bag").rerank("who", ["hamlet", None])  # type: ignore[list-item]
    with pytest.raises(DataError, match=r"pairs\[0\] is not two texts: \('who', nan\)"):
        tiny_matcher("bag").score([("who", float("nan"))])  # type: ignore[list-item]


def test_truncation_of_some_pairs(tokenizer, tiny_matcher):
    """Per request, as if its pairs had been scored alone."""
    for name in ("bag", "cross-encoder"):
        matcher = tiny_matcher(name)
        matcher.max_document_length = 3
        pairs = [("who wrote", "a b c d e"), ("who", "a b"), ("who wrote", "a b c d e")]
        pairs += [("who " * 40, "wrote " * 40), ("who", "c d e f")]
        rows = matcher.reader.read(pairs)
        for part in ([0, 1, 2], [3], [1, 4], range(5)):
            with recorded_truncation() as cut:
                matcher.score([pairs[index] for index in part])
            assert rows.take(np.array(part)).truncation == cut.total


def test_scoring_stops_after_the_current_batch(tiny_matcher, pairs):
    matcher = tiny_matcher("bag")
    matcher.max_pairs = 1
    rows, cancelled = matcher.reader.read(pairs), Event()
    expected = matcher.score(pairs)
    scores = matcher.score_tokens(rows, lambda _: cancelled.set(), cancelled)
    assert np.isnan(scores).sum() == len(pairs) - 1
    assert (scores[~np.isnan(scores)] == expected[~np.isnan(scores)]).all()
