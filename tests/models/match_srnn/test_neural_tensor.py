"""The neural tensor against loops over its equation, and what it costs."""

from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch.utils._python_dispatch import TorchDispatchMode

from matchwork.encode import Encoded
from matchwork.errors import ConfigError
from matchwork.interact import same_words
from matchwork.models.match_srnn.neural_tensor import NeuralTensor

BIASES = ("inside", "outside", "none")


def filled(dim: int, channels: int, seed: int = 0, **settings: Any) -> NeuralTensor:
    tensor = NeuralTensor(dim, channels, **settings).double()
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for parameter in tensor.parameters():
            parameter.uniform_(-1, 1, generator=generator)
    return tensor


def vectors(*shape: int, seed: int = 0) -> torch.Tensor:
    return torch.from_numpy(np.random.default_rng(seed).normal(size=shape))


@given(sizes=st.tuples(*[st.integers(1, 5)] * 5), bias=st.sampled_from(BIASES), tied=st.booleans())
def test_equation(sizes: tuple[int, ...], bias: Any, tied: bool) -> None:
    batch, m, n, dim, channels = sizes
    tensor = filled(dim, channels, bias=bias, tied=tied)
    query, document = vectors(batch, m, dim), vectors(batch, n, dim, seed=1)
    found = tensor(query, document)
    assert found.shape == (batch, m, n, channels)
    own, other = (tensor.linear,) * 2 if tied else (tensor.linear[:, :dim], tensor.linear[:, dim:])
    for b, i, j, k in np.ndindex(*found.shape):
        x, y = query[b, i], document[b, j]
        inside = x @ tensor.tensor[k] @ y + own[k] @ x + other[k] @ y
        added = 0.0 if tensor.bias is None else tensor.bias[k]
        expected = (inside + added).relu() if bias == "inside" else inside.relu() + added
        torch.testing.assert_close(found[b, i, j, k], torch.as_tensor(expected))


@pytest.mark.parametrize("bias", BIASES)
@pytest.mark.parametrize("tied", [False, True])
@pytest.mark.parametrize("lengths", [(3, 2), (2, 4)])
def test_gradients(bias: Any, tied: bool, lengths: tuple[int, int]) -> None:
    tensor = filled(2, 3, bias=bias, tied=tied)
    names = [name for name, _ in tensor.named_parameters()]

    def cells(query: torch.Tensor, document: torch.Tensor, *weights: torch.Tensor) -> Any:
        given = dict(zip(names, weights, strict=True))
        return torch.func.functional_call(tensor, given, (query, document))

    inputs = [vectors(2, lengths[0], 2), vectors(2, lengths[1], 2, seed=1), *tensor.parameters()]
    assert torch.autograd.gradcheck(cells, [x.detach().requires_grad_() for x in inputs])


@pytest.mark.parametrize("lengths", [(0, 3), (3, 0), (0, 0)])
def test_texts_without_words(lengths: tuple[int, int]) -> None:
    found = filled(4, 2)(vectors(2, lengths[0], 4), vectors(2, lengths[1], 4))
    assert found.shape == (2, *lengths, 2)
    assert filled(4, 2)(vectors(0, 3, 4), vectors(0, 5, 4)).shape == (0, 3, 5, 2)


def test_a_new_tensor_starts_within_its_bounds() -> None:
    tensor = NeuralTensor(20, 5)
    tensor.initialise(0.03, 0.1)
    assert 0.029 < tensor.tensor.detach().abs().max() <= 0.03
    assert 0.09 < tensor.linear.detach().abs().max() <= 0.1
    assert tensor.bias is not None and not tensor.bias.any()


class LargestTensor(TorchDispatchMode):
    """Watches how many numbers any result holds."""

    largest = 0

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        found = func(*args, **(kwargs or {}))
        for one in found if isinstance(found, tuple) else (found,):
            if isinstance(one, torch.Tensor):
                self.largest = max(self.largest, one.numel())
        return found


@pytest.mark.parametrize("lengths", [(30, 12), (12, 30)])
def test_nothing_larger_than_the_result_is_made(lengths: tuple[int, int]) -> None:
    """Words x words x dim would be: here it has four times as many numbers."""
    tensor = filled(8, 2)
    query, document = (vectors(5, length, 8).requires_grad_() for length in lengths)
    with LargestTensor() as watch:
        tensor(query, document).sum().backward()
    assert watch.largest == 5 * 30 * 12 * 2


def test_same_words() -> None:
    mask = torch.tensor([[True, True, True, False]])
    query = Encoded(torch.zeros(1, 4, 2), mask, torch.tensor([[4, 7, 10**12, 0]]))
    document = Encoded(torch.zeros(1, 4, 2), mask, torch.tensor([[7, 7, 10**12, 0]]))
    expected = [[0, 0, 0, 0], [1, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 0]]
    assert same_words(query, document)[0].int().tolist() == expected


def test_same_words_need_ids() -> None:
    side = Encoded(torch.zeros(1, 2, 2), torch.ones(1, 2, dtype=torch.bool))
    with pytest.raises(ConfigError, match=r"gives no word ids; use that"):
        same_words(side, side)
