import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from matchwork.data.dataset import Split
from matchwork.errors import ConfigError
from matchwork.evaluate import evaluate
from matchwork.evaluate.fusion import choose_weight, fit_weight
from matchwork.rank import BM25, Pipeline, rerank
from matchwork.rank.fusion import fuse
from matchwork.types import Document, Scorer

CORPUS = {
    "short": "cat",
    "long": "cat and many other words about it",
    "twice": "cat cat dog dog",
    "other": "bird",
}


class Longest:
    """Prefers long texts: nearly the opposite of BM25."""

    name = "longest"

    def score(self, pairs):
        return np.array([float(len(document)) for _, document in pairs])

    def rerank(self, query, documents, top_k=None, threshold=None):
        return rerank(self, query, documents, top_k=top_k, threshold=threshold)


def ids(ranking):
    return [hit.document.id for hit in ranking]


def best_first(scores):
    return sorted(scores, key=lambda document: -scores[document])


FIRST = BM25.fit(CORPUS)
IN_FIRST_ORDER = list(FIRST.search(["cat"])[0])


def test_the_second_stage_orders_what_the_first_found():
    pipeline = Pipeline(FIRST, Longest())
    assert ids(pipeline.search("cat")) == ["long", "twice", "short"]
    assert pipeline.search("cat")[0].document == Document("long", CORPUS["long"])
    assert ids(pipeline.search("cat", top_k=1)) == ["long"]
    assert pipeline.search("unheard") == []
    assert pipeline.name == "BM25 > longest"


def test_what_lies_below_depth_stays_beneath_in_first_stage_order():
    assert IN_FIRST_ORDER == ["short", "twice", "long"]
    pipeline = Pipeline(FIRST, Longest(), depth=1)
    run = pipeline.retrieve({"q": "cat"}, top_k=10)["q"]
    assert best_first(run) == IN_FIRST_ORDER  # `long` would win, but the first stage held it back
    two = Pipeline(FIRST, Longest(), depth=2).retrieve({"q": "cat"}, top_k=10)["q"]
    assert best_first(two) == ["twice", "short", "long"]
    assert set(pipeline.retrieve({"q": "cat"})["q"]) == {"short"}


def test_given_documents_are_ranked_like_a_pool():
    documents = [Document("same", text) for text in CORPUS.values()]
    ranking = Pipeline(FIRST, Longest(), depth=3).rerank("cat", documents)
    assert [hit.document.text for hit in ranking] == [
        CORPUS[name] for name in ("long", "twice", "short", "other")
    ]


def test_pairs_of_one_query_are_scored_together():
    pipeline = Pipeline(FIRST, Longest(), depth=3)
    texts = [*CORPUS.values(), "cat"]
    scores = pipeline.score([("cat", text) for text in texts])
    best = [texts[index] for index in np.argsort(-scores, kind="stable")]
    assert best[:2] == [CORPUS["long"], CORPUS["twice"]] and best[-1] == "bird"
    assert isinstance(pipeline, Scorer) and pipeline.score([]).shape == (0,)


def test_the_weight_goes_from_one_stage_to_the_other():
    for weight, expected in ((0.0, IN_FIRST_ORDER), (1.0, ["long", "twice", "short"])):
        run = Pipeline(FIRST, Longest(), weight=weight).retrieve({"q": "cat"})["q"]
        assert best_first(run) == expected


def test_ties_at_the_cut_do_not_follow_the_file():
    """A pool that lists its relevant documents first must not get them re-ranked for that."""
    pool = {f"d{number}": "nothing in common" for number in range(40)}
    found = {"q": dict.fromkeys(pool, 0.0)}
    run = Pipeline(FIRST, Longest(), depth=10).rerank_run({"q": "cat"}, pool, found)["q"]
    head = {name for name, score in run.items() if score == max(run.values())}
    assert len(head) == 10
    assert head != set(list(pool)[:10])


runs = st.dictionaries(
    st.sampled_from("pq"),
    st.dictionaries(st.sampled_from("abcd"), st.floats(-5, 5), min_size=1),
    min_size=1,
)


@given(run=runs, other=runs, weight=st.floats(0, 1))
def test_fused_scores_lie_in_the_unit_interval_and_keep_all(run, other, weight):
    fused = fuse(run, other, weight)
    assert fused.keys() == run.keys() | other.keys()
    for query, scores in fused.items():
        assert scores.keys() == run.get(query, {}).keys() | other.get(query, {}).keys()
        assert all(-1e-9 <= score <= 1 + 1e-9 for score in scores.values())


def test_fusion_by_hand():
    fused = fuse({"q": {"a": 10.0, "b": 20.0, "c": 15.0}}, {"q": {"a": 0.3, "d": 0.1}}, 0.25)
    assert fused["q"] == pytest.approx({"a": 0.75, "b": 0.25, "c": 0.125, "d": 0.0})


def test_the_chosen_weight_is_the_best_of_the_grid():
    rng = np.random.default_rng(0)
    names = [f"d{place}" for place in range(8)]
    qrels = {f"q{number}": {"d0": 1} for number in range(60)}

    def noisy_run():
        return {
            query: {name: float(rng.normal() + (name == "d0")) for name in names} for query in qrels
        }

    run, other = noisy_run(), noisy_run()
    weight = choose_weight(run, other, qrels, "RR")
    values = {w / 20: evaluate(fuse(run, other, w / 20), qrels, ["RR"])["RR"] for w in range(21)}
    assert values[weight] == max(values.values())
    assert max(values[0.0], values[1.0]) < values[weight]
    assert choose_weight(run, run, qrels) == 0.0  # equally good: the smallest


@pytest.mark.parametrize("candidates", [None, {"q": tuple(CORPUS)}])
@pytest.mark.parametrize(("relevant", "prefers_second"), [("long", True), ("short", False)])
def test_fit_weight_learns_whom_to_trust(candidates, relevant, prefers_second):
    split = Split("dev", {"q": "cat"}, CORPUS, {"q": {relevant: 1}}, candidates)
    pipeline = Pipeline(FIRST, Longest())
    fitted = fit_weight(pipeline, split)
    assert (fitted.weight > 0) == prefers_second
    assert evaluate(fitted.run(split), split.qrels, ["RR"])["RR"] == 1.0
    assert pipeline.weight is None


def test_bad_settings_say_what_to_do():
    with pytest.raises(ConfigError, match="depth must be at least 1, got 0"):
        Pipeline(FIRST, Longest(), depth=0)
    with pytest.raises(ConfigError, match=r"weight must lie between 0 .* got 1.5"):
        Pipeline(FIRST, Longest(), weight=1.5)
    with pytest.raises(ConfigError, match=r"got -0\.1"):
        fuse({}, {}, -0.1)
