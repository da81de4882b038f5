"""Bidirectional LSTMs by torch.lstm: cuDNN on a GPU."""

import torch
from torch import Tensor
from torch.nn.functional import pad

_CLOSED = -1e4  # logit of a gate that is exactly 0
_ALIGNED = 8  # pads the inputs to a width that a GPU loads fast


def fused_states(
    vectors: Tensor, mask: Tensor, weight: Tensor, recurrent: Tensor, bias: Tensor
) -> Tensor:
    """Return the states of all words without reading lengths on the host; see `states_on_gpu`.

    An additional input, 1 at padding, closes the input gate, so that a state stays 0 until its
    text begins.
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
    """Return the weights of both directions for `torch.lstm`, in cuDNN's memory layout."""
    forward, backward = weight.T.chunk(2)
    shifts = [part for shift in bias.chunk(2) for part in (shift, torch.zeros_like(shift))]
    parts = [forward, recurrent[0].T, backward, recurrent[1].T, *shifts]
    flat = torch.cat([part.flatten() for part in parts])
    slices = torch.split(flat, [part.numel() for part in parts])
    shaped = [part.view_as(like) for part, like in zip(slices, parts, strict=True)]
    return [shaped[index] for index in (0, 1, 4, 5, 2, 3, 6, 7)]
