"""Random spatial GRUs and ragged grids, as the tests of the engines make them."""

from typing import Any

import torch
from torch import Tensor

from matchwork.kernels.spatial_gru import ENGINES, SpatialWeights, spatial_gru

ON_CPU = [name for name in ENGINES if ENGINES[name].supports("cpu", torch.float64) is None]
FAST_ON_CPU = [name for name in ON_CPU if name != "reference"]
LENGTHS = torch.tensor([[4, 5], [2, 3], [0, 4], [3, 0], [1, 5], [4, 1]])
EXACT: dict[str, Any] = {"rtol": 1e-10, "atol": 1e-10}


def random_weights(
    directions: int = 1,
    units: int = 3,
    channels: int = 2,
    *,
    shared: bool = False,
    resets: bool = True,
    seed: int = 0,
    dtype: torch.dtype = torch.float64,
) -> SpatialWeights:
    generator = torch.Generator().manual_seed(seed)
    gates, columns = 1 if shared else units, 3 * units + channels

    def normal(*shape: int) -> Tensor:
        values = torch.randn(directions, *shape, generator=generator, dtype=torch.float64)
        return values.to(dtype).requires_grad_()

    return SpatialWeights(
        reset=normal(3, gates, columns) if resets else None,
        reset_bias=normal(3, gates) if resets else None,
        gate=normal(4, gates, columns),
        gate_bias=normal(4, gates),
        input=normal(units, channels),
        state=normal(units, 3 * units),
        bias=normal(units),
    )


def random_grid(
    lengths: Tensor = LENGTHS,
    channels: int = 2,
    *,
    padding: tuple[int, int] = (0, 0),
    seed: int = 1,
) -> Tensor:
    """Inputs whose values inside the rectangles do not depend on the padding."""
    generator = torch.Generator().manual_seed(seed)
    rows, columns = (lengths.amax(0) if len(lengths) else lengths.new_zeros(2)).tolist()
    grid = torch.randn(
        len(lengths), rows, columns, channels, generator=generator, dtype=torch.float64
    )
    return torch.nn.functional.pad(grid, (0, 0, 0, padding[1], 0, padding[0]))


def parameters(weights: SpatialWeights) -> list[Tensor]:
    return [part for part in weights if part is not None]


def values_and_gradients(
    inputs: Tensor, lengths: Tensor, weights: SpatialWeights, **options: Any
) -> list[Tensor]:
    """The states and, for random outer gradients, the gradient of inputs and every weight."""
    inputs = inputs.detach().requires_grad_()
    states = spatial_gru(inputs, lengths, weights, **options)
    outer = torch.randn(states.shape, generator=torch.Generator().manual_seed(9)).to(states.dtype)
    found = torch.autograd.grad(states, [inputs, *parameters(weights)], outer)
    return [states.detach(), *found]
