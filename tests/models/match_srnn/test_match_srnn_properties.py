"""The properties that Match-SRNN's specification lists, by their numbers, of the whole model.

Those of the spatial GRU alone are tested with it.
"""

from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from match_srnn_reference import Text
from match_srnn_setup import EXACT, VARIANTS, model, score, sides, texts

from matchwork.encode import Encoded
from matchwork.interact import WordWeights
from matchwork.models import MatchSRNN

LENGTH = st.integers(1, 6)
DIRECTIONS = pytest.mark.parametrize("direction", ["forward", "both"])


def reversed_text(text: Text) -> Text:
    return Text(text.vectors[::-1].copy(), text.ids[::-1])


def swapped_blocks(weights: torch.Tensor, units: int) -> torch.Tensor:
    """The first two blocks of columns, top and left or left and top, in each other's place."""
    first, second, rest = weights[..., :units], weights[..., units : 2 * units], 2 * units
    return torch.cat([second, first, weights[..., rest:]], dim=-1)


def test_properties_1_and_2_gates_and_states_are_bounded() -> None:
    made = model(seed=4, direction="both")
    evidence = made.match(*sides(texts())).evidence
    for suffix in ("", "_reverse"):
        gates = [evidence[f"gate_{name}{suffix}"] for name in ("input", "left", "top", "diagonal")]
        mask = gates[0].mask
        assert all((gate.values[mask] > 0).all() for gate in gates)
        total = sum(gate.values[mask] for gate in gates)
        torch.testing.assert_close(total, torch.ones_like(total), **EXACT)
        listens = made.score.weight.abs().view(2, -1)[bool(suffix) * 1].sum()
        assert (evidence[f"state{suffix}"].values.abs() < listens).all()


@pytest.mark.parametrize("config", VARIANTS)
def test_property_3_padding(config: dict[str, Any]) -> None:
    made = model(**config)
    pairs = texts()
    plain = made.match(*sides(pairs, extra=(0, 0))).scores
    for garbage, extra in ((3.0, (5, 0)), (np.inf, (0, 4)), (np.nan, (2, 9))):
        wide = made.match(*sides(pairs, garbage, extra)).scores
        torch.testing.assert_close(wide, plain, **EXACT)
    alone = [score(made, *pair) for pair in pairs]
    np.testing.assert_allclose(plain.detach(), alone, **EXACT)


@DIRECTIONS
def test_property_3_garbage_in_padding_has_no_gradient(direction: str) -> None:
    made = model(direction=direction)
    leaves, batch = [], []
    for side in sides(texts(), extra=(3, 3)):
        leaf = side.vectors.masked_fill(~side.mask.unsqueeze(-1), 7.0).requires_grad_()
        leaves.append((leaf, side.mask))
        batch.append(Encoded(leaf, side.mask))
    made.match(*batch).scores.square().sum().backward()
    for leaf, mask in leaves:
        assert leaf.grad is not None
        assert (leaf.grad[~mask] == 0).all() and (leaf.grad[mask] != 0).any()


@given(seed=st.integers(0, 1000), m=LENGTH, n=LENGTH)
def test_property_5_reverse_scan_is_the_forward_scan_of_reversed_texts(
    seed: int, m: int, n: int
) -> None:
    both, forward = model(seed, direction="both"), model(seed)
    units = both.config.units
    with torch.no_grad():
        both.score.weight[:, :units] = 0.0  # the reverse scan alone
        forward.tensor.load_state_dict(both.tensor.state_dict())
        for name, parameter in forward.gru.items():
            parameter.copy_(both.gru[name][1:])
        forward.score.weight.copy_(both.score.weight[:, units:])
        forward.score.bias.copy_(both.score.bias)
    query, document = texts(seed, lengths=[(m, n)])[0]
    turned = score(forward, reversed_text(query), reversed_text(document))
    assert score(both, query, document) == pytest.approx(turned, abs=1e-10)


def mirrored(made: MatchSRNN) -> MatchSRNN:
    """The same model for the two texts in each other's place."""
    other, units = model(**vars(made.config)), made.config.units
    with torch.no_grad():
        other.score.load_state_dict(made.score.state_dict())
        for name, weights in made.gru.items():
            if name.startswith("gate"):
                weights = weights[:, [0, 2, 1, 3]]
            if name.startswith("reset"):
                weights = weights[:, [1, 0, 2]]
            if name in ("gate", "reset", "state"):
                weights = swapped_blocks(weights, units)
            other.gru[name].copy_(weights)
        if made.config.interaction == "tensor":
            assert other.tensor.bias is not None and made.tensor.bias is not None
            other.tensor.tensor.copy_(made.tensor.tensor.transpose(1, 2))
            other.tensor.linear.copy_(made.tensor.linear.roll(made.encoder.dim, dims=1))
            other.tensor.bias.copy_(made.tensor.bias)
    return other


