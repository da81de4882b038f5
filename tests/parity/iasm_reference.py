"""IASM for one pair of texts in NumPy loops, written from the equations: slow and plain.

No batches, no masks: a text is as long as it is.
"""

import math
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
class CNNWeights:
    """Kernels (out, in, 3, 3) and linear maps (out, in), each with its bias, in order."""

    first: Array
    first_bias: Array
    second: Array
    second_bias: Array
    hidden: Array
    hidden_bias: Array
    output: Array
    output_bias: Array


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


def convolve(channels: Array, kernels: Array, bias: Array) -> Array:
    """relu of a 3x3 convolution; a cell outside the table counts as zero."""
    _, height, width = channels.shape
    out = np.zeros((len(kernels), height, width))
    for i in range(height):
        for j in range(width):
            total = bias.copy()
            for di in (-1, 0, 1):
                for dj in (-1, 0, 1):
                    if 0 <= i + di < height and 0 <= j + dj < width:
                        total += kernels[:, :, di + 1, dj + 1] @ channels[:, i + di, j + dj]
            out[:, i, j] = np.maximum(0.0, total)
    return out


def pool(channels: Array, rows: int, columns: int) -> Array:
    """The largest value of each of rows x columns overlapping blocks; 0 of an empty table."""
    features, height, width = channels.shape
    out = np.zeros((features, rows, columns))
    if height and width:
        for r in range(rows):
            for c in range(columns):
                top, bottom = (r * height) // rows, math.ceil((r + 1) * height / rows)
                left, right = (c * width) // columns, math.ceil((c + 1) * width / columns)
                out[:, r, c] = channels[:, top:bottom, left:right].max(axis=(1, 2))
    return out


def cnn_distance(table: Array, weights: CNNWeights) -> float:
    """The head of IASM-CNN over a table of query words by document words."""
    grid = convolve(table[None], weights.first, weights.first_bias)
    grid = convolve(grid, weights.second, weights.second_bias)
    features = pool(grid, 4, 8).ravel()
    hidden = np.maximum(0.0, weights.hidden @ features + weights.hidden_bias)
    return float((weights.output @ hidden + weights.output_bias)[0])


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
    cnn: CNNWeights | None = None,
) -> Trace:
    """Equations 1 to 8 for an odd number of layers; for an even one, same side with same side.

    With `cnn`, that head in place of equation 8.
    """
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
    s = gamma * dist_src + delta * dist_tgt
    if cnn is not None:
        s = cnn_distance(A[L].T if L % 2 else A[L], cnn)
    return Trace(A, Q, D, dist_src, dist_tgt, s)
