import numpy as np

from matchwork.encode import learn_vectors
from matchwork.text import TokenTable, WordTokenizer

PLACES = {
    "kitchen": "oven spoon bread salt",
    "harbour": "ship anchor sail tide",
}


def learnt(**options) -> tuple[WordTokenizer, np.ndarray]:
    random = np.random.default_rng(0)
    texts = []
    for place, things in PLACES.items():
        words = [*things.split(), place]
        texts += [" ".join(random.permutation(words)) for _ in range(60)]
    tokenizer = WordTokenizer.fit(texts)
    return tokenizer, learn_vectors(tokenizer.encode(texts), tokenizer.vocab_size, dim=6, **options)


def test_words_of_the_same_contexts_are_close() -> None:
    tokenizer, vectors = learnt()
    ids = {word: tokenizer.vocabulary.id(word) for word in tokenizer.vocabulary.words[2:]}
    groups = [[*things.split(), place] for place, things in PLACES.items()]
    within = [vectors[ids[a]] @ vectors[ids[b]] for g in groups for a in g for b in g if a != b]
    across = [vectors[ids[a]] @ vectors[ids[b]] for a in groups[0] for b in groups[1]]
    assert min(within) > max(across) + 0.2


def test_vectors_are_unit_or_zero_and_repeatable() -> None:
    tokenizer, vectors = learnt()
    assert vectors.dtype == np.float32 and vectors.shape == (tokenizer.vocab_size, 6)
    lengths = np.linalg.norm(vectors, axis=1)
    np.testing.assert_allclose(lengths[2:], 1.0, rtol=1e-5)
    assert (lengths[:2] == 0).all()  # padding and the nameless unknown never occur
    assert np.array_equal(learnt()[1], vectors)


def test_texts_do_not_leak_into_each_other() -> None:
    table = TokenTable.from_rows([[2, 3]] * 5 + [[4, 5]] * 5)
    vectors = learn_vectors(table, 6, dim=4)
    assert abs(vectors[2] @ vectors[4]) < 1e-3 and abs(vectors[3] @ vectors[5]) < 1e-3


def test_a_corpus_that_says_nothing_gives_zeros() -> None:
    assert not learn_vectors(TokenTable.from_rows([]), 5, dim=3).any()
    assert not learn_vectors(TokenTable.from_rows([[2], [3]]), 5, dim=3).any()
    assert not learn_vectors(TokenTable.from_rows([[2, 2, 2]]), 5, dim=3).any()


def test_more_dimensions_than_words() -> None:
    assert learn_vectors(TokenTable.from_rows([[2, 3, 4, 2]]), 5, dim=50).shape == (5, 50)


def test_unknown_words_are_left_out() -> None:
    vectors = learn_vectors(TokenTable.from_rows([[2, 10**15, 3], [3, 2]]), 4, dim=2)
    assert vectors.shape == (4, 2) and np.isfinite(vectors).all()
