"""ADDAX for one pair, equation by equation, token by token, in NumPy; slow on purpose."""

from dataclasses import dataclass
from math import sqrt
from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]
Weights = dict[str, Array]


@dataclass
class Cell:
    """One side: R, E, p of every token, what is joined, and what comes out."""

    R: Array
    E: Array
    p: Array
    Fc: Array
    H: Array


@dataclass
class Trace:
    """Everything about one pair; without a denoiser the errors are 0 and both scores the same."""

    S: Array
    query: Cell | None
    document: Cell | None
    HQ: Array
    HD: Array
    BD: Array
    code: Array
    Hr: Array | None
    L1: float
    L2: float
    cosines: Array
    score_soft: float
    score_sign: float


def sigmoid(x: Any) -> Any:
    return 1 / (1 + np.exp(-x))


def softmax(x: Array) -> Array:
    e = np.exp(x - x.max())
    return e / e.sum()


def relu(x: Array) -> Array:
    return np.where(x > 0, x, 0.0)


def mag_cell(own: Array, other: Array, S: Array, w: Weights, name: str, highway: bool) -> Cell:
    """Equations 4 to 13 for the rows of `own`."""
    rows: list[tuple[Any, ...]] = []
    for i, u in enumerate(own):
        a = softmax(S[i])
        R = sum(a[j] * other[j] for j in range(len(other)))
        E = sigmoid(
            sum(S[i, j] * w[f"{name}.weight"][j] for j in range(len(other))) + w[f"{name}.bias"]
        )
        dot = sum(S[i, j] * w[f"{name}.token_weight"][j] for j in range(len(other)))
        p = sigmoid(dot + w[f"{name}.token_bias"])
        Fr, Fd = R * E, (u - R) * (1 - E)
        if highway:
            Fc = np.concatenate([p * Fr, (1 - p) * Fd])
            a = relu(w[f"{name}.transform.weight"] @ Fc + w[f"{name}.transform.bias"])
            g = sigmoid(w[f"{name}.gate.weight"] @ Fc + w[f"{name}.gate.bias"])
            y = (1 - g) * Fc + g * a
            H = w[f"{name}.output.weight"] @ y + w[f"{name}.output.bias"]
        else:
            Fc = H = p * Fr + (1 - p) * Fd
        rows.append((R, E, p, Fc, H))
    return Cell(*(np.array(part) for part in zip(*rows, strict=True)))


def hash_token(x: Array, w: Weights, alpha: float) -> tuple[Array, Array]:
    W = [w[f"denoiser.encoder.{k}.weight"] for k in range(3)]
    b = [w[f"denoiser.encoder.{k}.bias"] for k in range(3)]
    B = np.tanh(W[2] @ relu(W[1] @ np.tanh(W[0] @ x + b[0]) + b[1]) + b[2])
    return np.tanh(alpha * B), np.where(B >= 0, 1.0, -1.0)


def restore_token(BD: Array, w: Weights, tied: bool) -> Array:
    if tied:
        W = [w[f"denoiser.encoder.{k}.weight"].T for k in (2, 1, 0)]
    else:
        W = [w[f"denoiser.weights.{k}"] for k in range(3)]
    c = [w[f"denoiser.biases.{k}"] for k in range(3)]
    return W[2] @ relu(W[1] @ np.tanh(W[0] @ BD + c[0]) + c[1]) + c[2]


def cosines_of(hq: Array, b: Array) -> Array:
    table = np.zeros((len(hq), len(b)))
    for i, x in enumerate(hq):
        for j, y in enumerate(b):
            table[i, j] = x @ y / max(sqrt(x @ x) * sqrt(y @ y), 1e-8)
    return table


def max_sim(table: Array) -> float:
    return float(sum(max(row) for row in table))


def addax(U: Array, V: Array, w: Weights, config: Any) -> Trace:
    """One pair without padding; `config` has the fields of `AddaxConfig`."""
    S = np.array([[u @ v for v in V] for u in U])
    if config.scale_scores:
        S = S / sqrt(U.shape[1])
    query = document = None
    if config.cells == "none":
        HQ, HD = U, V
    elif config.cells == "attention":
        HQ = np.array([softmax(S[i]) @ V for i in range(len(U))])
        HD = np.array([softmax(S[:, j]) @ U for j in range(len(V))])
    else:
        highway = config.cells == "highway"
        query = mag_cell(U, V, S, w, "query_cell", highway)
        document = mag_cell(V, U, S.T, w, "document_cell", highway)
        HQ, HD = query.H, document.H
    hq = np.array([w["query_projection.weight"] @ x + w["query_projection.bias"] for x in HQ])
    if config.query_activation == "tanh":
        hq = np.tanh(hq)
    if not config.denoiser:
        W, b = w["document_projection.weight"], w["document_projection.bias"]
        BD = np.array([np.tanh(W @ x + b) for x in HD])
        table = cosines_of(hq, BD)
        score = max_sim(table)
        return Trace(S, query, document, HQ, HD, BD, BD, None, 0, 0, table, score, score)
    pairs = [hash_token(x, w, config.alpha) for x in HD]
    BD, code = (np.array(part) for part in zip(*pairs, strict=True))
    Hr = np.array([restore_token(b, w, config.tied) for b in BD])
    L1 = sum(float((b - c) @ (b - c)) for b, c in zip(BD, code, strict=True))
    L2 = sum(float((r - x) @ (r - x)) for r, x in zip(Hr, HD, strict=True))
    if config.reduction == "mean":
        L1, L2 = L1 / BD.size, L2 / HD.size
    soft, hard = cosines_of(hq, BD), cosines_of(hq, code)
    scores = max_sim(soft), max_sim(hard)
    return Trace(S, query, document, HQ, HD, BD, code, Hr, L1, L2, soft, *scores)
