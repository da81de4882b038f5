import math
import os
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from matchwork.data import Split, load
from matchwork.errors import ConfigError, DataError
from matchwork.evaluate import evaluate
from matchwork.evaluate.measured_split import MeasuredSplit
from matchwork.rank import rank_all
from matchwork.rank.bm25 import BM25
from matchwork.rank.rm3 import RM3, RM3Config, rm3_run

RARE = ["glacier", "moraine", "crevasse", "ablation", "firn", "x", "a" * 21]
rare_texts = st.lists(st.sampled_from(RARE), max_size=4).map(
    lambda words: " ".join(["ice", *words])
)
PADDING = [f"filler number{place} the" for place in range(80)]
"""Makes every word of `RARE` rarer than one document in ten."""


def slow_rm3(query, texts, corpus, scores, config):
    """The formula, word by word."""
    split = {text: text.split() for text in corpus}
    known = {word for words in split.values() for word in words}
    containing = {word: sum(word in words for words in split.values()) for word in known}
    best = sorted(range(len(texts)), key=lambda place: -scores[place])[: config.num_documents]
    model = Counter()
    for place in best:
        words = split[texts[place]]
        for word in words:
            if 2 <= len(word) <= 20 and containing[word] / len(corpus) <= 0.1 and scores[place]:
                model[word] += scores[place] / len(words)
    kept = dict(model.most_common(config.num_words))
    asked = Counter(word for word in query.split() if word in known)
    own = config.original_weight if kept else 1.0
    shares = {word: own * count / asked.total() for word, count in asked.items()}
    for word, weight in kept.items():
        shares[word] = shares.get(word, 0.0) + (1 - own) * weight / sum(kept.values())
    mean_length = sum(map(len, split.values())) / len(split)

    def gain(word, text):
        words = split[text]
        idf = math.log(1 + (len(corpus) - containing[word] + 0.5) / (containing[word] + 0.5))
        count = words.count(word)
        return idf * count / (count + 1.2 * (0.25 + 0.75 * len(words) / mean_length))

    return [sum(share * gain(word, text) for word, share in shares.items()) for text in texts]


@given(
    texts=st.lists(rare_texts, min_size=1, max_size=8, unique=True),
    query=st.lists(st.sampled_from([*RARE, "unseen"]), max_size=3).map(" ".join),
    weight=st.sampled_from([0.0, 0.3, 1.0]),
)
def test_the_formula(texts, query, weight):
    # All words and documents are kept, so that no tie decides what expands the query.
    config = RM3Config(num_documents=20, num_words=20, original_weight=weight)
    index, documents = BM25.fit([*texts, *PADDING]), dict(enumerate(texts))
    documents = {f"d{place}": text for place, text in documents.items()}
    found = rank_all(index, {"q": query}, documents)
    run = RM3(index, config).rerank_run({"q": query}, documents, found)
    scores = list(found["q"].values())
    expected = slow_rm3(query, texts, [*texts, *PADDING], scores, config)
    assert list(run["q"]) == list(documents)
    assert list(run["q"].values()) == pytest.approx(expected, abs=1e-12)


def test_a_document_without_the_query_word_is_found_by_its_company():
    documents = {
        "hit": "glacier moraine crevasse",
        "also": "glacier moraine",
        "company": "moraine crevasse",
        "stranger": "violin sonata",
    }
    index = BM25.fit([*documents.values(), *PADDING])
    found = rank_all(index, {"q": "glacier"}, documents)
    assert found["q"]["company"] == found["q"]["stranger"] == 0
    run = RM3(index).rerank_run({"q": "glacier"}, documents, found)["q"]
    assert run["company"] > run["stranger"] == 0


def test_what_expands_a_query():
    index = BM25.fit(["glacier moraine the x", "glacier firn", f"glacier {'a' * 21}", *PADDING])
    feedback = [("glacier moraine the x", 2.0), (f"glacier {'a' * 21}", 1.0), ("glacier firn", 0.0)]
    shares = RM3(index).expand("glacier unseen", feedback)
    # 2/4 + 1/2 of glacier, 2/4 of moraine: two thirds and one third of the added half. Neither
    # the common word, nor the short, nor the long one; nothing from a document that scored 0.
    assert shares == pytest.approx({"glacier": 0.5 + 1 / 3, "moraine": 1 / 6})
    only_one = RM3(index, RM3Config(num_words=1)).expand("firn", feedback)
    assert only_one == pytest.approx({"firn": 0.5, "glacier": 0.5})


@given(texts=st.lists(rare_texts, min_size=1, max_size=8), query=rare_texts)
def test_the_query_alone_ranks_as_bm25(texts, query):
    documents = {f"d{place}": text for place, text in enumerate(texts)}
    index = BM25.fit([*texts, *PADDING])
    found = rank_all(index, {"q": query}, documents)["q"]
    run = RM3(index, RM3Config(original_weight=1.0)).rerank_run(
        {"q": query}, documents, {"q": found}
    )
    num_words = len(query.split())
    if index.score([(query, query)])[0] > 0 and all(w in index.vocabulary for w in query.split()):
        assert {d: s * num_words for d, s in run["q"].items()} == pytest.approx(found)


