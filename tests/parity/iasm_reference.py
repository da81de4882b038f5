"""IASM for one pair of texts in NumPy loops, written from the equations: slow and plain.

No batches, no masks: a text is as long as it is.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]


@dataclass
class Weights:
    """Wq, Wd: (L, k, k), multiplied from the right; bq, bd: (L, k)."""

    Wq: Array
    Wd: Array
    bq: Array
    bd: Array


@dataclass
class Trace:
    A: list[Array]
    Q: list[Array]
    D: list[Array]
    dist_src: float
    dist_tgt: float
    s: float


def cos(x: Array, y: Array) -> float:
    length = float(np.sqrt(np.sum(x * x))) * float(np.sqrt(np.sum(y * y)))
    return float(np.sum(x * y)) / max(length, 1e-8)


def cos_matrix(X: Array, Y: Array) -> Array:
    table = np.zeros((len(X), len(Y)))
    for i in range(len(X)):
        for j in range(len(Y)):
            table[i, j] = cos(X[i], Y[j])
    return table


def layer(weights: Array, rows: Array, W: Array, b: Array) -> Array:
    """relu(weights @ rows @ W + b), one number at a time."""
    k = rows.shape[1]
    out = np.zeros((len(weights), k))
    for i in range(len(weights)):
        mixed = np.zeros(k)
        for j in range(len(rows)):
            mixed += weights[i, j] * rows[j]
        for column in range(k):
            total = b[column]
            for inner in range(k):
                total += mixed[inner] * W[inner, column]
            out[i, column] = max(0.0, total)
    return out


def normalised(X: Array, norm: str) -> Array:
    if norm == "matrix":
        return X / max(float(np.sqrt(np.sum(X * X))), 1e-8)
    return np.array([x / max(float(np.sqrt(np.sum(x * x))), 1e-8) for x in X]).reshape(X.shape)


def dist(X: Array, Y: Array, norm: str) -> float:
    difference = normalised(X, norm) - normalised(Y, norm)
    return float(np.sqrt(np.sum(difference * difference)))


def iasm(
    Q0: Array,
    D0: Array,
    weights: Weights,
    *,
    update: str,
    alpha: float = 0.75,
    beta: float = 0.25,
    gamma: float = 0.5,
    delta: float = 0.5,
    norm: str = "matrix",
    A0: Array | None = None,
) -> Trace:
    """Equations 1 to 8 for an odd number of layers; for an even one, same side with same side."""
    L = len(weights.Wq)
    A, Q, D = [cos_matrix(Q0, D0) if A0 is None else A0], [Q0], [D0]
    for t in range(L):
        Q.append(layer(A[t].T, Q[t], weights.Wq[t], weights.bq[t]))
        D.append(layer(A[t], D[t], weights.Wd[t], weights.bd[t]))
        if update == "static":
            A.append(A[t].T)
        else:
            A.append(alpha * cos_matrix(Q[t + 1], D[t + 1]) + beta * A[t].T)
    against_source, against_target = (D[L], Q[L]) if L % 2 else (Q[L], D[L])
    dist_src = dist(Q0, against_source, norm)
    dist_tgt = dist(D0, against_target, norm)
    return Trace(A, Q, D, dist_src, dist_tgt, gamma * dist_src + delta * dist_tgt)
