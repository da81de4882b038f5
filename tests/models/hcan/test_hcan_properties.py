"""What must hold of HCAN whatever its weights: section 9 of the specification."""

import math
from typing import Any

import numpy as np
import pytest
import torch
from hcan_setup import DIM, ENCODERS, LAYERS, PRESETS, model, phrase_weights, texts
from ragged import side, sides
from torch import Tensor
from torch.nn import functional

from matchwork.encode import Encoded, WordEmbedding, WordEmbeddingConfig
from matchwork.models import HCAN, HCANConfig
from matchwork.models.hcan.levels import Levels
from matchwork.models.hcan.relevance import relevance
from matchwork.text import PairBatch, Sequences

BOTH = pytest.mark.parametrize("preset", PRESETS)
ALL = pytest.mark.parametrize("encoder", ENCODERS)


def levels(kind: Any, seed: int = 0, num_layers: int = 3) -> Levels:
    made = Levels(kind, DIM, 4, num_layers).double().eval()
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for parameter in made.parameters():
            parameter.uniform_(0.1, 1, generator=generator)  # no unit sleeps on positive words
    return made


@ALL
@BOTH
def test_relevance_is_deterministic_with_frozen_encoders(encoder: Any, preset: Any) -> None:
    made = model(encoder=encoder, preset=preset, parts="relevance", dropout=0.0).train()
    query, document = sides(texts())
    first, second = (made.trace(query, document).relevance_features for _ in range(2))
    assert torch.equal(first, second)
    others = dict(made.named_parameters())
    assert all(name.startswith(("levels.", "head.")) for name in others)


def test_the_mean_feature_of_the_paper_is_one_over_the_length() -> None:
    """The row softmax sums to 1, so its mean says nothing about the texts."""
    made, pairs = model(preset="paper"), texts()
    query, document = sides(pairs)
    wgt = phrase_weights(query, LAYERS)
    features = made.trace(query, document, wgt).relevance_features
    largest, mean = features.chunk(2, dim=-1)
    for row, (words, others) in enumerate(pairs):
        m, n = len(words), len(others)
        used = wgt[row, 1:, :m]
        torch.testing.assert_close(mean[row, :, :m], used / n)
        assert (largest[row, :, :m] >= used / n - 1e-12).all()
        assert (largest[row, :, :m] <= used + 1e-12).all()
        if n == 1:
            torch.testing.assert_close(largest[row, :, :m], used)
        assert not features[row, :, m : made.config.query_length].any()


def test_the_mean_of_the_code_would_say_something() -> None:
    query, document = torch.randn(1, 3, 4), torch.randn(1, 5, 4)
    found = relevance(query, document, torch.ones(1, 3, 5, dtype=torch.bool), "query")
    assert found.mean.std() > 1e-3
    torch.testing.assert_close(found.table.sum(1), torch.ones(1, 5))


def test_relevance_by_hand() -> None:
    query = torch.tensor([[[1.0]]])
    document = torch.tensor([[[0.0], [math.log(3)]]])
    found = relevance(query, document, torch.ones(1, 1, 2, dtype=torch.bool), "document")
    torch.testing.assert_close(found.table, torch.tensor([[[0.25, 0.75]]]))
    assert found.largest.item() == pytest.approx(0.75) and found.mean.item() == pytest.approx(0.5)


@BOTH
def test_attention_sums_to_one_over_the_query(preset: Any) -> None:
    made, pairs = model(preset=preset), texts()
    query, document = sides(pairs)
    attention = made.trace(query, document).attention
    assert attention is not None
    columns = attention.table.sum(dim=-2)
    torch.testing.assert_close(columns, document.mask.double().expand_as(columns))
    if preset == "code":
        torch.testing.assert_close(
            attention.salience.sum(-1), torch.ones(LAYERS, len(pairs)).double()
        )


def test_a_query_of_one_word_is_seen_everywhere() -> None:
    made = model(preset="paper")
    query, document = sides(texts(lengths=[(1, 4), (1, 2)]))
    attention = made.trace(query, document).attention
    assert attention is not None
    of_words = document.mask.double().unsqueeze(1).expand(LAYERS, -1, -1, -1)
    torch.testing.assert_close(attention.table[:, :, :1], of_words.reshape(LAYERS, 2, 1, -1))
    sums = torch.stack(made.levels(document)[1:]).sum(dim=2)
    torch.testing.assert_close(attention.summary, sums)


@ALL
def test_the_documents_own_attention_weight_is_dead_in_the_paper(encoder: Any) -> None:
    """A term constant along a column cancels in the softmax over that column."""
    for preset, alive in (("paper", False), ("code", True)):
        made = model(preset=preset, encoder=encoder)
        made.match(*sides(texts())).scores.sum().backward()
        gradient = made.semantic.document.grad
        assert gradient is not None
        assert bool(gradient.abs().max() > 1e-6) is alive
        assert bool(gradient.abs().max() < 1e-14) is not alive


@ALL
@BOTH
def test_padding_appends_zero_features_only(encoder: Any, preset: Any) -> None:
    made, pairs = model(encoder=encoder, preset=preset), texts()
    near, far = (made.trace(*sides(pairs, extra)) for extra in ((0, 0), (1, 5)))
    torch.testing.assert_close(near.relevance_features, far.relevance_features)
    torch.testing.assert_close(near.semantic_features, far.semantic_features)


