"""Weights set by hand with which a spatial GRU of one unit is dynamic programming for the LCS.

With q = [top, left, diagonal, s] the gate logits are `sharpness` times the three arguments of
`max(diagonal + s, left, top)`, so that the softmax tends to their maximum; the candidate is
`diagonal + s`. With tanh, lengths are kept at a `scale` where tanh is nearly straight.
"""

import torch
from torch import Tensor

from matchwork.kernels.spatial_gru import SpatialWeights

NEVER = -1e4


def lcs_weights(sharpness: float = 60.0, scale: float = 1.0) -> SpatialWeights:
    """States are `scale` times the LCS: exactly with identity, nearly with tanh and small scale."""
    sharp = sharpness / scale
    gates = [  # rows: input, left, top, diagonal; columns: top, left, diagonal, s
        [0.0, 0.0, sharp, sharp * scale],
        [0.0, sharp, 0.0, 0.0],
        [sharp, 0.0, 0.0, 0.0],
        [0.0, 0.0, 0.0, 0.0],
    ]

    def tensor(values: object) -> Tensor:
        return torch.tensor(values, dtype=torch.float64).unsqueeze(0)

    return SpatialWeights(
        reset=None,
        reset_bias=None,
        gate=tensor(gates).unsqueeze(2),
        gate_bias=tensor([[0.0], [0.0], [0.0], [NEVER]]),
        input=tensor([[scale]]),
        state=tensor([[0.0, 0.0, 1.0]]),
        bias=tensor([0.0]),
    )
