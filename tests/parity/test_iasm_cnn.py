"""The CNN head of IASM against loops over cells, on texts shorter and longer than its grid."""

from typing import Any

import numpy as np
import pytest
import torch
from iasm_reference import cnn_distance, pool
from iasm_setup import (
    CLOSE,
    EXACT,
    PARTS,
    K,
    Texts,
    central_difference,
    cnn_weights_of,
    named,
    reference,
    sides,
    texts,
    with_leaves,
)

from matchwork.models.iasm.grid_cnn import GridCNN, adaptive_max

SHAPES = [(1, 1), (3, 1), (1, 3), (3, 3), (9, 17), (4, 8), (17, 10), (5, 13), (2, 16)]
LAYERS = ("first", "second", "hidden", "output")


def head() -> GridCNN:
    torch.manual_seed(4)
    return GridCNN().double()


def tables(shapes: list[tuple[int, int]]) -> list[np.ndarray]:
    random = np.random.default_rng(2)
    return [random.uniform(-1, 1, size=shape) for shape in shapes]


def batch_of(cells: list[np.ndarray], garbage: float = 5.0) -> tuple[torch.Tensor, torch.Tensor]:
    height, width = (max(table.shape[axis] for table in cells) + 2 for axis in (0, 1))
    values = torch.full((len(cells), height, width), garbage, dtype=torch.float64)
    mask = torch.zeros(values.shape, dtype=torch.bool)
    for row, table in enumerate(cells):
        values[row, : table.shape[0], : table.shape[1]] = torch.from_numpy(table)
        mask[row, : table.shape[0], : table.shape[1]] = True
    return values, mask


def test_the_parts_are_those_of_the_specification() -> None:
    shapes = {name: tuple(p.shape) for name, p in GridCNN().named_parameters()}
    assert shapes == {
        "first.weight": (16, 1, 3, 3),
        "first.bias": (16,),
        "second.weight": (32, 16, 3, 3),
        "second.bias": (32,),
        "hidden.weight": (64, 1024),
        "hidden.bias": (64,),
        "output.weight": (1, 64),
        "output.bias": (1,),
    }


def test_values_of_tables_of_every_size_in_one_batch() -> None:
    cnn = head()
    cells = tables([*SHAPES, (0, 0), (0, 4)])
    found = cnn(*batch_of(cells)).detach().numpy()
    expected = [cnn_distance(table, cnn_weights_of(cnn)) for table in cells]
    np.testing.assert_allclose(found, expected, **EXACT)
    assert found[-1] == found[-2]  # no cells at all, whatever the other text


@pytest.mark.parametrize("bins", [1, 4, 8])
@pytest.mark.parametrize("width", [1, 3, 8, 17, 30])
def test_pooling_is_torchs_for_every_length(bins: int, width: int) -> None:
    """The reference and torch's own pooling, which knows one length, agree with ours."""
    lengths = torch.arange(width + 1)
    values = torch.rand(width + 1, 2, 1, width, dtype=torch.float64)
    values *= (torch.arange(width) < lengths[:, None])[:, None, None]
    found = adaptive_max(values, lengths, bins, dim=3)
    assert found.shape == (width + 1, 2, 1, bins) and not found[0].any()
    for length in range(1, width + 1):
        own = values[length, :, :, :length]
        expected = torch.nn.functional.adaptive_max_pool2d(own, (1, bins))
        assert torch.equal(found[length], expected)
        assert np.array_equal(pool(own.numpy(), 1, bins), expected.numpy())


@pytest.mark.parametrize("shape", [(1, 1), (3, 1), (3, 3), (9, 17)], ids=str)
def test_gradients_of_weights_and_cells(shape: tuple[int, int]) -> None:
    cnn = head()
    cells = tables([shape, (2, 2)])
    values, mask = batch_of(cells)
    values.requires_grad_()
    cnn(values, mask).sum().backward()
    weights = cnn_weights_of(cnn)

    def total() -> float:
        return sum(cnn_distance(table, weights) for table in cells)

    random = np.random.default_rng(3)
    for layer in LAYERS:
        for part in PARTS:
            array = getattr(weights, layer if part == "weight" else f"{layer}_bias")
            places = [tuple(random.integers(array.shape)) for _ in range(4)]
            expected = central_difference(total, array, places=places)
            gradient = getattr(getattr(cnn, layer), part).grad
            ours = [gradient[place].item() for place in places]
            np.testing.assert_allclose(ours, expected, **CLOSE, err_msg=f"{layer}.{part}")
            assert gradient.abs().max() > 0
    assert values.grad is not None and (values.grad[~mask] == 0).all()
    places = [tuple(random.integers(shape)) for _ in range(12)]
    expected = central_difference(total, cells[0], places=places)
    assert np.abs(expected).max() > 1e-6
    np.testing.assert_allclose([values.grad[0][p].item() for p in places], expected, **CLOSE)


@pytest.mark.parametrize("garbage", [0.0, 1e6, np.inf, np.nan])
def test_cells_outside_a_pair_are_never_seen(garbage: float) -> None:
    cnn = head()
    cells = tables(SHAPES)
    for row, table in enumerate(cells):
        own = torch.from_numpy(table)[None]
        alone = cnn(own, torch.ones_like(own, dtype=torch.bool))
        together = cnn(*batch_of(cells, garbage))[[row]]
        torch.testing.assert_close(together, alone, **EXACT)


@pytest.mark.parametrize("config", [{"num_layers": 1}, {"num_layers": 2}, {"num_layers": 3}])
def test_whole_model_on_short_long_and_empty_texts(config: dict[str, Any]) -> None:
    made = named("iasm-cnn", **config)
    examples: Texts = texts(lengths=[(1, 1), (3, 1), (1, 9), (9, 17), (17, 12), (3, 11)])
    examples += [(np.zeros((0, K)), examples[0][1]), (np.zeros((0, K)), np.zeros((0, K)))]
    scores = made.match(*sides(examples)).scores.detach().numpy()
    expected = [-reference(made, q, d).s for q, d in examples]
    np.testing.assert_allclose(scores, expected, **EXACT)


def test_a_batch_of_nothing_but_empty_texts() -> None:
    made = named("iasm-cnn")
    empty = [(np.zeros((0, K)), np.zeros((0, K)))] * 2
    for extra in (1, 3):
        scores = made.match(*sides(empty, extra=extra)).scores.detach().numpy()
        np.testing.assert_allclose(scores, [-reference(made, *empty[0]).s] * 2, **EXACT)


def test_gradients_reach_the_words_through_both_matrix_and_grid() -> None:
    made = named("iasm-cnn", seed=2, num_layers=2)
    examples = texts(seed=5, lengths=[(3, 5), (1, 2)])
    batch, leaves = with_leaves(examples)
    made.match(*batch).scores.sum().backward()

    def total() -> float:
        return -sum(reference(made, q, d).s for q, d in examples)

    for position, leaf in enumerate(leaves):
        assert leaf.grad is not None
        for row, example in enumerate(examples):
            expected = central_difference(total, example[position])
            found = leaf.grad[row].numpy()
            np.testing.assert_allclose(found[: len(expected)], expected, **CLOSE)
            assert not found[len(expected) :].any() and np.abs(expected).max() > 1e-6
