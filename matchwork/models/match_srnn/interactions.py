"""What two words say of each other: a neural tensor, or whether they are the same word."""

from typing import Literal

import torch
from torch import Tensor, nn
from torch.nn.functional import linear

from matchwork.encode import Encoded
from matchwork.errors import ConfigError

TensorBias = Literal["inside", "outside", "none"]


class NeuralTensor(nn.Module):
    """`relu(x T_k y + W_k [x; y] + b_k)` for all words x of one text, y of the other.

    `tensor` is (channels, dim, dim), `linear` (channels, 2 dim), or (channels, dim) when
    `tied`: one weight for both words. `bias` (channels,) is added before ("inside") or after
    ("outside") the relu.
    """

    bias: nn.Parameter | None

    def __init__(
        self, dim: int, channels: int, *, bias: TensorBias = "inside", tied: bool = False
    ) -> None:
        super().__init__()
        self.tensor = nn.Parameter(torch.zeros(channels, dim, dim))
        self.linear = nn.Parameter(torch.zeros(channels, dim if tied else 2 * dim))
        self.bias = nn.Parameter(torch.zeros(channels)) if bias != "none" else None
        self.bias_place = bias
        self.tied = tied

    def initialise(self, tensor_bound: float, linear_bound: float) -> None:
        """Uniform within these bounds; the bias stays zero."""
        nn.init.uniform_(self.tensor, -tensor_bound, tensor_bound)
        nn.init.uniform_(self.linear, -linear_bound, linear_bound)

    def forward(self, query: Tensor, document: Tensor) -> Tensor:
        """(batch, query, dim) and (batch, document, dim) to (batch, query, document, channels)."""
        of_query, of_document = (self.linear,) * 2 if self.tied else self.linear.chunk(2, dim=1)
        if query.shape[1] <= document.shape[1]:  # the shorter text is multiplied with the tensor
            turned = self.tensor.transpose(1, 2)
            cells = self._cells(query, document, turned, of_query, of_document).transpose(2, 3)
        else:
            cells = self._cells(document, query, self.tensor, of_document, of_query)
            cells = cells.permute(0, 3, 1, 2)
        if self.bias is not None and self.bias_place == "outside":
            cells = cells + self.bias
        return cells

    def _cells(
        self, rows: Tensor, columns: Tensor, tensor: Tensor, of_rows: Tensor, of_columns: Tensor
    ) -> Tensor:
        """(batch, rows, channels, columns), in two products, never words by words by dim.

        `tensor` is multiplied from the left here: y T x with x of `rows` and y of `columns`.
        """
        batch, length, dim = rows.shape
        channels = len(tensor)
        # y . (T x + w) = y T x + w y: the linear part of the columns costs no product of its own.
        mixed = linear(rows, tensor.reshape(-1, dim), of_columns.flatten())
        alone = linear(rows, of_rows, self.bias if self.bias_place == "inside" else None)
        cells = torch.baddbmm(
            alone.reshape(batch, length * channels, 1),
            mixed.reshape(batch, length * channels, dim),
            columns.transpose(1, 2),
        )
        return cells.relu_().view(batch, length, channels, columns.shape[1])


def same_words(query: Encoded, document: Encoded) -> Tensor:
    """True where two words have the same id, shape (batch, query, document); padding is False."""
    if query.ids is None or document.ids is None:
        raise ConfigError(
            "comparing words by id needs an encoder with one vector per word, such as "
            "WordEmbedding; this one gives no word ids: compare vectors by cosine instead"
        )
    same = query.ids.unsqueeze(-1) == document.ids.unsqueeze(-2)
    return same & query.mask.unsqueeze(-1) & document.mask.unsqueeze(-2)