@DIRECTIONS
@pytest.mark.parametrize("gates", ["full", "shared"])
@pytest.mark.parametrize("interaction", ["tensor", "cosine"])
def test_property_6_swapped_texts(direction: str, gates: str, interaction: str) -> None:
    made = model(seed=6, direction=direction, gates=gates, interaction=interaction)
    other = mirrored(made)
    for query, document in texts(seed=6):
        straight = score(made, query, document)
        assert score(other, document, query) == pytest.approx(straight, abs=1e-10)
    query, document = texts(seed=6)[0]
    assert abs(score(made, document, query) - score(made, query, document)) > 1e-6


@DIRECTIONS
def test_property_8_one_unit_needs_no_shared_gates(direction: str) -> None:
    full = model(seed=8, units=1, direction=direction)
    shared = model(seed=9, units=1, direction=direction, gates="shared")
    shared.load_state_dict(full.state_dict())
    for pair in texts():
        assert score(shared, *pair) == score(full, *pair)


def test_shared_gates_are_full_gates_with_equal_rows() -> None:
    shared, full = model(units=3, gates="shared"), model(seed=1, units=3)
    with torch.no_grad():
        for name, parameter in full.named_parameters():
            parameter.copy_(shared.get_parameter(name).expand_as(parameter))
    for pair in texts():
        assert score(shared, *pair) == pytest.approx(score(full, *pair), abs=1e-10)


def test_no_reset_gates_are_open_ones() -> None:
    without, opened = model(reset=False), model(seed=1)
    with torch.no_grad():
        for name, parameter in without.named_parameters():
            opened.get_parameter(name).copy_(parameter)
        opened.gru["reset"].zero_()
        opened.gru["reset_bias"].fill_(60.0)
    for pair in texts():
        assert score(without, *pair) == pytest.approx(score(opened, *pair), abs=1e-10)


@given(seed=st.integers(0, 1000), i=LENGTH, j=LENGTH)
def test_property_9_a_state_is_the_corner_of_the_prefixes(seed: int, i: int, j: int) -> None:
    made = model(seed, units=1, head="state")
    query, document = texts(seed, lengths=[(6, 6)])[0]
    table = made.match(*sides([(query, document)])).evidence["state"]
    prefixes = (Text(text.vectors[:k], text.ids[:k]) for text, k in ((query, i), (document, j)))
    assert score(made, *prefixes) == pytest.approx(table.values[0, i - 1, j - 1].item(), abs=1e-10)


def test_evidence_can_be_made_after_inference_mode_and_is_made_only_when_looked_at() -> None:
    made = model(direction="both")
    calls = []
    original = made._evidence
    made._evidence = lambda *given: calls.append(1) or original(*given)  # type: ignore
    with torch.inference_mode():
        output = made.match(*sides(texts()))
    assert not calls
    assert len(output.evidence) == 13 and len(calls) == 1
    assert torch.isfinite(output.evidence["gate_top_reverse"].values).all()


@pytest.mark.parametrize("config", VARIANTS)
def test_what_words_add_is_the_score_less_its_bias(config: dict[str, Any]) -> None:
    """And without the words at the end of a text, what is left adds what it did before."""
    made = model(**config)
    pairs = texts()
    output = made.match(*sides(pairs))
    bias = made.score.bias.item() if made.config.head == "linear" else 0.0
    for side in ("query", "document"):
        added = output.evidence[f"{side}_contribution"]
        assert isinstance(added, WordWeights) and not added.values[~added.mask].any()
        torch.testing.assert_close(added.values.sum(1) + bias, output.scores.detach(), **EXACT)
    if made.config.direction == "forward":
        query, document = pairs[0]
        shorter = Text(document.vectors[:-1], document.ids[:-1])
        left = made.match(*sides([(query, shorter)])).evidence["document_contribution"]
        whole = output.evidence["document_contribution"].values[0, : len(shorter.ids)]
        torch.testing.assert_close(left.values[0, : len(shorter.ids)], whole, **EXACT)
