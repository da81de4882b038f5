"""Lists of one answer and four that look like it."""

import os
import string
from itertools import product

import numpy as np
import pytest

from matchwork.data import load
from matchwork.data.sets.insuranceqa import ShortLists, insuranceqa
from matchwork.rank import BM25

OPTIONS = {"pool": "five", "insert_truth": False}


def corpus(num: int = 3000, seed: int = 0) -> dict[str, str]:
    random = np.random.default_rng(seed)
    words = ["".join(pair) for pair in product(string.ascii_lowercase, repeat=2)]
    frequency = 1 / np.arange(5, len(words) + 5)
    drawn = random.choice(words, size=(num, 12), p=frequency / frequency.sum())
    return {f"d{row}": " ".join(text) for row, text in enumerate(drawn)}


def test_a_list_is_the_first_answer_and_four_of_the_best_for_it():
    documents = corpus()
    qrels = {f"q{i}": {f"d{i}": 0, f"d{i + 1}": 1, f"d{i + 2}": 2} for i in range(0, 500, 5)}
    lists = ShortLists(documents).draw(qrels)
    assert list(lists) == list(qrels)
    counts = {id: set(text.split()) for id, text in documents.items()}
    common = [
        word
        for word in set().union(*counts.values())
        if sum(word in found for found in counts.values()) > 0.2 * len(documents)
    ]
    assert common  # otherwise the rule would not be seen
    search = BM25.fit(documents, stopwords=common)
    at_most = 0
    for query_id, pool in lists.items():
        first, second = list(qrels[query_id])[1:]
        assert len(set(pool)) == 5 and first in pool and second not in pool
        assert sorted(pool, key=list(documents).index) == list(pool)
        found = search.search([documents[first]], top_k=len(documents))[0]
        ranked = [id for id in found if id not in (first, second)]
        least = found[ranked[:1000][-1]] - 1e-5  # equal scores at the end of the list are in it
        assert all(found.get(id, 0.0) > least for id in pool), query_id
        at_most = max(at_most, max(ranked.index(id) for id in pool if id != first))
    assert at_most > 500  # drawn from all of the best, not from the first of them


def test_equal_questions_get_equal_lists_whatever_else_is_read():
    documents = corpus(400)
    qrels = {f"q{i}": {f"d{i}": 1} for i in range(20)}
    lists = ShortLists(documents)
    assert lists.draw(qrels) == lists.draw(qrels) == ShortLists(documents).draw(dict(qrels))


def test_a_small_corpus_gives_what_it_has():
    documents = {
        "a": "red apple tart",
        "b": "red apple pie",
        "c": "blue sky",
        "d": "apple juice",
        "e": "grey sea",
        "f": "wind",
    }
    lists = ShortLists({**documents, **{str(i): f"filler{i}" for i in range(20)}}).draw(
        {"q": {"a": 1}, "none": {"c": 0}, "gone": {"z": 1}}
    )
    assert lists == {"q": ("a", "b", "d")}  # only these share a word with the answer


def write(folder, **files):
    for name, text in files.items():
        (folder / name.replace("__", ".")).write_text(text)


def test_insuranceqa_in_lists_of_five(tmp_path):
    documents = corpus(300)
    rows = "".join(f"{id}\t{text}\n" for id, text in documents.items())
    write(tmp_path, corpus__tsv=f"doc_id\tdoc\n{rows}")
    for offset, name in enumerate(("train", "dev", "test")):
        asked = range(offset, 300, 30)
        queries = "".join(f"{name}-{i}\twhat is {i}\n" for i in asked)
        write(
            tmp_path,
            **{f"queries__{name}__tsv": f"query_id\tquery\n{queries}"},
            **{f"qrels__{name}__txt": "".join(f"{name}-{i} 0 d{i} 1\n" for i in asked)},
        )
    splits = insuranceqa(tmp_path, ["train", "dev", "test"], **OPTIONS)
    for split in splits.values():
        assert split.candidates is not None and len(split.candidates) == 10
        labels = [pair.label for pair in split.pairs()]
        assert (len(labels), sum(labels)) == (50, 10)
    assert insuranceqa(tmp_path, ["dev"], **OPTIONS)["dev"].candidates == splits["dev"].candidates


@pytest.mark.shared_data
def test_the_real_lists():
    test = load("insuranceqa-v2", os.environ["MATCHWORK_DATA"], ["test"], pool="five")["test"]
    assert test.candidates is not None and len(test.candidates) == 2000
    for query_id, pool in test.candidates.items():
        assert len(set(pool)) == 5
        assert sum(test.label(query_id, id) > 0 for id in pool) == 1
    places = [
        next(place for place, id in enumerate(pool) if test.label(query_id, id))
        for query_id, pool in test.candidates.items()
    ]
    assert min(np.bincount(places)) > 300  # the place says nothing
