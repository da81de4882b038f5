"""The spatial GRU over one grid of inputs in scalar loops, written from the equations.

One direction, no batch, no padding, no matrix product: slow and plain.
"""

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]


@dataclass
class Weights:
    """Rows of every matrix are its gates or dimensions; g is u, or 1 for shared gates.

    Wr (3, g, 3u + c): left, top, diagonal, None without reset gates; br (3, g).
    Wz (4, g, 3u + c): input, left, top, diagonal; bz (4, g). W (u, c), U (u, 3u), b (u).
    """

    Wr: Array | None
    br: Array | None
    Wz: Array
    bz: Array
    W: Array
    U: Array
    b: Array


def dot(x: list[float], y: list[float]) -> float:
    assert len(x) == len(y)
    total = 0.0
    for a, b in zip(x, y, strict=True):
        total += a * b
    return total


def spatial_gru(s: Array, weights: Weights, tanh: bool = True) -> Array:
    """H of shape (m, n, u) from s of shape (m, n, c)."""
    m, n, _ = s.shape
    u = len(weights.b)
    border = [0.0] * u
    H: dict[tuple[int, int], list[float]] = {}
    for i in range(1, m + 1):
        for j in range(1, n + 1):
            top, left = H.get((i - 1, j), border), H.get((i, j - 1), border)
            diag = H.get((i - 1, j - 1), border)
            H[i, j] = cell([float(v) for v in s[i - 1, j - 1]], left, top, diag, weights, tanh)
    found = np.zeros((m, n, u))
    for (i, j), h in H.items():
        found[i - 1, j - 1] = h
    return found


def cell(
    s: list[float],
    left: list[float],
    top: list[float],
    diag: list[float],
    weights: Weights,
    tanh: bool,
) -> list[float]:
    q = top + left + diag + s
    h = []
    for k in range(len(weights.b)):
        gate = k if weights.Wz.shape[1] > 1 else 0
        logits = [dot(list(weights.Wz[a, gate]), q) + weights.bz[a, gate] for a in range(4)]
        largest = max(logits)
        powers = [math.exp(value - largest) for value in logits]
        z_i, z_l, z_t, z_d = (power / sum(powers) for power in powers)
        memory = []
        for a, neighbour in enumerate((left, top, diag)):
            for v in range(len(neighbour)):
                memory.append(reset(a, v, q, weights) * neighbour[v])
        new = dot(list(weights.W[k]), s) + dot(list(weights.U[k]), memory) + weights.b[k]
        if tanh:
            new = math.tanh(new)
        h.append(z_l * left[k] + z_t * top[k] + z_d * diag[k] + z_i * new)
    return h


def reset(a: int, v: int, q: list[float], weights: Weights) -> float:
    if weights.Wr is None or weights.br is None:
        return 1.0
    gate = v if weights.Wr.shape[1] > 1 else 0
    return 1 / (1 + math.exp(-(dot(list(weights.Wr[a, gate]), q) + weights.br[a, gate])))
