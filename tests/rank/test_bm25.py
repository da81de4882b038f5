import math
import os
from collections import Counter
from pathlib import Path

import bm25s
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from matchwork.errors import ConfigError, DataError, FolderError, UnknownNameError
from matchwork.evaluate import evaluate
from matchwork.rank import bm25, rank_all
from matchwork.rank.bm25 import BM25

CORPUS = {
    "cats": "The cat sat on the mat, and the cat slept.",
    "dogs": "A dog chased the cat.",
    "none": "",
    "fish": "Fish swim; fish eat.",
    "Été": "L'été à la plage: ÉTÉ!",
}

words = st.sampled_from(["red", "green", "blue", "fish", "bird"])
sentences = st.lists(words, max_size=8).map(" ".join)
corpora = st.lists(sentences, min_size=1, max_size=10)


def slow_bm25(query, text, corpus, k1=1.2, b=0.75):
    """The formula, word by word."""
    split = [document.split() for document in corpus]
    mean_length = sum(map(len, split)) / len(split) or 1.0
    words, total = text.split(), 0.0
    for word in query.split():
        containing = sum(word in document for document in split)
        if not containing:
            continue
        idf = math.log(1 + (len(split) - containing + 0.5) / (containing + 0.5))
        count = Counter(words)[word]
        total += idf * count / (count + k1 * (1 - b + b * len(words) / mean_length))
    return total


@given(corpus=corpora, query=sentences, unseen=sentences)
def test_score_is_the_formula_for_seen_and_unseen_texts(corpus, query, unseen):
    texts = [*corpus, unseen, f"{unseen} novelty"]
    scores = BM25.fit(corpus).score([(query, text) for text in texts])
    expected = [slow_bm25(query, text, corpus) for text in texts]
    assert scores == pytest.approx(expected, abs=1e-12)


@given(corpus=corpora, query=sentences, top_k=st.integers(1, 12))
def test_search_agrees_with_score(corpus, query, top_k):
    index = BM25.fit(corpus)
    scores = index.score([(query, text) for text in corpus])
    best = sorted(range(len(corpus)), key=lambda place: (-round(scores[place], 9), place))
    expected = [place for place in best if scores[place] > 0][:top_k]
    (found,) = index.search([query], top_k)
    assert list(found) == [str(place) for place in expected]  # ties in the order of fit, cut too
    assert list(found.values()) == pytest.approx(scores[expected].tolist(), abs=1e-12)


def test_bm25s_indexing_by_itself_gives_the_same_scores():
    words = [text.split() for text in ("a b c", "a a d", "e f g h", "b")]
    theirs = bm25s.BM25(method="lucene", k1=1.2, b=0.75, dtype="float64")
    theirs.index(words, show_progress=False)
    ours = BM25.fit([" ".join(text) for text in words])
    asked = ["a", "b", "h"]
    assert ours.score([(" ".join(asked), " ".join(text)) for text in words]) == pytest.approx(
        theirs.get_scores(asked)
    )


@pytest.mark.slow
def test_numba_finds_what_numpy_finds(monkeypatch):
    rng = np.random.default_rng(0)
    texts = [" ".join(map(str, rng.integers(30, size=5))) for _ in range(200)]
    index, queries = BM25.fit(texts), texts[:20]
    slow = index.search(queries, 7)
    monkeypatch.setattr(bm25, "_NUMBA_PAYS", 0)
    assert index.search(queries, 7) == slow


def test_words_are_lower_cased_and_split_at_everything_else():
    index = BM25.fit(CORPUS)
    assert list(index.search(["CAT"])[0]) == ["cats", "dogs"]
    assert list(index.search(["été"])[0]) == ["Été"]
    assert BM25.fit(["snake_case name"]).search(["case"]) != [{}]


def test_stemming_and_stop_words():
    assert BM25.fit(CORPUS).search(["swimming cats"]) == [{}]
    assert set(BM25.fit(CORPUS, stemmer="english").search(["swimming cats"])[0]) == {
        "cats",
        "dogs",
        "fish",
    }
    assert BM25.fit(CORPUS, stopwords=["The"]).search(["the"]) == [{}]


