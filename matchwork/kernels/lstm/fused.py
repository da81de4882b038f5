"""The steps of bidirectional LSTMs by torch's own: cuDNN on a GPU."""

import torch
from torch import Tensor
from torch.nn.functional import pad

_CLOSED = -1e4  # as the input of a gate: its sigmoid is exactly 0
_ALIGNED = 8  # columns a GPU likes to read at once


def fused_states(
    vectors: Tensor, mask: Tensor, weight: Tensor, recurrent: Tensor, bias: Tensor
) -> Tensor:
    """What `BiLSTM` gives, by torch's own LSTM: cuDNN on a GPU, and nothing waits for lengths.

    A further input, 1 at padding, closes the input gate: a state stays 0 until its text begins.
    """
    units = recurrent.shape[2]
    with torch.autocast(vectors.device.type, enabled=False):
        dtype = torch.promote_types(vectors.dtype, torch.float32)
        padding = pad((~mask).to(dtype).unsqueeze(-1), (0, _ALIGNED - 1))
        closed = torch.zeros(_ALIGNED, 2, 4, units, dtype=dtype, device=vectors.device)
        closed[0, :, 0] = _CLOSED
        start = vectors.new_zeros(2, len(mask), units, dtype=dtype)
        states = []
        for own, *parts in zip(vectors, weight, recurrent, bias, strict=True):
            inputs, again, shift = (part.to(dtype) for part in parts)
            weights = _in_one_piece(torch.cat([inputs, closed.flatten(1)]), again, shift)
            read = torch.cat([own.to(dtype), padding], dim=-1)
            options = (True, 1, 0.0, torch.is_grad_enabled(), True, True)  # as nn.LSTM passes them
            states.append(torch.lstm(read, (start, start), weights, *options)[0])
    return torch.stack(states).masked_fill(~mask.unsqueeze(-1), 0.0)


def _in_one_piece(weight: Tensor, recurrent: Tensor, bias: Tensor) -> list[Tensor]:
    """Weights of both directions as `torch.lstm` takes them, laid out as cuDNN wants them."""
    ahead, back = weight.T.chunk(2)
    shifts = [part for shift in bias.chunk(2) for part in (shift, torch.zeros_like(shift))]
    parts = [ahead, recurrent[0].T, back, recurrent[1].T, *shifts]
    flat = torch.cat([part.flatten() for part in parts])
    pieces = torch.split(flat, [part.numel() for part in parts])
    made = [piece.view_as(part) for piece, part in zip(pieces, parts, strict=True)]
    return [made[place] for place in (0, 1, 4, 5, 2, 3, 6, 7)]
