"""Match-SRNN for one pair of texts in NumPy loops, written from the equations: slow and plain.

No batches, no masks: a text is as long as it is. Weights go by the names of the parameters.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]
Weights = dict[str, Array]


@dataclass
class Text:
    vectors: Array
    ids: list[int]


@dataclass
class Scan:
    """States (m, n, u), gates (4, m, n, g), in the order in which the cells were read."""

    H: Array
    z: Array


@dataclass
class Trace:
    s: Array
    scans: list[Scan]
    score: float


def sigmoid(x: Array) -> Array:
    return np.asarray(1 / (1 + np.exp(-x)))


def tensor_cell(x: Array, y: Array, weights: Weights, bias: str, tied: bool) -> Array:
    out = np.zeros(len(weights["tensor.tensor"]))
    for k, T in enumerate(weights["tensor.tensor"]):
        w = weights["tensor.linear"][k]
        for a in range(len(x)):
            for b in range(len(y)):
                out[k] += x[a] * T[a, b] * y[b]
        out[k] += float(w @ (x + y)) if tied else float(w @ np.concatenate([x, y]))
        if bias == "inside":
            out[k] += weights["tensor.bias"][k]
        out[k] = max(0.0, out[k])
        if bias == "outside":
            out[k] += weights["tensor.bias"][k]
    return out


def interaction(
    query: Text, document: Text, weights: Weights, kind: str, bias: str, tied: bool
) -> Array:
    rows = []
    for x, x_id in zip(query.vectors, query.ids, strict=True):
        row = []
        for y, y_id in zip(document.vectors, document.ids, strict=True):
            if kind == "tensor":
                row.append(tensor_cell(x, y, weights, bias, tied))
            elif kind == "cosine":
                row.append(np.array([x @ y / (np.sqrt(x @ x) * np.sqrt(y @ y))]))
            elif kind == "dot":
                row.append(np.array([x @ y]))
            else:
                row.append(np.array([float(x_id == y_id)]))
        rows.append(row)
    return np.array(rows)


def scan(s: Array, weights: Weights, direction: int, activation: str) -> Scan:
    """Equation 3, cell after cell, from the upper left."""
    gru = {
        name.removeprefix("gru."): value[direction]
        for name, value in weights.items()
        if name.startswith("gru.")
    }
    m, n, _ = s.shape
    u, g = len(gru["bias"]), gru["gate"].shape[1]
    H = np.zeros((m + 1, n + 1, u))  # row 0 and column 0 are the border
    gates = np.zeros((4, m, n, g))
    for i in range(1, m + 1):
        for j in range(1, n + 1):
            top, left, diag = H[i - 1, j], H[i, j - 1], H[i - 1, j - 1]
            q = np.concatenate([top, left, diag, s[i - 1, j - 1]])
            r_left = r_top = r_diag = np.ones(u)
            if "reset" in gru:
                r_left, r_top, r_diag = (
                    sigmoid(gru["reset"][k] @ q + gru["reset_bias"][k]) for k in range(3)
                )
            logits = np.array([gru["gate"][k] @ q + gru["gate_bias"][k] for k in range(4)])
            z = np.exp(logits) / np.exp(logits).sum(axis=0)
            remembered = np.concatenate([r_left * left, r_top * top, r_diag * diag])
            fresh = gru["input"] @ s[i - 1, j - 1] + gru["state"] @ remembered + gru["bias"]
            fresh = np.tanh(fresh) if activation == "tanh" else fresh
            H[i, j] = z[1] * left + z[2] * top + z[3] * diag + z[0] * fresh
            gates[:, i - 1, j - 1] = z
    return Scan(H[1:, 1:], gates)


def match_srnn(
    query: Text,
    document: Text,
    weights: Weights,
    *,
    kind: str = "tensor",
    bias: str = "inside",
    tied: bool = False,
    activation: str = "tanh",
    head: str = "linear",
) -> Trace:
    """Section 4 of the paper; the number of directions is that of the weights."""
    s = interaction(query, document, weights, kind, bias, tied)
    scans = [scan(s, weights, 0, activation)]
    if len(weights["gru.bias"]) == 2:
        scans.append(scan(s[::-1, ::-1], weights, 1, activation))
    corner = np.concatenate([one.H[-1, -1] for one in scans])
    if head == "state":
        return Trace(s, scans, float(corner[0]))
    return Trace(s, scans, float(weights["score.weight"][0] @ corner + weights["score.bias"][0]))
