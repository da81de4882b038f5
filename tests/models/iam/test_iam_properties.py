"""What must hold of IAM whatever its weights: the properties that the equations promise."""

import math
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from iam_setup import DIM, VARIANTS, WORDS, model, sides, texts
from tiny_transformers import TEXTS

from matchwork.encode import Encoded, WordEmbedding, WordEmbeddingConfig, load_transformer
from matchwork.errors import ConfigError
from matchwork.matcher import Matcher
from matchwork.models import IAM, IAMConfig
from matchwork.models.iam.interactive_attention import InteractiveAttention
from matchwork.models.iam.tf_idf import TfIdf, WordBag
from matchwork.text import TokenTable


@given(st.integers(0, 10**6), st.floats(0.01, 50))
def test_no_weight_is_more_than_e_squared_times_another(seed: int, scale: float) -> None:
    made, pairs = model(seed), texts(seed, [(3, 2), (2, 6), (1, 1)])
    with torch.no_grad():
        for parameter in made.attention.parameters():
            parameter.mul_(scale)
    _, document = sides(pairs)
    weights = made.trace(*sides(pairs)).attended.weights.detach()
    for row, length in enumerate(document.mask.sum(1).tolist()):
        found = weights[row, : length + 1]
        assert math.isclose(found.sum().item(), 1, rel_tol=1e-12)
        assert (weights[row, length + 1 :] == 0).all()
        assert found.max() / found.min() <= math.e**2 * (1 + 1e-12)
        assert found.max() <= math.e / (math.e + length / math.e) + 1e-12


def test_the_bound_is_reached_and_the_printed_weights_are_beyond_it() -> None:
    """.586 in the paper's table 3 would need an answer of at most 6 words with <EOS>."""
    made = model(units=1, jump=False)
    with torch.no_grad():
        made.attention.document.copy_(torch.tensor([1e9, 0.0]))  # the sign of a state decides
        made.attention.term.zero_()
        made.attention.term_weight.zero_()
    states = torch.full((1, 25, 2), -0.5).double()
    states[0, 7] = 0.5
    mask = torch.ones(1, 25, dtype=torch.bool)
    nothing = Encoded(torch.zeros(1, 1, 2).double(), torch.ones(1, 1, dtype=torch.bool))
    weights = made.attention(nothing, Encoded(states, mask)).weights
    largest = {T: math.e / (math.e + (T - 1) / math.e) for T in range(1, 26)}
    assert math.isclose(weights.max().item(), largest[25], rel_tol=1e-12)
    assert round(largest[5], 2) == 0.65 and round(largest[25], 2) == 0.24
    assert max(T for T, weight in largest.items() if weight >= 0.586) == 6


def test_terms_shift_all_energies_and_cancel_without_tanh() -> None:
    made, pairs = model(), texts()
    before = made.trace(*sides(pairs)).attended
    inner = torch.atanh(before.energies.detach())
    with torch.no_grad():
        made.attention.term.add_(0.3)  # d_a has length 1, not sum 1: rows move differently
    after = made.trace(*sides(pairs)).attended
    shift = torch.atanh(after.energies.detach()) - inner
    mask = sides(pairs)[1].mask
    for row in range(len(pairs)):
        moved = shift[row, :-1][mask[row]]
        torch.testing.assert_close(moved, moved[:1].expand_as(moved), rtol=1e-8, atol=1e-8)
        assert moved[0].abs() > 1e-3
        linear = inner[row, :-1][mask[row]]
        torch.testing.assert_close((linear + moved[0]).softmax(0), linear.softmax(0))
    assert (after.weights - before.weights).abs().max() > 1e-4


def test_without_weights_attention_is_uniform_and_context_the_mean() -> None:
    made, pairs = model(), texts()
    with torch.no_grad():
        made.attention.document.zero_()
        made.attention.jump_weight.zero_()
    trace = made.trace(*sides(pairs))
    for row, (_, document, _, _) in enumerate(pairs):
        length = len(document) + 1
        expected = torch.full((length,), 1 / length).double()
        torch.testing.assert_close(trace.attended.weights[row, :length].detach(), expected)
        mean = trace.document_states.vectors[row, :length].mean(0)
        torch.testing.assert_close(trace.attended.context[row], mean)


def test_no_jump_is_a_jump_of_weight_zero() -> None:
    made, pairs = model(), texts()
    with torch.no_grad():
        made.attention.jump_weight.zero_()
    without = model(jump=False)
    without.load_state_dict(
        {k: v for k, v in made.state_dict().items() if k in without.state_dict()}
    )
    torch.testing.assert_close(
        without.match(*sides(pairs)).scores, made.match(*sides(pairs)).scores
    )


def test_the_reference_energy_is_another_scale_of_the_jump_weight() -> None:
    made, pairs = model(), texts()
    before = made.match(*sides(pairs)).scores
    with torch.no_grad():
        made.energy.reference.add_(0.7)
        made.attention.jump_weight.mul_(math.exp(-0.7))
    torch.testing.assert_close(made.match(*sides(pairs)).scores, before)


