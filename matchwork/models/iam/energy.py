"""An energy model of neighbouring states, trained by contrastive divergence.

`p(x, y)` is proportional to `exp(-E(x, y))`, with `E = x^T Q y + q1.x + q2.y` and no hidden units.
Contrastive divergence avoids the normaliser, which cannot be computed.
"""

import torch
from torch import Tensor, nn
from torch.nn.functional import pad

from matchwork.encode import Encoded
from matchwork.models.iam.supports import SUPPORTS, Support, SupportName
from matchwork.models.iam.two_way import small_uniform

_MAX_EXPONENT = 10.0
_MAX_NORM = 0.99  # of Q where entries are unbounded; from 1 on there is no normaliser


class AdjacentEnergy(nn.Module):
    """Energies of neighbouring states, and the context jumps computed from them.

    `pair` is Q, `first` q1 and `second` q2; `reference` is the mean energy of the training pairs
    and `spread` their standard deviation. With `scaled`, exponents of jumps are divided by
    `spread`; otherwise nearly all jumps of wide states are clamped.
    """

    reference: Tensor
    spread: Tensor

    def __init__(self, dim: int, support: SupportName = "box", scaled: bool = False) -> None:
        super().__init__()
        self.kind: SupportName = support
        self.pair = nn.Parameter(torch.empty(dim, dim))
        self.first, self.second = (nn.Parameter(torch.empty(dim)) for _ in range(2))
        self.register_buffer("reference", torch.zeros(()))
        if scaled:
            self.register_buffer("spread", torch.ones(()))
        small_uniform(self)
        self.bound()

    @property
    def support(self) -> Support:
        """Distributions of the states' entries."""
        return SUPPORTS[self.kind]

    def extra_repr(self) -> str:
        """Return size, support, and whether jumps are scaled."""
        scaled = ", scaled" if hasattr(self, "spread") else ""
        return f"{len(self.pair)}, support={self.kind!r}{scaled}"

    def forward(self, x: Tensor, y: Tensor) -> Tensor:
        """Return energies of pairs: (..., dim) and (..., dim) to (...)."""
        bilinear = ((x @ self.pair) * y).sum(dim=-1) + x @ self.first + y @ self.second
        return bilinear + self.support.own_energy(x) + self.support.own_energy(y)

    def jumps(self, states: Encoded) -> Tensor:
        """Return `exp(reference - E)` from every state to the next, (batch, length); 0 at the last.

        Large where the next word is likely. Exponents are clamped to +-10.
        """
        with torch.autocast(states.vectors.device.type, enabled=False):
            vectors = states.vectors.to(self.pair.dtype)
            energies = self(vectors[:, :-1], vectors[:, 1:])
            exponents = (self.reference - energies) / getattr(self, "spread", 1)
            exponents = exponents.clamp(-_MAX_EXPONENT, _MAX_EXPONENT)
        return pad(exponents.exp().masked_fill(~states.mask[:, 1:], 0.0), (0, 1))

    def field_on_first(self, y: Tensor) -> Tensor:
        """Return the field on x given y, `Q y + q1`."""
        return y @ self.pair.T + self.first

    def field_on_second(self, x: Tensor) -> Tensor:
        """Return the field on y given x, `Q^T x + q2`."""
        return x @ self.pair + self.second

    def contrastive_loss(self, x: Tensor, y: Tensor, steps: int) -> Tensor:
        """Return a number whose gradient is that of contrastive divergence.

        Args:
            x: States, shape (pairs, dim).
            y: The states after them, same shape.
            steps: How often x is sampled given y, and y given x; the last y is its mean.
        """
        with torch.no_grad():
            drawn_y = y
            for _ in range(steps):
                drawn_x = self.support.sample(self.field_on_first(drawn_y))
                field = self.field_on_second(drawn_x)
                drawn_y = self.support.sample(field)
            mean_y = self.support.mean(field)
        loss: Tensor = self(x, y).mean() - self(drawn_x, mean_y).mean()
        return loss

    def pseudo_loss(self, x: Tensor, y: Tensor) -> Tensor:
        """Return `-log p(x | y) - log p(y | x)` of each row, shape (pairs,).

        Both terms are normalised, so that values of different models can be compared.
        """
        total = x.new_zeros(len(x))
        for values, field in (x, self.field_on_first(y)), (y, self.field_on_second(x)):
            terms = values * field + self.support.log_normaliser(field)
            total = total + terms.sum(dim=-1) + self.support.own_energy(values)
        return total

    @torch.no_grad()
    def bound(self) -> None:
        """Shrink Q to where the distribution exists; only "gauss" needs it."""
        if self.kind == "gauss":
            norm = torch.linalg.matrix_norm(self.pair, ord=2)
            self.pair.mul_((_MAX_NORM / norm).clamp_max(1.0))


def neighbours(states: Encoded) -> tuple[Tensor, Tensor]:
    """Return all pairs of neighbouring states, each of shape (pairs, dim)."""
    real = states.mask[:, 1:]
    return states.vectors[:, :-1][real], states.vectors[:, 1:][real]
