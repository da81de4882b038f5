"""ADDAX, its four ablations and its options against the slow NumPy version of its equations."""

from typing import Any

import numpy as np
import pytest
import torch
from addax_setup import CLOSE, EXACT, NAMES, VARIANTS, model, penalty, references, texts, weights_of
from iasm_setup import central_difference
from ragged import sides

from matchwork.encode import Encoded, WordEmbedding, WordEmbeddingConfig
from matchwork.errors import ConfigError
from matchwork.interact import Codes
from matchwork.models import ADDAX, MODELS, AddaxConfig


@pytest.mark.parametrize(("name", "options"), VARIANTS)
def test_scores_and_penalties_of_a_ragged_batch(name: str, options: dict[str, Any]) -> None:
    made, pairs = model(name, **options), texts()
    expected = references(made, pairs)
    soft, sign = [t.score_soft for t in expected], [t.score_sign for t in expected]
    assert not made.config.denoiser or not np.allclose(soft, sign, atol=1e-3)
    in_use = made.match(*sides(pairs))
    wanted = soft if made.config.inference == "tanh" else sign
    np.testing.assert_allclose(in_use.scores.detach(), wanted, **EXACT)
    in_training = made.train().match(*sides(pairs))
    np.testing.assert_allclose(in_training.scores.detach(), soft, **EXACT)
    for output in (in_use, in_training):
        if made.config.denoiser:
            assert output.penalty is not None
            errors = [penalty(made, trace) for trace in expected]
            np.testing.assert_allclose(output.penalty.detach(), errors, **EXACT)
        else:
            assert output.penalty is None


@pytest.mark.parametrize("name", NAMES)
def test_everything_on_the_way(name: str) -> None:
    made, pairs = model(name), texts()
    query, document = sides(pairs)
    trace = made.trace(query, document)
    for row, expected in enumerate(references(made, pairs)):
        m, n = len(pairs[row][0]), len(pairs[row][1])
        np.testing.assert_allclose(trace.query_vectors[row, :m].detach(), expected.HQ, **EXACT)
        np.testing.assert_allclose(trace.document_vectors[row, :n].detach(), expected.HD, **EXACT)
        for cell, wanted, length in (
            (trace.query_cell, expected.query, m),
            (trace.document_cell, expected.document, n),
        ):
            assert (cell is None) == (wanted is None)
            if cell is not None and wanted is not None:
                gates = cell.element_gate[row, :length], cell.token_gate[row, :length]
                np.testing.assert_allclose(gates[0].detach(), wanted.E, **EXACT)
                np.testing.assert_allclose(gates[1].detach(), wanted.p, **EXACT)
        if trace.hashed is not None:
            hashed = trace.hashed
            np.testing.assert_allclose(hashed.soft[row, :n].detach(), expected.BD, **EXACT)
            np.testing.assert_array_equal(hashed.hard[row, :n].detach(), expected.code)
            np.testing.assert_allclose(hashed.restored[row, :n].detach(), expected.Hr, **EXACT)


@pytest.mark.parametrize("name", NAMES)
def test_evidence_is_what_the_score_was_made_of(name: str) -> None:
    made, pairs = model(name, inference="tanh"), texts()
    output = made.match(*sides(pairs))
    evidence = output.evidence
    for row, expected in enumerate(references(made, pairs)):
        m, n = len(pairs[row][0]), len(pairs[row][1])
        shown = evidence["cosine"].values[row, :m, :n].detach()
        np.testing.assert_allclose(shown, expected.cosines, **EXACT)
        wanted = np.zeros((m, n))
        for i, line in enumerate(expected.cosines):
            wanted[i, line.argmax()] = line.max()
        found = evidence["alignment"].values[row, :m, :n].detach()
        np.testing.assert_allclose(found, wanted, **EXACT)
        for side, axis, length in (("query", 1, m), ("document", 0, n)):
            answers = evidence[f"{side}_answer"].values[row, :length].detach()
            np.testing.assert_allclose(answers, wanted.sum(axis=axis), **EXACT)
            cell = getattr(expected, side)
            assert (f"{side}_gate" in evidence) == (cell is not None)
            if cell is not None:
                gate = evidence[f"{side}_gate"].values[row, :length].detach()
                values = evidence[f"{side}_values_gate"].values[row, :length].detach()
                np.testing.assert_allclose(gate, cell.p, **EXACT)
                np.testing.assert_allclose(values, cell.E.mean(axis=1), **EXACT)
        assert ("codes" in evidence) == made.config.denoiser
        if made.config.denoiser:
            codes = evidence["codes"]
            assert isinstance(codes, Codes)
            np.testing.assert_allclose(codes.before[row, :n].detach(), expected.HD, **EXACT)
            np.testing.assert_allclose(codes.values[row, :n].detach(), expected.BD, **EXACT)
            np.testing.assert_allclose(codes.after[row, :n].detach(), expected.Hr, **EXACT)


