"""The shared encoder: words, then longer and longer phrases, layer by layer."""

from typing import Literal

import torch
from torch import Tensor, nn
from torch.nn import functional

from matchwork.encode.base import Encoded
from matchwork.models.hcan.recurrent import BiLSTM, project_words

LevelKind = Literal["deep", "wide", "contextual"]


class Levels(nn.Module):
    """Encode a text with `num_layers` layers and return the vectors of every level.

    Convolutions are padded on the right: position j stands for the phrase that starts there.
    `phrase_lengths` are the numbers of words behind a position, for levels 0 to `num_layers`.

    Kinds are "deep": stacked convolutions; "wide": parallel convolutions over the words, each with
    a `kernel` one wider than the one before; "contextual": stacked bidirectional LSTMs. Every
    layer is `filters` wide. Dropout is after every layer, and of whole channels of the words.
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
            _States(width, filters)
            if kind == "contextual"
            else _Phrases(width, filters, kernel + h if kind == "wide" else kernel)
            for h, width in enumerate(widths)
        )
        first, more = {"deep": (kernel, kernel - 1), "wide": (kernel, 1), "contextual": (1, 0)}[
            kind
        ]
        self.phrase_lengths = [1, *(first + more * h for h in range(num_layers))]

    def forward(self, text: Encoded) -> list[Tensor]:
        """Return levels 0 (words) to `num_layers`, each (batch, length, width), 0 at padding."""
        # Whole channels are dropped, for all words of a text.
        words = functional.dropout1d(text.vectors.mT, self.dropout, self.training).mT
        levels = [words]
        for layer in self.layers:
            states = layer(words if self.kind == "wide" else levels[-1], text.mask)
            levels.append(functional.dropout(states, self.dropout, self.training))
        return levels


class _Phrases(nn.Module):
    """ReLU of a convolution over each word and the next `kernel - 1` words."""

    def __init__(self, dim: int, filters: int, kernel: int) -> None:
        super().__init__()
        self.convolution = nn.Conv1d(dim, filters, kernel)
        nn.init.xavier_uniform_(self.convolution.weight)
        nn.init.zeros_(self.convolution.bias)  # type: ignore[arg-type]
        self.reach = kernel - 1

    def forward(self, vectors: Tensor, mask: Tensor) -> Tensor:
        """Map (batch, length, dim) to (batch, length, filters)."""
        length, own = vectors.shape[1], self.convolution
        padded = functional.pad(vectors, (0, 0, 0, self.reach))
        phrases = torch.cat([padded[:, k : k + length] for k in range(self.reach + 1)], dim=-1)
        # One matrix product; torch's convolution would transpose the texts twice.
        weight = own.weight.permute(2, 1, 0).flatten(0, 1).unsqueeze(0)
        bias = own.bias.unsqueeze(0)  # type: ignore[union-attr]
        return torch.relu(project_words(phrases.unsqueeze(0), weight, mask, bias).squeeze(0))


class _States(nn.Module):
    """A bidirectional LSTM whose states are `filters` wide."""

    def __init__(self, dim: int, filters: int) -> None:
        super().__init__()
        self.lstm = BiLSTM(dim, filters // 2)

    def forward(self, vectors: Tensor, mask: Tensor) -> Tensor:
        """Map (batch, length, dim) to (batch, length, filters)."""
        states: Tensor = self.lstm(vectors.unsqueeze(0), mask)
        return states.squeeze(0)