def test_only_the_best_documents_are_believed():
    documents = {"first": "glacier", "second": "glacier moraine firn ablation crevasse"}
    index = BM25.fit([*documents.values(), *PADDING])
    found = rank_all(index, {"q": "glacier"}, documents)
    one = RM3(index, RM3Config(num_documents=1)).rerank_run({"q": "glacier"}, documents, found)["q"]
    assert one == pytest.approx(found["q"])  # "first" adds only the query's own word
    two = RM3(index).rerank_run({"q": "glacier"}, documents, found)["q"]
    assert two["second"] > one["second"]


@given(texts=st.lists(rare_texts, min_size=2, max_size=8), query=rare_texts, data=st.data())
def test_the_order_of_the_candidates_tells_nothing(texts, query, data):
    """TrecQA lists positives first: neither documents nor words may be chosen by position."""
    documents = {f"d{place}": text for place, text in enumerate(texts)}
    index = BM25.fit([*texts, *PADDING])
    found = rank_all(index, {"q": query}, documents)["q"]
    turned = dict(data.draw(st.permutations(list(found.items()))))
    rm3 = RM3(index, RM3Config(num_documents=2, num_words=1))
    runs = [rm3.rerank_run({"q": query}, documents, {"q": run})["q"] for run in (found, turned)]
    assert runs[0] == runs[1]


def test_nothing_known_changes_nothing():
    index, documents = BM25.fit(["glacier", "moraine"]), {"a": "glacier", "b": "moraine"}
    rm3 = RM3(index)
    assert rm3.rerank_run({"q": "unseen"}, documents, {"q": {"a": 0.0, "b": 0.0}}) == {
        "q": {"a": 0.0, "b": 0.0}
    }
    assert rm3.rerank_run({"q": "glacier"}, documents, {"q": {}}) == {"q": {}}
    # Two documents: every word is in more than a tenth of them.
    assert rm3.expand("glacier", [("glacier moraine", 1.0)]) == {"glacier": 1.0}


def test_bad_input_says_what_to_do():
    with pytest.raises(ConfigError, match="num_documents must be at least 1, got 0"):
        RM3Config(num_documents=0)
    with pytest.raises(ConfigError, match="num_words must be at least 1, got -1"):
        RM3Config(num_words=-1)
    with pytest.raises(ConfigError, match="original_weight must lie between 0 and 1, got 2"):
        RM3Config(original_weight=2)
    with pytest.raises(
        DataError, match="document 'new' is not in the index of 1 texts; fit BM25 on"
    ):
        RM3(BM25.fit(["old"])).rerank_run({"q": "old"}, {"new": "new"}, {"q": {"new": 0.0}})


@pytest.mark.parametrize("has_candidates", [True, False])
def test_a_split_is_counted_where_bm25_counted_it(has_candidates):
    documents = {"a": "glacier moraine", "b": "glacier moraine", "c": "moraine firn"}
    documents |= {f"p{place}": text for place, text in enumerate(PADDING)}
    pools = {"q": ("a", "b", "c")} if has_candidates else None
    split = Split("test", {"q": "glacier"}, documents, {"q": {"c": 1}}, pools)
    found = MeasuredSplit(split, "raw", ["AP"]).bm25_run()
    run = rm3_run(split, found)
    assert list(run["q"]) == list(found["q"])
    assert run["q"]["a"] == run["q"]["b"] > 0
    kept = RM3Config(original_weight=1.0)
    texts = list(dict.fromkeys(documents.values())) if has_candidates else documents
    plain = RM3(BM25.fit(texts), kept).rerank_run(split.queries, documents, found)
    assert plain["q"] == pytest.approx(found["q"])


@pytest.mark.shared_data
def test_tweets_of_2013():
    """QL as published, to the last digit; expansion helps BM25."""
    year = load("trec-microblog", os.environ["MATCHWORK_DATA"], ["2013"])["2013"]
    measured = MeasuredSplit(year, "trec-eval", ["AP", "P@30"])
    found = measured.bm25_run()
    runs = {**year.runs, "BM25": found, "BM25+RM3": rm3_run(year, found)}
    values = {
        name: evaluate(run, year.qrels, ["AP"], "trec-eval")["AP"] for name, run in runs.items()
    }
    assert values == pytest.approx({"QL": 0.2532, "BM25": 0.2062, "BM25+RM3": 0.21346}, abs=5e-5)
    precision = measured.evaluate(year.runs["QL"])["P@30"]
    assert precision == pytest.approx(0.4450, abs=5e-5)