@pytest.mark.parametrize(("name", "options"), VARIANTS)
def test_gradients_of_scores_and_penalties(name: str, options: dict[str, Any]) -> None:
    """Training: through tanh codes; the code in the error of codes is a constant."""
    made, pairs = model(name, **options).train(), texts(lengths=((2, 3), (3, 1)))
    query, document = sides(pairs)
    vectors = [query.vectors.clone().requires_grad_(), document.vectors.clone().requires_grad_()]
    output = made.match(Encoded(vectors[0], query.mask), Encoded(vectors[1], document.mask))
    mixed = torch.tensor([1.0, -0.5], dtype=torch.float64)
    total = (output.scores * mixed).sum()
    if output.penalty is not None:
        total = total + output.penalty.sum()
    total.backward()
    weights = weights_of(made)

    def value() -> float:
        traces = references(made, pairs, weights)
        scores = sum(float(m) * t.score_soft for m, t in zip(mixed, traces, strict=True))
        return scores + sum(penalty(made, t) for t in traces)

    random = np.random.default_rng(1)
    for label, parameter in made.named_parameters():
        if label.startswith("encoder."):
            continue
        array = weights[label]
        every = list(np.ndindex(array.shape))
        places = [every[i] for i in random.permutation(len(every))[:4]]
        assert parameter.grad is not None, label
        slopes = [float(parameter.grad[place]) for place in places]
        expected = central_difference(value, array, places=places)
        np.testing.assert_allclose(slopes, expected, **CLOSE, err_msg=label)
    for number, (query_rows, document_rows) in enumerate(pairs):
        for leaf, rows in zip(vectors, (query_rows, document_rows), strict=True):
            assert leaf.grad is not None
            slopes = leaf.grad[number, : len(rows)].numpy()
            np.testing.assert_allclose(slopes, central_difference(value, rows), **CLOSE)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"query_length": 0}, "query_length must be at least 1, got 0"),
        ({"document_length": 0}, "document_length must be at least 1, got 0"),
        ({"hash_dim": 0}, "hash_dim must be at least 1, got 0"),
        ({"delta": -1.0}, "delta must not be negative, got -1.0"),
        ({"gamma": -0.5}, "gamma must not be negative, got -0.5"),
        ({"alpha": 0.0}, "alpha must be positive, got 0.0"),
        ({"dropout": 1.0}, "dropout must be at least 0 and below 1, got 1.0"),
    ],
)
def test_bad_settings(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        AddaxConfig(**settings)


def test_vectors_that_cannot_be_halved() -> None:
    encoder = WordEmbedding(WordEmbeddingConfig(vocab_size=3, dim=1))
    with pytest.raises(ConfigError, match="halves the vectors' width, which is 1"):
        ADDAX(AddaxConfig(), encoder)
    ADDAX(AddaxConfig(denoiser=False), encoder)


@pytest.mark.parametrize(("lengths", "side"), [((6, 2), "query"), ((2, 8), "document")])
def test_texts_that_are_too_long(lengths: tuple[int, int], side: str) -> None:
    made = model()
    limit = getattr(made.config, f"max_{side}_length")
    message = f"a {side} has {limit + 1} tokens, but .* {side}_length = {limit}; cut texts"
    with pytest.raises(ConfigError, match=message):
        made.match(*sides(texts(lengths=(lengths,)), extra=(0, 0)))


def test_the_start_is_that_of_transformers_with_open_gates() -> None:
    torch.manual_seed(0)
    encoder = WordEmbedding(WordEmbeddingConfig(vocab_size=3, dim=64))
    made = ADDAX(AddaxConfig(gate_bias=-1.0, tied=False), encoder)
    for label, parameter in made.named_parameters():
        if label.startswith("encoder."):
            continue
        expected = 0.02
        if label.endswith(("_cell.weight", "token_weight")):
            expected /= len(parameter) ** 0.5
        if label.endswith("gate.bias"):
            assert (parameter == -1).all()
        elif "bias" in label:
            assert (parameter == 0).all(), label
        else:
            assert abs(float(parameter.detach().std()) / expected - 1) < 0.3, label


def test_names_stand_for_their_ablations() -> None:
    made = {name: MODELS[name].config({}) for name in NAMES}
    expected = [("highway", True), ("none", True), ("plain", True), ("highway", False)]
    found = [
        (config.cells, config.denoiser)
        for config in made.values()
        if isinstance(config, AddaxConfig)
    ]
    assert found == [*expected, ("attention", False)]