@pytest.mark.parametrize("kind", ["deep", "wide"])
def test_a_word_is_seen_by_the_phrases_that_hold_it(kind: str) -> None:
    made = levels(kind)
    words = torch.rand(1, 7, DIM, dtype=torch.float64)
    changed, place = words.clone(), 4
    changed[0, place] += 1.0
    mask = torch.ones(1, 7, dtype=torch.bool)
    before, after = made(Encoded(words, mask)), made(Encoded(changed, mask))
    for h, (old, new) in enumerate(zip(before, after, strict=True)):
        moved = (old != new).any(-1)[0].nonzero().flatten().tolist()
        assert moved == list(range(place - h, place + 1))
        assert made.phrase_lengths[h] == len(moved)


def test_the_first_wide_layer_is_the_first_deep_layer() -> None:
    deep, wide = levels("deep"), levels("wide", seed=1)
    wide.layers[0].load_state_dict(deep.layers[0].state_dict())
    text = side([words for words, _ in texts()])
    assert torch.equal(deep(text)[1], wide(text)[1])
    assert not torch.equal(deep(text)[2], wide(text)[2])


@pytest.mark.parametrize("encoder", ["deep", "wide"])
def test_the_relu_of_the_code_changes_nothing_after_convolutions(encoder: Any) -> None:
    """Hence its product can be factored; BiLSTM states may be negative, there it is applied."""
    made = model(encoder=encoder)
    assert not made.semantic.rectify and model(encoder="contextual").semantic.rectify
    scores = made.match(*sides(texts())).scores
    made.semantic.rectify = True
    torch.testing.assert_close(made.match(*sides(texts())).scores, scores)


@BOTH
def test_without_weight_relevance_is_nothing(preset: Any) -> None:
    """In the code preset levels from 2 on have no weights, so one layer is all it can have."""
    made = model(preset=preset, parts="relevance", num_layers=1)
    query, document = sides(texts())
    none = torch.zeros(len(query), 2, query.mask.shape[1])
    assert not made.trace(query, document, none).relevance_features.any()
    scores = made.match(query, document, none).scores
    torch.testing.assert_close(scores, scores[:1].expand_as(scores))
    assert made.match(query, document).scores.std() > 1e-6


def test_only_words_and_pairs_are_weighed_in_the_code() -> None:
    query, document = sides(texts())
    wgt = phrase_weights(query, 3)
    words = query.mask.double()
    for preset in PRESETS:
        weights = model(preset=preset, num_layers=3).trace(query, document, wgt).weights
        for h in range(4):
            plain = preset == "code" and h >= 2
            torch.testing.assert_close(weights[:, h], words if plain else wgt[:, h] * words)


@BOTH
def test_padding_embeddings_get_no_gradient_although_their_row_is_not_zero(preset: Any) -> None:
    torch.manual_seed(0)
    encoder = WordEmbedding(WordEmbeddingConfig(vocab_size=6, dim=DIM, trainable=True))
    made = HCAN(HCANConfig(preset=preset, filters=8), encoder).double()
    with torch.no_grad():
        encoder.table[0] = 3.0
    batch = PairBatch(Sequences.pad([[2, 3], [4]]), Sequences.pad([[5], [3, 2, 4]]))
    made(batch).scores.sum().backward()
    assert encoder.table.grad is not None
    assert not encoder.table.grad[0].any() and encoder.table.grad[2:].any(dim=1).all()


@pytest.mark.parametrize("num_classes", [2, 4])
def test_the_score_is_the_log_odds_of_class_1(num_classes: int) -> None:
    """So binary cross entropy on the score is the negative log likelihood of two classes."""
    made = model(num_classes=num_classes)
    output = made.match(*sides(texts()))
    assert output.logits is not None and output.logits.shape == (4, num_classes)
    probability = output.logits.softmax(-1)[:, 1]
    torch.testing.assert_close(output.scores.sigmoid(), probability)
    labels = torch.tensor([0, 1, 1, 0])
    if num_classes == 2:
        likelihood = functional.cross_entropy(output.logits, labels)
        on_score = functional.binary_cross_entropy_with_logits(output.scores, labels.double())
        on_both = functional.binary_cross_entropy(
            output.logits.softmax(-1), functional.one_hot(labels).double()
        )
        torch.testing.assert_close(on_score, likelihood)
        torch.testing.assert_close(on_both, likelihood)


@ALL
def test_dropout_acts_in_training_only_and_drops_whole_channels(encoder: Any) -> None:
    made = Levels(encoder, DIM, 4, 2, dropout=0.5).double()
    text = Encoded(torch.ones(30, 4, DIM).double(), torch.ones(30, 4, dtype=torch.bool))
    torch.manual_seed(0)
    words: Tensor = made.train()(text)[0]
    assert set(words.unique().tolist()) == {0.0, 2.0}
    assert torch.equal(words, words[:, :1].expand_as(words))
    assert torch.equal(made.eval()(text)[0], text.vectors)


def test_initial_weights() -> None:
    """Keras' defaults: Glorot kernels, zero biases, forget bias 1, orthogonal recurrence."""
    torch.manual_seed(0)
    encoder = WordEmbedding(WordEmbeddingConfig(vocab_size=3, dim=50))
    made = HCAN(HCANConfig(preset="code", filters=32), encoder)
    lstm = made.semantic.lstm
    bound = math.sqrt(6 / (4 * 32 + 4 * 16))
    assert 0.95 * bound < lstm.weight.detach().abs().max() <= bound
    gates = lstm.bias.detach().view(4, 2, 4, 16)
    assert (gates[:, :, 1] == 1).all() and gates.sum() == gates[:, :, 1].numel()
    for matrix in lstm.recurrent.detach().flatten(0, 1):
        np.testing.assert_allclose(matrix @ matrix.T, np.eye(16), atol=1e-5)
    assert all(
        not p.any() for n, p in made.named_parameters() if n.endswith("bias") and "lstm" not in n
    )
