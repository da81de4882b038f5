"""The cross-encoder against the transformers library, one pair at a time, laid out by hand."""

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from tiny_transformers import tiny_encoder

from matchwork.encode.concatenation import longest_first
from matchwork.errors import ConfigError
from matchwork.models import CrossEncoder, CrossEncoderConfig, PairModel, bi_encoded
from matchwork.text import PairBatch, Sequences

CLS = SEP = 1  # of the tiny encoder
ACTIVATIONS = {
    "tanh": np.tanh,
    "relu": lambda x: np.maximum(x, 0),
    "gelu": lambda x: torch.nn.functional.gelu(torch.from_numpy(x)).numpy(),
}


def cross_encoder(**settings: object) -> CrossEncoder:
    torch.manual_seed(0)
    return CrossEncoder(CrossEncoderConfig(**settings), tiny_encoder(20, 8)).double().eval()


def slow_score(model: CrossEncoder, query: list[int], document: list[int]) -> float:
    ids = [CLS, *query, SEP, *document, SEP]
    types = [0] * (len(query) + 2) + [1] * (len(document) + 1)
    with torch.no_grad():
        output = model.encoder.transformer(
            input_ids=torch.tensor([ids]), token_type_ids=torch.tensor([types])
        )
    first = output.last_hidden_state[0, 0].numpy()
    weights = {name: value.detach().numpy() for name, value in model.named_parameters()}
    hidden = weights["dense.weight"] @ first + weights["dense.bias"]
    hidden = ACTIVATIONS[model.config.activation](hidden)
    return float(weights["output.weight"][0] @ hidden + weights["output.bias"][0])


@pytest.mark.parametrize("activation", ["tanh", "relu", "gelu"])
def test_scores(activation: str) -> None:
    model = cross_encoder(activation=activation)
    queries, documents = [[2, 3, 4], [5], [], [6, 7]], [[8, 9], [2, 3, 10, 11], [4], []]
    output = model(PairBatch(Sequences.pad(queries), Sequences.pad(documents)))
    for row, (query, document) in enumerate(zip(queries, documents, strict=True)):
        expected = slow_score(model, query, document)
        assert output.scores[row].item() == pytest.approx(expected, abs=1e-12)
    assert output.evidence["similarity"].values.shape == (4, 3, 4)


def test_the_order_of_the_texts_matters() -> None:
    model = cross_encoder()
    a, b = Sequences.pad([[2, 3]]), Sequences.pad([[8, 9]])
    assert model(PairBatch(a, b)).scores.item() != model(PairBatch(b, a)).scores.item()


@pytest.mark.parametrize(("lengths", "kept"), [((50, 50), (28, 29)), ((9, 80), (9, 48))])
def test_pairs_too_long_together_are_cut(lengths: tuple[int, int], kept: tuple[int, int]) -> None:
    model = cross_encoder()
    assert model.max_pair_tokens == 57
    query, document = ([2 + i % 17 for i in range(length)] for length in lengths)
    found = model(PairBatch(Sequences.pad([query]), Sequences.pad([document])))
    expected = slow_score(model, query[: kept[0]], document[: kept[1]])
    assert found.scores.item() == pytest.approx(expected, abs=1e-12)
    assert found.evidence["similarity"].values.shape == (1, *lengths)


@given(st.integers(0, 30), st.integers(0, 30), st.integers(0, 40))
def test_the_longer_text_is_cut_first(query: int, document: int, room: int) -> None:
    """One token at a time from the longer one; of equals, the query gives way last but one."""
    found = longest_first(torch.tensor(query), torch.tensor(document), room)
    a, b = (int(length) for length in found)
    assert a <= query and b <= document
    assert a + b == min(query + document, room)
    if query + document > room:
        cut = [(query, a), (document, b)]
        assert all(abs(a - b) <= 1 or kept == max(a, b) or kept == full for full, kept in cut)


def test_it_reads_pairs_only() -> None:
    model = cross_encoder()
    assert isinstance(model, PairModel) and not bi_encoded(model)
    with pytest.raises(ConfigError, match=r"dropout must be at least 0 and below 1, got 1\.0"):
        CrossEncoderConfig(dropout=1.0)
