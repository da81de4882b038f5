"""A neural tensor: several numbers for every pair of words."""

from typing import Literal

import torch
from torch import Tensor, nn
from torch.nn.functional import linear

TensorBias = Literal["inside", "outside", "none"]


class NeuralTensor(nn.Module):
    """`relu(x T_k y + W_k [x; y] + b_k)` for all words x of one text and y of the other.

    It has `channels` values per pair. The `bias` is added "inside" or "outside" the ReLU; with
    `tied`, both words have the same linear weights.
    """

    bias: nn.Parameter | None

    def __init__(
        self, dim: int, channels: int, bias: TensorBias = "inside", tied: bool = False
    ) -> None:
        super().__init__()
        self.tensor = nn.Parameter(torch.zeros(channels, dim, dim))
        self.linear = nn.Parameter(torch.zeros(channels, dim if tied else 2 * dim))
        self.bias = nn.Parameter(torch.zeros(channels)) if bias != "none" else None
        self.bias_position = bias
        self.tied = tied

    def initialise(self, tensor_bound: float, linear_bound: float) -> None:
        """Draw weights uniformly within these bounds; the bias stays zero."""
        nn.init.uniform_(self.tensor, -tensor_bound, tensor_bound)
        nn.init.uniform_(self.linear, -linear_bound, linear_bound)

    def forward(self, query: Tensor, document: Tensor) -> Tensor:
        """Map (batch, query, dim), (batch, document, dim) to (batch, query, document, channels)."""
        of_query, of_document = (self.linear,) * 2 if self.tied else self.linear.chunk(2, dim=1)
        if query.shape[1] <= document.shape[1]:  # the shorter text is multiplied with the tensor
            transposed = self.tensor.transpose(1, 2)
            cells = self._cells(query, document, transposed, of_query, of_document).transpose(2, 3)
        else:
            cells = self._cells(document, query, self.tensor, of_document, of_query)
            cells = cells.permute(0, 3, 1, 2)
        if self.bias is not None and self.bias_position == "outside":
            cells = cells + self.bias
        return cells

    def _cells(
        self, rows: Tensor, columns: Tensor, tensor: Tensor, of_rows: Tensor, of_columns: Tensor
    ) -> Tensor:
        """Return (batch, rows, channels, columns) without a tensor of words by words by dim.

        Computes y T x with x of `rows` and y of `columns`, in two products.
        """
        batch, length, dim = rows.shape
        channels = len(tensor)
        # y . (T x + w) = y T x + w y: the columns' linear part needs no separate product.
        mixed = linear(rows, tensor.reshape(-1, dim), of_columns.flatten())
        alone = linear(rows, of_rows, self.bias if self.bias_position == "inside" else None)
        cells = torch.baddbmm(
            alone.reshape(batch, length * channels, 1),
            mixed.reshape(batch, length * channels, dim),
            columns.transpose(1, 2),
        )
        return cells.relu_().view(batch, length, channels, columns.shape[1])