def test_empty_texts_score_zero():
    index = BM25.fit(CORPUS)
    assert index.score([("", "cat"), ("cat", ""), ("", ""), ("cat", "cat")])[:3].tolist() == [0] * 3
    assert index.score([]).shape == (0,)
    assert index.search(["", "?!", "unheard-of", "cat"])[:3] == [{}, {}, {}]
    assert index.search([]) == []
    assert BM25.fit([""]).search(["cat"]) == [{}]
    assert BM25.fit([""]).score([("cat", "cat")]).tolist() == [0.0]


def test_rank_and_retrieve():
    index = BM25.fit(CORPUS)
    assert [hit.document.id for hit in index.rerank("fish", ["cat", "a fish", ""])] == [
        "1",
        "0",
        "2",
    ]
    run = index.retrieve({"q1": "cat", "q2": "plage"}, top_k=1)
    assert {query: list(found) for query, found in run.items()} == {"q1": ["cats"], "q2": ["Été"]}


def test_windows_do_not_change_scores(monkeypatch):
    pairs = [(query, text) for query in ("cat fish", "the dog") for text in CORPUS.values()]
    index = BM25.fit(CORPUS)
    whole = index.score(pairs)
    monkeypatch.setattr(bm25, "_WINDOW", 3)
    assert index.score(iter(pairs)).tolist() == whole.tolist()


def test_saved_and_loaded_it_is_the_same_to_the_last_bit(tmp_path: Path):
    index = BM25.fit(CORPUS, k1=0.9, b=0.4, stemmer="english", stopwords=["the"])
    index.save(tmp_path / "index")
    loaded = BM25.load(tmp_path / "index")
    queries = ["the cats slept", "fishes", "été"]
    pairs = [(query, text) for query in queries for text in [*CORPUS.values(), "unseen cat"]]
    assert loaded.search(queries) == index.search(queries)
    assert loaded.score(pairs).tolist() == index.score(pairs).tolist()
    assert loaded.documents == index.documents
    assert loaded.config == index.config


def test_a_damaged_folder_is_named(tmp_path: Path):
    folder = tmp_path / "index"
    with pytest.raises(FolderError, match="index is not a complete BM25 folder"):
        BM25.load(folder)
    for name in ("config.json", "vocabulary.json", "documents.jsonl", "index.safetensors"):
        BM25.fit(CORPUS).save(folder)
        whole = (folder / name).read_bytes()
        (folder / name).write_bytes(whole[: len(whole) // 2])
        with pytest.raises(FolderError, match="not a complete BM25 folder"):
            BM25.load(folder)
        (folder / name).unlink()
        with pytest.raises(FolderError, match="not a complete BM25 folder"):
            BM25.load(folder)
    BM25.fit(CORPUS).save(folder)
    config = folder / "config.json"
    config.write_text(config.read_text().replace('"format": 1', '"format": 99'))
    with pytest.raises(FolderError, match=r"format 99, this version reads up to 1; upgrade"):
        BM25.load(folder)


def test_bad_settings_say_what_to_do():
    with pytest.raises(ConfigError, match=r"k1 must not be negative, got -1"):
        BM25.fit(["a"], k1=-1)
    with pytest.raises(ConfigError, match=r"b must lie between 0 and 1, got 2"):
        BM25.fit(["a"], b=2)
    with pytest.raises(UnknownNameError, match="no stemmer named 'englsh'; did you mean 'english'"):
        BM25.fit(["a"], stemmer="englsh")
    with pytest.raises(DataError, match="at least one document"):
        BM25.fit([])
    with pytest.raises(ConfigError, match="top_k must be at least 1, got 0"):
        BM25.fit(["a"]).search(["a"], top_k=0)


@pytest.mark.shared_data
@pytest.mark.skipif(
    not Path(os.environ.get("MATCHWORK_DATA", "?"), "trecqa").is_dir(),
    reason="MATCHWORK_DATA does not name the research data sets",
)
def test_trecqa_gives_the_figures_of_its_readme():
    from matchwork.data import load

    split = load("trecqa")["test"]
    index = BM25.fit(list(dict.fromkeys(split.documents.values())))
    run = rank_all(index, split.queries, split.documents, split.candidates)
    judged = evaluate(run, split.qrels, ["AP", "RR"], "has-positive")
    assert judged.num_queries == 89
    assert judged.values == pytest.approx({"AP": 0.7697, "RR": 0.8349}, abs=5e-5)
    counted = evaluate(run, split.qrels, ["AP", "RR"], "raw")
    assert counted.values == pytest.approx({"AP": 0.7211, "RR": 0.7822}, abs=5e-5)
