"""The spatial GRU with hand-set weights is dynamic programming, cell by cell and step by step."""

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from lcs_weights import lcs_weights

from matchwork.data.sets.lcs import lcs_table
from matchwork.kernels.spatial_gru import Activation, spatial_gates, spatial_gru
from matchwork.studies.match_srnn import LCSGrid

NUM_PAIRS = 4_000
strings = st.text("ABCD", min_size=1, max_size=12)


def indicator(pairs: list[tuple[str, str]]) -> tuple[torch.Tensor, torch.Tensor]:
    """Equal letters as inputs (batch, rows, columns, 1), and the lengths."""
    lengths = torch.tensor([[len(query), len(document)] for query, document in pairs])
    rows, columns = lengths.max(0).values.tolist()
    equal = torch.zeros(len(pairs), rows, columns, 1, dtype=torch.float64)
    for item, (query, document) in enumerate(pairs):
        table = np.array(list(query))[:, None] == np.array(list(document))
        equal[item, : len(query), : len(document), 0] = torch.from_numpy(table)
    return equal, lengths


def states_of(
    pairs: list[tuple[str, str]],
    activation: Activation = "identity",
    scale: float = 1.0,
    engine: str = "auto",
) -> np.ndarray:
    inputs, lengths = indicator(pairs)
    states = spatial_gru(
        inputs, lengths, lcs_weights(scale=scale), activation=activation, engine=engine
    )
    return states[0, ..., 0].numpy() / scale


def grid_of(query: str, document: str) -> LCSGrid:
    inputs, lengths = indicator([(query, document)])
    states = spatial_gru(inputs, lengths, lcs_weights(), activation="identity", engine="diagonal")
    gates = spatial_gates(inputs, lengths, lcs_weights(), states, activation="identity").z
    return LCSGrid(
        list(query), list(document), states[0, 0, ..., 0].numpy(), gates[:, 0, 0, ..., 0].numpy()
    )


def random_pairs(number: int, longest: int, seed: int = 0) -> list[tuple[str, str]]:
    rng = np.random.default_rng(seed)

    def letters() -> str:
        return "".join(rng.choice(list("ABCDEFGHIJ"), size=rng.integers(1, longest + 1)))

    return [(letters(), letters()) for _ in range(number)]


@pytest.mark.parametrize("engine", ["diagonal", "auto"])
def test_it_equals_dynamic_programming_on_thousands_of_pairs(engine):
    pairs = random_pairs(NUM_PAIRS, longest=12)
    for (query, document), states in zip(pairs, states_of(pairs, engine=engine), strict=True):
        found = states[: len(query), : len(document)]
        np.testing.assert_allclose(found, lcs_table(query, document)[1:, 1:], rtol=0, atol=1e-12)


@pytest.mark.parametrize(("scale", "longest"), [(1e-3, 6), (3e-4, 12)])
def test_with_tanh_it_is_nearly_dynamic_programming(scale, longest):
    pairs = random_pairs(500, longest)
    found = states_of(pairs, "tanh", scale)
    errors = [
        np.abs(states[: len(query), : len(document)] - lcs_table(query, document)[1:, 1:]).max()
        for (query, document), states in zip(pairs, found, strict=True)
    ]
    assert 1e-7 < max(errors) < 2e-4


@pytest.mark.parametrize(("scale", "length"), [(1e-3, 6), (1e-3, 12), (3e-4, 12)])
def test_what_tanh_loses_over_a_chain_of_matches(scale, length):
    text = "ABCDEFGHIJKL"[:length]
    found = states_of([(text, text)], "tanh", scale)[0, -1, -1]
    # Every addition k passes through tanh(x) = x - x^3 / 3, and the cubes add up.
    expected = scale**2 / 3 * (length * (length + 1) / 2) ** 2
    assert length - found == pytest.approx(expected, rel=0.01)


def test_without_a_sharp_gate_it_is_not_dynamic_programming():
    inputs, lengths = indicator([("ABCDE", "FACGD")])
    soft = lcs_weights(sharpness=2.0)
    states = spatial_gru(inputs, lengths, soft, activation="identity", engine="reference")
    assert abs(float(states[0, 0, -1, -1, 0]) - 3) > 0.1


def test_the_path_of_the_papers_example():
    grid = grid_of("ABCDE", "FACGD")
    cells = [(cell.row + 1, cell.column + 1) for cell in grid.path]
    assert cells == [(5, 5), (4, 5), (3, 4), (3, 3), (2, 2), (1, 2)]
    matched = [grid.query[c.row] for c in grid.path if c.move == "diagonal"]
    assert matched == ["D", "C", "A"]
    assert grid.agrees


@settings(max_examples=150, deadline=None)
@given(query=strings, document=strings)
def test_the_path_collects_a_longest_common_subsequence(query, document):
    grid = grid_of(query, document)
    found = [
        (cell.row, cell.column)
        for cell in grid.path
        if cell.move == "diagonal" and query[cell.row] == document[cell.column]
    ]
    assert len(found) == lcs_table(query, document)[-1, -1]
    assert grid.agrees


def test_a_path_that_loses_a_match_does_not_agree():
    grid = grid_of("AB", "AB")
    assert grid.agrees
    sideways = np.zeros_like(grid.gates)
    sideways[1] = 1.0  # always to the left
    assert not LCSGrid(grid.query, grid.document, grid.states, sideways).agrees
