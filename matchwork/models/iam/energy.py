"""How well two states that follow each other go together: an energy model of neighbours.

`p(x, y)` is proportional to `exp(-E(x, y))`, with `E = x^T Q y + q1.x + q2.y`. There are no hidden
units: the one difficulty is the normaliser, which contrastive divergence goes around.
"""

import torch
from torch import Tensor, nn
from torch.nn.functional import pad

from matchwork.encode import Encoded
from matchwork.models.iam.supports import SUPPORTS, SupportName
from matchwork.models.iam.two_way import small_uniform

_MAX_EXPONENT = 10.0
_MAX_NORM = 0.99  # of Q where entries are unbounded: from 1 on nothing is normalisable


class AdjacentEnergy(nn.Module):
    """Energies of neighbouring states, and the jumps that they make.

    `pair` is Q, `first` q1 and `second` q2. `reference` is the mean energy of the pairs that were
    learnt from, and with `scaled` `spread` their deviation, by which exponents are divided: else
    energies of many entries lie so far apart that nearly every jump is clamped.
    """

    reference: Tensor
    spread: Tensor

    def __init__(self, dim: int, support: SupportName = "box", scaled: bool = False) -> None:
        super().__init__()
        self.kind: SupportName = support
        self.support = SUPPORTS[support]
        self.pair = nn.Parameter(torch.empty(dim, dim))
        self.first = nn.Parameter(torch.empty(dim))
        self.second = nn.Parameter(torch.empty(dim))
        self.register_buffer("reference", torch.zeros(()))
        if scaled:
            self.register_buffer("spread", torch.ones(()))
        small_uniform(self)
        self.bound()

    def extra_repr(self) -> str:
        """Size, support, and whether jumps are scaled."""
        scaled = ", scaled" if hasattr(self, "spread") else ""
        return f"{len(self.pair)}, support={self.kind!r}{scaled}"

    def forward(self, x: Tensor, y: Tensor) -> Tensor:
        """(..., dim) and (..., dim) to (...)."""
        bilinear = ((x @ self.pair) * y).sum(dim=-1) + x @ self.first + y @ self.second
        return bilinear + self.support.own_energy(x) + self.support.own_energy(y)

    def jumps(self, states: Encoded) -> Tensor:
        """`exp(reference - E)` from every state to the next, (batch, length), 0 at the last one.

        Large where the next word was to be expected. The exponent is clamped to +-10.
        """
        with torch.autocast(states.vectors.device.type, enabled=False):
            vectors = states.vectors.to(self.pair.dtype)
            energies = self(vectors[:, :-1], vectors[:, 1:])
            exponents = self.reference - energies
            if hasattr(self, "spread"):
                exponents = exponents / self.spread
            exponents = exponents.clamp(-_MAX_EXPONENT, _MAX_EXPONENT)
        return pad(exponents.exp().masked_fill(~states.mask[:, 1:], 0.0), (0, 1))

    def field_on_first(self, y: Tensor) -> Tensor:
        """What acts on x, given y: `Q y + q1`."""
        return y @ self.pair.T + self.first

    def field_on_second(self, x: Tensor) -> Tensor:
        """What acts on y, given x: `Q^T x + q2`."""
        return x @ self.pair + self.second

    def contrastive_loss(self, x: Tensor, y: Tensor, steps: int) -> Tensor:
        """A number whose gradient is the step of contrastive divergence, of rows (pairs, dim).

        From the data, `steps` times x is drawn given y, and y given x; the last y is its mean.
        Going down makes the data more probable: the paper prints the opposite sign.
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
        """Minus the log probabilities of x given y and of y given x, for each row.

        Both have their normaliser, so values of different models can be compared.
        """
        sides = (x, self.field_on_first(y)), (y, self.field_on_second(x))
        total = x.new_zeros(len(x))
        for values, field in sides:
            normaliser = self.support.log_normaliser(field)
            total = total + (values * field + normaliser).sum(dim=-1)
            total = total + self.support.own_energy(values)
        return total

    @torch.no_grad()
    def bound(self) -> None:
        """Put Q back to where the distribution exists; only "gauss" needs it."""
        if self.kind == "gauss":
            norm = torch.linalg.matrix_norm(self.pair, ord=2)
            self.pair.mul_((_MAX_NORM / norm).clamp_max(1.0))


def neighbours(states: Encoded) -> tuple[Tensor, Tensor]:
    """All pairs of states that follow each other in a text, as rows (pairs, dim)."""
    there = states.mask[:, 1:]
    return states.vectors[:, :-1][there], states.vectors[:, 1:][there]
