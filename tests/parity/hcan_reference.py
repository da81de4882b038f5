"""HCAN for one pair of texts in NumPy loops, written from the specification: slow and plain.

No batches, no masks: a text is as long as it is. Weights go by the names of the parameters.
"""

from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]
Weights = dict[str, Array]


@dataclass
class Trace:
    """Tables and features of one pair, level by level."""

    S: list[Array] = field(default_factory=list)
    largest: list[Array] = field(default_factory=list)
    mean: list[Array] = field(default_factory=list)
    A: list[Array] = field(default_factory=list)
    semantic: list[Array] = field(default_factory=list)
    logits: Array = field(default_factory=lambda: np.zeros(0))
    score: float = 0.0


def sigmoid(x: Array) -> Array:
    return np.asarray(1 / (1 + np.exp(-x)))


def softmax(x: Array) -> Array:
    return np.asarray(np.exp(x - x.max()) / np.exp(x - x.max()).sum())


def convolve(U: Array, weights: Weights, h: int) -> Array:
    """Position j reads words j, j + 1, ...; past the end are zeros."""
    kernel = weights[f"levels.layers.{h}.convolution.weight"]
    bias = weights[f"levels.layers.{h}.convolution.bias"]
    out = np.zeros((len(U), len(bias)))
    for j in range(len(U)):
        total = bias.copy()
        for offset in range(kernel.shape[2]):
            if j + offset < len(U):
                total = total + kernel[:, :, offset] @ U[j + offset]
        out[j] = np.maximum(total, 0)
    return out


def lstm(X: Array, weight: Array, recurrent: Array, bias: Array) -> Array:
    """One direction; gates in the order i, f, g, o."""
    u = len(recurrent)
    h = c = np.zeros(u)
    states = []
    for x in X:
        z = x @ weight + h @ recurrent + bias
        i, f, o = sigmoid(z[:u]), sigmoid(z[u : 2 * u]), sigmoid(z[3 * u :])
        c = f * c + i * np.tanh(z[2 * u : 3 * u])
        h = o * np.tanh(c)
        states.append(h)
    return np.array(states)


def bilstm(X: Array, weights: Weights, name: str, stack: int) -> tuple[Array, Array]:
    W, R, b = (weights[f"{name}.{part}"][stack] for part in ("weight", "recurrent", "bias"))
    half = W.shape[1] // 2
    ahead = lstm(X, W[:, :half], R[0], b[:half])
    back = lstm(X[::-1], W[:, half:], R[1], b[half:])[::-1]
    return ahead, back


def encode(U: Array, weights: Weights, kind: str, num_layers: int) -> list[Array]:
    levels = [U]
    for h in range(num_layers):
        if kind == "contextual":
            pair = bilstm(levels[-1], weights, f"levels.layers.{h}.lstm", 0)
            levels.append(np.concatenate(pair, axis=1))
        else:
            levels.append(convolve(levels[-1] if kind == "deep" else U, weights, h))
    return levels


def match_relevance(q: Array, c: Array, preset: str) -> tuple[Array, Array, Array]:
    S = np.array([[x @ y for y in c] for x in q])
    if preset == "paper":
        S = np.array([softmax(row) for row in S])
    else:
        S = np.array([softmax(column) for column in S.T]).T
    return S, S.max(axis=1), S.sum(axis=1) / len(c)


def match_semantic(
    q: Array, c: Array, weights: Weights, stack: int, preset: str
) -> tuple[Array, Array]:
    w_q, w_c = weights["semantic.query"][stack], weights["semantic.document"][stack]
    W_b = weights["semantic.bilinear"][stack]
    A = np.array([[x @ w_q + y @ w_c + x @ W_b @ y for y in c] for x in q])
    An = np.array([softmax(column) for column in A.T]).T
    seen = An.T @ q
    w = An.max(axis=0) if preset == "paper" else softmax(A.max(axis=0))
    summary = sum(w[j] * c[j] for j in range(len(c)))
    H = np.concatenate([c, seen, c * seen, summary * seen], axis=1)
    if preset == "code":
        H = np.maximum(H, 0)
    ahead, back = bilstm(H, weights, "semantic.lstm", stack)
    if preset == "paper":
        return An, np.concatenate([ahead[-1], back[0]])
    states = np.concatenate([ahead, back], axis=1)
    return An, np.concatenate([states.max(axis=0), states.mean(axis=0)])


def in_order(trace: Trace, preset: str, parts: str) -> Array:
    if preset == "code":
        return np.concatenate((trace.largest if parts != "semantic" else []) + trace.semantic)
    features: list[Array] = []
    for h in range(len(trace.largest)):
        if parts != "semantic":
            features += [trace.largest[h], trace.mean[h]]
        if parts != "relevance":
            features.append(trace.semantic[h])
    return np.concatenate(features)


def hcan(
    query: Array,
    document: Array,
    weights: Weights,
    phrase_weights: Array,
    *,
    preset: str,
    encoder: str,
    parts: str,
    num_layers: int,
    query_length: int,
) -> Trace:
    """`phrase_weights` is (levels 0 to N, words of the query)."""
    trace = Trace()
    qs, cs = (encode(U, weights, encoder, num_layers) for U in (query, document))

    def in_place(values: Array) -> Array:
        return np.concatenate([values, np.zeros(query_length - len(values))])

    first = 1 if preset == "paper" else 0
    for h in range(first, num_layers + 1):
        S, largest, mean = match_relevance(qs[h], cs[h], preset)
        wgt = np.ones(len(query)) if preset == "code" and h >= 2 else phrase_weights[h]
        trace.S.append(S)
        trace.largest.append(in_place(wgt * largest))
        trace.mean.append(in_place(wgt * mean))
    if parts != "relevance":
        for h in range(1, num_layers + 1):
            An, found = match_semantic(qs[h], cs[h], weights, h - 1, preset)
            trace.A.append(An)
            trace.semantic.append(found)
    x = in_order(trace, preset, parts)
    depth = 2 if preset == "paper" else 3
    for k in range(depth):
        x = weights[f"head.{2 * k}.weight"] @ x + weights[f"head.{2 * k}.bias"]
        if k < depth - 1:
            x = np.maximum(x, 0)
    trace.logits = x
    P = softmax(x)[1]
    trace.score = float(np.log(P) - np.log(1 - P))
    return trace