def test_a_factorised_matrix_starts_as_the_dense_one() -> None:
    """Both start as the cosines of word vectors."""
    settings = WordEmbeddingConfig(vocab_size=WORDS, dim=DIM)
    forms = []
    for matrix in ("factorised", "dense"):
        encoder = WordEmbedding(settings).double()
        forms.append(IAM(IAMConfig(matrix=matrix), encoder).double().attention)
    table = encoder.table[2:]
    cosines = torch.nn.functional.cosine_similarity(table[:, None], table[None], dim=-1)
    torch.testing.assert_close(forms[1].matrix[2:, 2:].detach(), cosines)
    query, document = (
        WordBag(torch.randint(2, WORDS, (3, 4)), torch.rand(3, 4).double()) for _ in range(2)
    )
    torch.testing.assert_close(forms[0].product(query, document), forms[1].product(query, document))


@pytest.mark.parametrize("config", VARIANTS)
def test_frozen_parts_get_no_gradient_and_drop_nothing(config: dict[str, Any]) -> None:
    made = model(**{"dropout": 0.5, **config}).train()
    trace = made.trace(*sides(texts()))
    again = made.trace(*sides(texts()))
    assert torch.equal(trace.attended.weights, again.attended.weights)
    assert not torch.equal(trace.logits, again.logits)  # the matcher does drop
    trace.logits.sum().backward()
    frozen = {name for name, p in made.named_parameters() if not p.requires_grad}
    parts = {name.partition(".")[0] for name in frozen}
    assert parts == {"query_reader", "document_reader", "energy"} - (
        set() if made.config.jump else {"energy"}
    )
    assert all(p.grad is None for name, p in made.named_parameters() if name in frozen)
    assert not any(
        part.training for part in (made.query_reader, made.document_reader.stack.dropout)
    )


def test_the_aware_stack_starts_as_the_language_model() -> None:
    made = model()
    assert not torch.equal(
        made.aware.ahead[0].weight_ih_l0, made.query_reader.stack.ahead[0].weight_ih_l0
    )
    made.after_stages()
    for name, value in made.query_reader.stack.state_dict().items():
        assert torch.equal(value, made.aware.state_dict()[name])
    assert made.aware.ahead[0].weight_ih_l0.requires_grad


def test_tf_idf_of_a_corpus() -> None:
    terms = TfIdf(6).double()
    corpus = [TokenTable.from_rows([[2, 3], [2, 2]]), TokenTable.from_rows([[4], [], [2, 9]])]
    terms.fit(corpus)
    expected = np.log(6 / (1 + np.array([0, 0, 3, 1, 1, 0]))) + 1
    np.testing.assert_allclose(terms.idf, expected)
    ids = torch.tensor([[2, 3, 2, 9], [4, 4, 0, 0], [9, 0, 0, 0]])
    mask = torch.tensor([[True] * 4, [True, True, False, False], [True, False, False, False]])
    bag = terms(Encoded(torch.zeros(3, 4, 1), mask, ids))
    vectors = torch.zeros(3, 6).double().scatter_add_(1, bag.ids, bag.weights)
    raw = np.array([0, 0, 2 * expected[2], expected[3], 0, 0])
    np.testing.assert_allclose(vectors[0], raw / np.linalg.norm(raw))
    np.testing.assert_allclose(vectors[1], [0, 0, 0, 0, 1, 0])
    assert (vectors[2] == 0).all()  # nothing but an unknown word
    values, table = torch.rand(6).double(), torch.rand(6, 2).double()
    torch.testing.assert_close(bag.dot(values), vectors @ values)
    torch.testing.assert_close(bag.project(table), vectors @ table)


def test_memory_grows_with_the_vocabulary_not_with_its_square() -> None:
    sizes = []
    for vocab_size in (1_000, 2_000, 4_000):
        encoder = WordEmbedding(WordEmbeddingConfig(vocab_size=vocab_size, dim=8))
        made = IAM(IAMConfig(), encoder)
        sizes.append(sum(value.numel() for value in made.state_dict().values()))
    assert sizes[2] - sizes[1] == 2 * (sizes[1] - sizes[0])
    assert sizes[1] - sizes[0] == 1_000 * (4 * 8 + 2)  # vectors, their shift, two factors, u_a, idf


@pytest.mark.parametrize("unit", ["subword", "word"])
@pytest.mark.parametrize("input_dim", [None, 6])
def test_on_transformer_vectors(bert_folder, unit: Any, input_dim: int | None) -> None:
    torch.manual_seed(0)
    tokenizer, encoder = load_transformer(bert_folder, unit=unit)
    made = IAM(IAMConfig(units=4, input_dim=input_dim), encoder).eval()
    matcher = Matcher(tokenizer, made)
    pairs = [(TEXTS[0], text) for text in TEXTS[1:4]]
    scores = matcher.score(pairs)
    assert len(set(scores.tolist())) == 3
    table = tokenizer.encode(TEXTS[:3])
    encoded = made.encode(table.gather(np.arange(3)))
    assert encoded.ids is not None
    for row in range(3):
        pieces = table[row]
        starts = pieces[pieces < tokenizer.vocab_size]
        assert encoded.ids[row][encoded.mask[row]].tolist() == starts.tolist()
    with torch.no_grad():
        made.attention.term.uniform_(-5, 5)
    assert not np.allclose(
        matcher.score(pairs), scores, rtol=1e-7, atol=0
    )  # terms are known by their first piece
    assert not hasattr(made, "shift")


def test_a_dense_matrix_of_many_words_is_refused_before_memory_ends() -> None:
    words = torch.zeros(20_001, 2)
    assert InteractiveAttention(4, words[:9], matrix="dense").matrix.shape == (9, 9)
    with pytest.raises(ConfigError, match=r'every pair of 20,001 words.*use "factorised"'):
        InteractiveAttention(4, words, matrix="dense")
