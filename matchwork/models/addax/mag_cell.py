"""MAG cell: cross attention whose likeness and divergence pass through gates (ADDAX, eq. 3-13)."""

from typing import NamedTuple

import torch
from torch import Tensor, nn

from matchwork.interact.masked import attend
from matchwork.kernels.linear import linear
from matchwork.models.addax.small_linear import SPREAD, SmallLinear


class MagOutput(NamedTuple):
    """New vectors (batch, own, dim) and the gates that made them.

    `element_gate` (batch, own, dim) chooses between what the other text says and how far a token
    is from it, value by value; `token_gate` (batch, own) the same for whole tokens.
    """

    vectors: Tensor
    element_gate: Tensor
    token_gate: Tensor


class MagCell(nn.Module):
    """One side's tokens seen through those of the other, of which there are at most `length`.

    The gates read the raw scores by position: row j of `weight` and entry j of `token_weight`
    belong to token j of the other text.
    """

    def __init__(
        self, dim: int, length: int, *, highway: bool, dropout: float, gate_bias: float
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
        """Makes the cell give back its own tokens, as far as half-open gates allow.

        A quarter of what is alike and a quarter of what is apart add up to a quarter of a token.
        """
        if hasattr(self, "transform"):
            whole = 4 * torch.eye(self.output.out_features)
            self.output.weight.copy_(torch.cat([whole, whole], dim=1))

    def forward(self, own: Tensor, other: Tensor, scores: Tensor, mask: Tensor) -> MagOutput:
        """`scores` are (batch, own, other), 0 at padding; `mask` (batch, own or 1, other) has its
        tokens of the other text.

        Zero, not minus infinity: what the gates read is then the same however far texts are padded.
        """
        attended = attend(other, scores, mask)
        element_gate, token_gate = self._gates(scores)
        alike_and_apart = torch.stack([attended, own - attended], dim=-2)
        gated = element_gate * token_gate * alike_and_apart
        if hasattr(self, "transform"):
            vectors = self.output(self._highway(self.dropout(gated.flatten(-2))))
        else:
            vectors = self.dropout(gated.sum(dim=-2))
        return MagOutput(vectors, element_gate[..., 0, :], token_gate[..., 0, 0])

    def _gates(self, scores: Tensor) -> tuple[Tensor, Tensor]:
        """Of values and of whole tokens, (batch, own, 2, dim or 1): open for what is alike, and
        as far closed for what is apart; in one product.
        """
        weights = torch.cat([self.weight, self.token_weight.unsqueeze(-1)], dim=1)
        bias = torch.cat([self.bias, self.token_bias.view(1)])
        gates = torch.sigmoid(linear(scores, weights[: scores.shape[-1]].mT, bias))
        both = torch.stack([gates, 1 - gates], dim=-2)
        values, tokens = torch.split(both, [len(self.bias), 1], dim=-1)
        return values, tokens

    def _highway(self, joined: Tensor) -> Tensor:
        gate = torch.sigmoid(self.gate(joined))
        return torch.lerp(joined.to(gate.dtype), torch.relu(self.transform(joined)), gate)
