"""The kernels against the steps on a CPU: on a GPU, or with TRITON_INTERPRET=1 without."""

import os

import pytest
import torch
from torch import Tensor

from matchwork.kernels.lstm import steps as lstm_steps

pytest.importorskip("triton")

from matchwork.kernels.lstm import triton_engine as lstm_triton

INTERPRETED = os.environ.get("TRITON_INTERPRET") == "1"
DEVICE = "cpu" if INTERPRETED else "cuda"
pytestmark = pytest.mark.skipif(
    not INTERPRETED and not torch.cuda.is_available(),
    reason="no GPU, and TRITON_INTERPRET is not 1",
)
# Texts in one tile and in two; units that fill a tile and that do not.
SIZES = [(2, 5, 7, 5), (1, 20, 6, 16), (2, 18, 3, 20)]
ON_A_GPU = [] if INTERPRETED else [(4, 64, 45, 64), (4, 40, 30, 75), (2, 64, 60, 128)]


def both(stacks: int, batch: int, length: int, units: int) -> tuple[list[Tensor], list[Tensor]]:
    """States and gradients, by steps in float64 and by kernels in float32."""
    draw = torch.Generator().manual_seed(units)
    mask = torch.arange(length) < torch.randint(length + 1, (batch, 1), generator=draw)
    mask[0] = True
    gates = torch.randn(stacks, batch, length, 8 * units, generator=draw)
    recurrent = torch.randn(stacks, 2, units, 4 * units, generator=draw) / units**0.5
    outer = torch.randn(stacks, batch, length, 2 * units, generator=draw)
    results = []
    for device, dtype in (("cpu", torch.float64), (DEVICE, torch.float32)):
        leaves = [part.to(device, dtype).requires_grad_() for part in (gates, recurrent)]
        if device == "cpu" and dtype == torch.float64:
            zeros = torch.zeros(stacks, 8 * units, dtype=dtype)
            states = lstm_steps.states_of(leaves[0], mask, leaves[1], zeros)
        else:
            states = lstm_triton.states_of(leaves[0], mask.to(device), leaves[1])
        found = torch.autograd.grad(states, leaves, outer.to(device, dtype))
        results.append([part.detach().cpu().double() for part in (states, *found)])
    return results[0], results[1]


@pytest.mark.parametrize("sizes", SIZES + ON_A_GPU, ids=str)
def test_states_and_gradients_are_those_of_the_steps(sizes: tuple[int, int, int, int]) -> None:
    for expected, found in zip(*both(*sizes), strict=True):
        scale = max(1.0, float(expected.abs().max()))
        torch.testing.assert_close(found / scale, expected / scale, rtol=1e-4, atol=2e-6)


def test_equal_inputs_give_equal_gradients() -> None:
    for once, again in zip(both(1, 5, 4, 3)[1], both(1, 5, 4, 3)[1], strict=True):
        assert torch.equal(once, again)
