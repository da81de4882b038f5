"""MAG cell: cross attention whose similarity and difference pass through gates (eq. 3-13)."""

from typing import NamedTuple

import torch
from torch import Tensor, nn

from matchwork.interact.masked import attend
from matchwork.kernels.linear import linear
from matchwork.models.addax.hashing import SPREAD, SmallLinear


class MagOutput(NamedTuple):
    """The cell's output; gates near 1 choose the attended vector, near 0 the difference to it."""

    vectors: Tensor  # of tokens, (batch, own, dim)
    element_gate: Tensor  # of single values, (batch, own, dim)
    token_gate: Tensor  # of whole tokens, (batch, own)


class MagCell(nn.Module):
    """Rewrite one side's tokens by attention to the other side.

    The gates read raw scores by position: row j of `weight` and entry j of `token_weight` belong
    to token j of the other text, which has `length` tokens at most. With `highway`, the gated
    vectors pass a highway layer, whose gate has the initial bias `gate_bias`.
    """

    def __init__(
        self, dim: int, length: int, highway: bool, dropout: float, gate_bias: float
    ) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.empty(length, dim))
        self.bias = nn.Parameter(torch.zeros(dim))
        self.token_weight = nn.Parameter(torch.empty(length))
        self.token_bias = nn.Parameter(torch.zeros(()))
        for parameter in (self.weight, self.token_weight):  # raw scores are large: gates near 0.5
            nn.init.normal_(parameter, std=SPREAD / length**0.5)
        self.dropout = nn.Dropout(dropout)
        if highway:
            self.transform = SmallLinear(2 * dim, 2 * dim)
            self.gate = SmallLinear(2 * dim, 2 * dim, bias=gate_bias)
            self.output = SmallLinear(2 * dim, dim)

    @torch.no_grad()
    def start_as_own(self) -> None:
        """Start with an output near the cell's own input."""
        # With gates near 0.5, a quarter of the attended vector and of the difference add up to a
        # quarter of the token.
        if hasattr(self, "transform"):
            whole = 4 * torch.eye(self.output.out_features)
            self.output.weight.copy_(torch.cat([whole, whole], dim=1))

    def forward(self, own: Tensor, other: Tensor, scores: Tensor, mask: Tensor) -> MagOutput:
        """Rewrite `own` vectors, (batch, own, dim), by attention to `other` ones.

        Scores, shape (batch, own, other), must be 0 at padding, so that gates ignore it; `mask` has
        the real tokens of the other text.
        """
        attended = attend(other, scores, mask)
        element_gate, token_gate = self._gates(scores)
        both = torch.stack([attended, own - attended], dim=-2)
        gated = element_gate * token_gate * both
        if hasattr(self, "transform"):
            joined = self.dropout(gated.flatten(-2))
            gate = torch.sigmoid(self.gate(joined))
            mixed = torch.lerp(joined.to(gate.dtype), torch.relu(self.transform(joined)), gate)
            vectors = self.output(mixed)
        else:
            vectors = self.dropout(gated.sum(dim=-2))
        return MagOutput(vectors, element_gate[..., 0, :], token_gate[..., 0, 0])

    def _gates(self, scores: Tensor) -> tuple[Tensor, Tensor]:
        """Return gates of values and of tokens, (batch, own, 2, dim or 1), in one product.

        The axis of 2 has the gate of the attended vector and its complement for the difference.
        """
        weights = torch.cat([self.weight, self.token_weight.unsqueeze(-1)], dim=1)
        bias = torch.cat([self.bias, self.token_bias.view(1)])
        gates = torch.sigmoid(linear(scores, weights[: scores.shape[-1]].mT, bias))
        pairs = torch.stack([gates, 1 - gates], dim=-2)
        values, tokens = torch.split(pairs, [len(self.bias), 1], dim=-1)
        return values, tokens
