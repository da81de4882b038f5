"""Phrase weights on tensors against plain counting."""

from collections import Counter
from math import log

import numpy as np
import pytest
import torch
from hypothesis import example, given
from hypothesis import strategies as st

from matchwork.encode import WordEmbedding
from matchwork.matcher import Matcher
from matchwork.models import HCAN, HCANConfig
from matchwork.models.hcan.phrase_weights import PhraseWeights, phrase_table
from matchwork.text import Sequences, TokenTable, WordTokenizer

HUGE = 2**62 + 12345  # like the id of an unknown word
words = st.sampled_from([2, 3, 4, 5, HUGE])
texts = st.lists(words, max_size=7)
corpora = st.lists(texts, max_size=6)


def fitted(*corpora: list[list[int]]) -> PhraseWeights:
    made = PhraseWeights().double()
    made.fit([TokenTable.from_rows(corpus) for corpus in corpora])
    return made


def slow_weight(corpus: list[list[int]], phrase: tuple[int, ...]) -> float:
    """Weight of one phrase as HCAN defines it, by counting."""
    order = len(phrase)
    counts = Counter(
        tuple(text[i : i + order]) for text in corpus for i in range(len(text) - order + 1)
    )
    if phrase not in counts:
        return 1.0
    total = sum(map(len, corpus))
    rarity = {gram: log(1 + total / count) for gram, count in counts.items()}
    low, high = min(rarity.values()), max(rarity.values())
    return (rarity[phrase] - low) / (high - low) if high > low else 0.0


def counted_weights(corpus: list[list[int]], ids: list[int], order: int) -> list[float]:
    """Weight of the phrase at each position; the end of the text cuts it short."""
    return [slow_weight(corpus, tuple(ids[i : i + order])) for i in range(len(ids))]


def test_phrases_never_cross_the_end_of_a_text() -> None:
    made = fitted([[2, 3], [2, 3], [2, 3], [4, 5]])
    batch = Sequences.pad([[3, 2], [2, 3]])
    found = made(batch.ids, batch.mask, [2])[:, 0, 0]
    assert found.tolist() == [1.0, 0.0]  # unseen, and the most frequent pair


@given(left=corpora, right=corpora, rows=st.lists(texts, min_size=1, max_size=3))
@example(left=[[2, 3, 2], [3, 2, 3]], right=[[3], [2, 2, 3]], rows=[[3, 3, 2, 2], [2, 3, HUGE]])
def test_weights_of_every_length(
    left: list[list[int]], right: list[list[int]], rows: list[list[int]]
) -> None:
    """Both sides are counted together; phrases past three words weigh the mean of their words."""
    batch = Sequences.pad(rows)
    found = fitted(left, right)(batch.ids, batch.mask, [1, 2, 3, 4, 5])
    assert found.shape == (len(rows), 5, batch.ids.shape[1])
    for row, ids in enumerate(rows):
        by_order = [counted_weights(left + right, ids, order) for order in (1, 2, 3)]
        for level, length in enumerate([1, 2, 3, 4, 5]):
            for i in range(len(ids)):
                real = min(length, len(ids) - i)
                mean = np.mean(by_order[0][i : i + real])
                expected = by_order[real - 1][i] if real <= 3 else mean
                assert found[row, level, i].item() == pytest.approx(expected, abs=1e-12)
        assert not found[row, :, len(ids) :].any()


def test_keys_are_sorted_and_unseen_phrases_weigh_1() -> None:
    keys, weights = phrase_table([TokenTable.from_rows([[2, 3, 2, 3, 4]])], 3)
    assert (np.diff(keys) > 0).all() and weights.min() == 0 and weights.max() == 1
    made = fitted([[2, 3, 2, 3, 4]])
    found = made(torch.tensor([[9, 2]]), torch.ones(1, 2, dtype=torch.bool), [1, 2])
    assert found.tolist() == [[[1.0, 0.0], [1.0, 0.0]]]  # last: the pair is the word 2 alone


def test_without_counts_every_word_weighs_1() -> None:
    mask = torch.tensor([[True, True, False]])
    found = PhraseWeights()(torch.tensor([[4, 5, 0]]), mask, [1, 2, 4])
    assert found.tolist() == [[[1.0, 1.0, 0.0]] * 3]


@pytest.mark.parametrize("parts", ["both", "relevance"])
@pytest.mark.parametrize("preset", ["paper", "code"])
def test_a_model_weighs_saves_and_opens_them(
    parts, preset, tmp_path, tokenizer: WordTokenizer, pairs: list[tuple[str, str]]
) -> None:
    torch.manual_seed(0)
    encoder = WordEmbedding.from_vocabulary(tokenizer.vocabulary, dim=8)
    config = HCANConfig(parts=parts, preset=preset, filters=8, phrase_weights=True)
    model = HCAN(config, encoder).eval()
    matcher = Matcher(tokenizer, model)
    before = matcher.score(pairs)
    tables = [tokenizer.encode(list(side)) for side in zip(*pairs, strict=True)]
    model.fit_corpus(tables)
    scores = matcher.score(pairs)
    assert np.abs(scores - before).max() > 1e-4
    assert {"phrases.keys", "phrases.weights"} <= model.frozen_names()
    shown = matcher.output(*pairs[1]).evidence["phrase_weight_1"].values[0]
    words = tables[0][1]
    corpus = [table[i].tolist() for table in tables for i in range(len(table))]
    np.testing.assert_allclose(shown, counted_weights(corpus, words.tolist(), 2), atol=1e-6)
    matcher.save(tmp_path / "matcher")
    again = Matcher.load(tmp_path / "matcher", device="cpu")
    assert np.array_equal(again.score(pairs), scores)
    assert len(again.model.phrases.keys) == len(model.phrases.keys) > 20


def test_contextual_levels_weigh_single_words() -> None:
    encoder = WordEmbedding.from_vocabulary(WordTokenizer.fit(["a b"]).vocabulary, dim=4)
    made = {
        kind: HCAN(HCANConfig(encoder=kind, filters=4), encoder).levels.phrase_lengths
        for kind in ("deep", "wide", "contextual")
    }
    assert made == {"deep": [1, 2, 3, 4, 5], "wide": [1, 2, 3, 4, 5], "contextual": [1] * 5}
