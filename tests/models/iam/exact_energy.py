"""What contrastive divergence approximates, without approximation: for tiny energy models."""

import itertools
import math

import numpy as np
import torch
from torch import Tensor

from matchwork.errors import ConfigError
from matchwork.models.iam.energy import AdjacentEnergy

_NODES = 40  # of the quadrature, in each dimension of the box
_MAX_POINTS = 1 << 17


def exact_loss(energy: AdjacentEnergy, x: Tensor, y: Tensor) -> Tensor:
    """Minus the mean log likelihood of rows (pairs, dim); its gradient is exact, too."""
    loss: Tensor = energy(x, y).mean() + log_partition(energy)
    return loss


def log_partition(energy: AdjacentEnergy) -> Tensor:
    """Log of the sum or integral of `exp(-E)` over all x and y.

    For every x that can be, all y are summed in closed form: "binary" x are enumerated, those in
    the "box" are nodes of a quadrature (exact to rounding for moderate weights). "gauss" is a
    closed form altogether.
    """
    if energy.kind == "gauss":
        return _gauss(energy)
    points, log_weights = _points(energy)
    inner = energy.support.log_normaliser(energy.field_on_second(points)).sum(dim=-1)
    return torch.logsumexp(log_weights - points @ energy.first + inner, dim=0)


def _points(energy: AdjacentEnergy) -> tuple[Tensor, Tensor]:
    dim = len(energy.first)
    nodes, weights = np.array([-1.0, 1.0]), np.ones(2)
    if energy.kind == "box":
        nodes, weights = np.polynomial.legendre.leggauss(_NODES)
    if len(nodes) ** dim > _MAX_POINTS:
        largest = int(math.log(_MAX_POINTS, len(nodes)))
        raise ConfigError(
            f"an energy model of {dim} entries with support {energy.kind!r} is too large to be "
            f"enumerated; at most {largest}"
        )
    places = torch.tensor(list(itertools.product(range(len(nodes)), repeat=dim)))
    table = torch.from_numpy(np.stack([nodes, np.log(weights)])).to(energy.first)
    return table[0][places], table[1][places].sum(dim=-1)


def _gauss(energy: AdjacentEnergy) -> Tensor:
    """A normal distribution of (x, y) with the precision [[I, Q], [Q^T, I]]."""
    dim = len(energy.first)
    identity = torch.eye(dim, dtype=energy.pair.dtype, device=energy.pair.device)
    upper = torch.cat([identity, energy.pair], dim=1)
    precision = torch.cat([upper, torch.cat([energy.pair.T, identity], dim=1)])
    linear = torch.cat([energy.first, energy.second])
    explained: Tensor = linear @ torch.linalg.solve(precision, linear) / 2
    return dim * math.log(2 * math.pi) - torch.logdet(precision) / 2 + explained
