"""A text at growing depth: words, then phrases, layer by layer."""

from typing import Literal

import torch
from torch import Tensor, nn
from torch.nn import functional

from matchwork.encode.base import Encoded
from matchwork.models.hcan.recurrent import BiLSTM, project_words

LevelKind = Literal["deep", "wide", "contextual"]


class Levels(nn.Module):
    """Vectors of a text after each of `num_layers` layers, `filters` wide; level 0 is the input.

    "deep": convolutions on top of each other; "wide": side by side on the words, each with a
    kernel one wider than the last; "contextual": bidirectional LSTMs on top of each other.
    Convolutions are padded on the right: position j stands for the phrase that starts there.
    """

    def __init__(
        self,
        kind: LevelKind,
        dim: int,
        filters: int,
        num_layers: int,
        kernel: int = 2,
        dropout: float = 0.0,
    ) -> None:
        super().__init__()
        self.kind = kind
        self.dropout = dropout
        widths = [dim, *[dim if kind == "wide" else filters] * (num_layers - 1)]
        self.layers = nn.ModuleList(
            _StatesOf(width, filters)
            if kind == "contextual"
            else _Phrases(width, filters, kernel + h if kind == "wide" else kernel)
            for h, width in enumerate(widths)
        )
        grown = [(kernel - 1) * h for h in range(1, num_layers + 1)]
        if kind == "wide":
            grown = [kernel - 1 + h for h in range(num_layers)]
        elif kind == "contextual":
            grown = [0] * num_layers
        self.phrase_lengths = [1, *(1 + more for more in grown)]  # words behind a position

    def forward(self, text: Encoded) -> list[Tensor]:
        """Level 0 to `num_layers`, each (batch, length, width), 0 at padding."""
        # Whole channels: a word keeps no trace of what is dropped.
        words = functional.dropout1d(text.vectors.mT, self.dropout, self.training).mT
        levels = [words]
        for layer in self.layers:
            made = layer(words if self.kind == "wide" else levels[-1], text.mask)
            made = functional.dropout(made, self.dropout, self.training)
            levels.append(made)
        return levels


class _Phrases(nn.Module):
    """relu of a convolution over this and the next `kernel - 1` words."""

    def __init__(self, dim: int, filters: int, kernel: int) -> None:
        super().__init__()
        self.convolution = nn.Conv1d(dim, filters, kernel)
        nn.init.xavier_uniform_(self.convolution.weight)
        nn.init.zeros_(self.convolution.bias)  # type: ignore[arg-type]
        self.reach = kernel - 1

    def forward(self, vectors: Tensor, mask: Tensor) -> Tensor:
        """(batch, length, dim) to (batch, length, filters)."""
        length, own = vectors.shape[1], self.convolution
        padded = functional.pad(vectors, (0, 0, 0, self.reach))
        phrases = torch.cat([padded[:, k : k + length] for k in range(self.reach + 1)], dim=-1)
        # One product on rows as they lie: torch's convolution turns them there and back.
        weight = own.weight.permute(2, 1, 0).flatten(0, 1).unsqueeze(0)
        bias = own.bias.unsqueeze(0)  # type: ignore[union-attr]
        return torch.relu(project_words(phrases.unsqueeze(0), weight, mask, bias).squeeze(0))


class _StatesOf(nn.Module):
    """A bidirectional LSTM, `filters` wide together."""

    def __init__(self, dim: int, filters: int) -> None:
        super().__init__()
        self.lstm = BiLSTM(dim, filters // 2)

    def forward(self, vectors: Tensor, mask: Tensor) -> Tensor:
        """(batch, length, dim) to (batch, length, filters)."""
        states: Tensor = self.lstm(vectors.unsqueeze(0), mask)
        return states.squeeze(0)
