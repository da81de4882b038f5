"""LSTMs in both directions that are joined only at the top."""

import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import PackedSequence, pack_padded_sequence, pad_packed_sequence

from matchwork.encode.base import Encoded

_BOUND = 0.05  # of initial values


class TwoWayStack(nn.Module):
    """Two layers of LSTMs for each direction, joined only at the top.

    Joined between layers, the second layer would have seen the word that it is to predict. On a
    GPU, layers run on packed rows, without padding; on a CPU padded rows train faster. Dropout
    between layers is torch's own: cuDNN's would not follow the seed.
    """

    def __init__(self, dim: int, units: int, dropout: float = 0.0) -> None:
        super().__init__()
        self.ahead = nn.ModuleList(nn.LSTM(width, units) for width in (dim, units))
        self.back = nn.ModuleList(nn.LSTM(width, units) for width in (dim, units))
        self.dropout = nn.Dropout(dropout)
        small_uniform(self)

    def forward(self, vectors: Tensor, mask: Tensor) -> Tensor:
        """Map (batch, length, dim) to states, (batch, length, 2 units), 0 at padding.

        Every row needs at least one word. The backward direction starts at the last one.
        """
        lengths = mask.sum(dim=1)
        on_host = lengths.cpu() if self._packs(vectors) else None  # as packing expects
        with torch.autocast(vectors.device.type, enabled=False):
            vectors = vectors.to(next(self.parameters()).dtype)
            ahead = self._read(self.ahead, vectors, on_host)
            back = self._read(self.back, _reversed(vectors, lengths), on_host)
        states = torch.cat([ahead, _reversed(back, lengths)], dim=-1)
        return states.masked_fill(~mask.unsqueeze(-1), 0.0)

    def _packs(self, vectors: Tensor) -> bool:
        return vectors.is_cuda

    def _read(self, layers: nn.ModuleList, vectors: Tensor, lengths: Tensor | None) -> Tensor:
        """Run all layers of one direction, packed if `lengths` are given."""
        for layer in layers:
            # Even if frozen: cuDNN stores what gradients need only in training mode.
            layer.train(torch.is_grad_enabled())
        if lengths is None:
            states: Tensor = layers[0](vectors.transpose(0, 1))[0]
            states = layers[1](self.dropout(states))[0]
            return states.transpose(0, 1)
        packed = pack_padded_sequence(vectors, lengths, batch_first=True, enforce_sorted=False)
        packed, _ = layers[0](packed)
        packed, _ = layers[1](PackedSequence(self.dropout(packed.data), *packed[1:]))
        states, _ = pad_packed_sequence(packed, batch_first=True, total_length=vectors.shape[1])
        return states


class TextReader(nn.Module):
    """A `TwoWayStack` over texts with <EOS> appended; words of another width are projected."""

    def __init__(self, dim: int, width: int, units: int, dropout: float = 0.0) -> None:
        super().__init__()
        self.end = nn.Parameter(torch.empty(dim))
        self.project = nn.Linear(dim, width, bias=False) if width != dim else nn.Identity()
        self.stack = TwoWayStack(width, units, dropout)
        small_uniform(self)

    def forward(self, text: Encoded) -> Encoded:
        """Return states, (batch, length + 1, 2 units)."""
        ended = with_end(text, self.end)
        return Encoded(self.stack(self.project(ended.vectors), ended.mask), ended.mask)


def with_end(text: Encoded, end: Tensor) -> Encoded:
    """Append the vector `end` to every text."""
    lengths = text.mask.sum(dim=1, keepdim=True)
    positions = torch.arange(text.mask.shape[1] + 1, device=lengths.device)
    vectors = nn.functional.pad(text.vectors, (0, 0, 0, 1))
    last = (positions == lengths).unsqueeze(-1)
    return Encoded(torch.where(last, end.to(vectors.dtype), vectors), positions <= lengths)


def last_states(states: Encoded, literal: bool = False) -> Tensor:
    """Return the final states of both directions, shape (batch, 2 units).

    With `literal`, the backward state is that of the last word, where it has seen that word only.
    """
    units = states.dim // 2
    last = (states.mask.sum(dim=1) - 1).clamp_min(0)
    rows = torch.arange(len(states), device=last.device)
    ahead = states.vectors[rows, last]
    back = ahead if literal else states.vectors[:, 0]
    return torch.cat([ahead[:, :units], back[:, units:]], dim=-1)


def small_uniform(module: nn.Module) -> None:
    """Draw every parameter uniformly from [-0.05, 0.05]."""
    for parameter in module.parameters():
        nn.init.uniform_(parameter, -_BOUND, _BOUND)


def _reversed(vectors: Tensor, lengths: Tensor) -> Tensor:
    """Reverse the words of every text; padding stays at the end."""
    positions = torch.arange(vectors.shape[1], device=vectors.device)
    mirrored = lengths.unsqueeze(1) - 1 - positions
    order = torch.where(mirrored >= 0, mirrored, positions)
    return vectors.gather(1, order.unsqueeze(-1).expand_as(vectors))
