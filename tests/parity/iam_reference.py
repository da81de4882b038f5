"""IAM by its equations, one pair at a time, in loops."""

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]
Weights = dict[str, Array]


class Trace(NamedTuple):
    """What the equations give on the way."""

    query_states: Array
    document_states: Array
    jumps: Array
    energies: Array
    weights: Array
    context: Array
    question: Array
    logits: Array

    @property
    def score(self) -> float:
        return float(self.logits[1] - self.logits[0])


def sigmoid(z: Array) -> Array:
    return 1 / (1 + np.exp(-z))


def lstm(rows: Array, weights: Weights, name: str) -> Array:
    """Gates in the order i, f, g, o; the two biases are added."""
    inputs, again = weights[f"{name}.weight_ih_l0"], weights[f"{name}.weight_hh_l0"]
    bias = weights[f"{name}.bias_ih_l0"] + weights[f"{name}.bias_hh_l0"]
    units = again.shape[1]
    hidden, cell = np.zeros(units), np.zeros(units)
    states = []
    for row in rows:
        z = inputs @ row + again @ hidden + bias
        i, f, g, o = (z[k * units : (k + 1) * units] for k in range(4))
        cell = sigmoid(f) * cell + sigmoid(i) * np.tanh(g)
        hidden = sigmoid(o) * np.tanh(cell)
        states.append(hidden)
    return np.array(states)


def stack(rows: Array, weights: Weights, name: str, num_layers: int = 2) -> Array:
    ahead, back = rows, rows[::-1]
    for layer in range(num_layers):
        ahead = lstm(ahead, weights, f"{name}.ahead.{layer}")
        back = lstm(back, weights, f"{name}.back.{layer}")
    return np.concatenate([ahead, back[::-1]], axis=1)


def read(words: Array, weights: Weights, name: str) -> Array:
    rows = np.vstack([words, weights[f"{name}.end"]])
    if f"{name}.project.weight" in weights:
        rows = rows @ weights[f"{name}.project.weight"].T
    return stack(rows, weights, f"{name}.stack")


def energy(x: Array, y: Array, weights: Weights, support: str) -> float:
    Q, q1, q2 = (weights[f"energy.{part}"] for part in ("pair", "first", "second"))
    total = 0.0
    for i in range(len(x)):
        total += q1[i] * x[i] + q2[i] * y[i]
        for j in range(len(y)):
            total += x[i] * Q[i, j] * y[j]
    return total + (x @ x + y @ y) / 2 if support == "gauss" else total


def jumps_of(states: Array, weights: Weights, support: str) -> Array:
    jumps = np.zeros(len(states))
    for t in range(len(states) - 1):
        surplus = energy(states[t], states[t + 1], weights, support) - weights["energy.reference"]
        jumps[t] = np.exp(np.clip(-surplus, -10, 10))
    return jumps


def tf_idf(ids: list[int], idf: Array) -> Array:
    vector = np.zeros(len(idf))
    for word in ids:
        if word < len(idf):
            vector[word] += idf[word]
    length = np.linalg.norm(vector)
    return vector / length if length else vector


def ends(states: Array, literal: bool = False) -> Array:
    units = states.shape[1] // 2
    return np.concatenate([states[-1, :units], states[-1 if literal else 0, units:]])


def iam(
    query: Array,
    document: Array,
    weights: Weights,
    config: Any,
    query_ids: list[int] | None = None,
    document_ids: list[int] | None = None,
) -> Trace:
    hq, ha = read(query, weights, "query_reader"), read(document, weights, "document_reader")
    g = jumps_of(ha, weights, config.support) if config.jump else np.zeros(len(ha))
    v1 = weights["attention.jump_weight"][0] if config.jump else 0.0
    u_a = weights["attention.document"]
    u_q = u_a if config.tie_u else weights["attention.query"]
    const = 0.0
    if query_ids is not None and document_ids is not None:
        d_q, d_a = (tf_idf(ids, weights["tf_idf.idf"]) for ids in (query_ids, document_ids))
        if config.matrix == "dense":
            M = weights["attention.matrix"]
        else:
            M = weights["attention.left"] @ weights["attention.right"].T
        const = weights["attention.term"] @ d_a + weights["attention.term_weight"][0] * (
            d_q @ M @ d_a
        )
    e = np.zeros(len(ha))
    for t in range(len(ha)):
        if config.q_align == "final":
            asked = ends(hq)
        else:
            asked = hq[t] if t < len(hq) else np.zeros(hq.shape[1])
        e[t] = np.tanh(u_q @ asked + u_a @ ha[t] + v1 * g[t] + const)
    alpha = np.exp(e) / np.exp(e).sum()
    c_a = sum(alpha[t] * ha[t] for t in range(len(ha)))
    words = query
    if "shift" in weights and query_ids is not None:
        shift = weights["shift"]
        moved = [shift[w] if w < len(shift) else 0 * shift[0] for w in query_ids]
        words = query + np.array(moved).reshape(query.shape)
    rows = np.vstack([words, weights["query_reader.end"]])
    V_q, V_a = weights["from_words.weight"], weights["from_context.weight"]
    phi = np.array([np.tanh(V_q @ w + V_a @ c_a + weights["from_context.bias"]) for w in rows])
    question = ends(stack(phi, weights, "aware"), config.final_state == "literal")
    U_q, U_a = weights["from_question.weight"], weights["from_answer.weight"]
    s = np.tanh(U_q @ question + U_a @ c_a + weights["from_answer.bias"])
    return Trace(hq, ha, g, e, alpha, c_a, question, weights["classes.weight"] @ s)


def language_model_loss(
    text: Array, classes: list[int], weights: Weights, name: str
) -> tuple[float, int]:
    """Sum of negative log likelihoods and their number; `classes` end with <EOS>."""
    states = read(text, weights, name)
    units = states.shape[1] // 2
    total, number = 0.0, 0
    for t in range(len(states) - 1):
        for layer, state, target in (
            ("ahead", states[t, :units], classes[t + 1]),
            ("back", states[t + 1, units:], classes[t]),
        ):
            logits = weights[f"{layer}.weight"] @ state + weights[f"{layer}.bias"]
            total -= logits[target] - np.log(np.exp(logits).sum())
            number += 1
    return total, number
