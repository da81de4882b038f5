"""IASM: interactive attention over a word-matching matrix, two-channel distance.

Zhao, Huang, Su, Li, Wang, Interactive Attention Networks for Semantic Text Matching,
ICDM 2020. A stack of layers turns the matching matrix A into new word representations,
and (dynamic variant) those into a new matching matrix; the score compares each text with
what became of the other.

Departures and resolutions:
- The paper's score is a distance; `scores` is its negative, so that higher is better. The
  two distances themselves are in `distances`.
- Shapes only fit when the number of layers is odd: after an odd number of layers D has the
  rows of the query. Even depth is an error unless `even_mode="same_side"` compares Q0 with
  Q[L] and D0 with D[L] instead, a variant that is ours and not the paper's.
- Equation 2 prints Sim(q_i, d_i); it is Sim(q_i, d_j), as its own text says.
- Normalisation before the distance is not given: whole-matrix Frobenius norm, as in the
  authors' code, which has one static layer only. `norm="row"` makes every word vector unit
  length instead (the distance then grows with the text).
- Margin and number of negatives are not given: 0.1 and 4.
"""

import math
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, NamedTuple

import torch
from torch import Tensor, nn

from matchwork.encode import Encoded, Encoder
from matchwork.errors import ConfigError
from matchwork.interact import Evidence, Interaction, WordWeights, cosine_table, row_lengths
from matchwork.models.base import MatchModel, MatchOutput, ModelConfig, register

EPSILON = 1e-8


@dataclass(frozen=True, kw_only=True)
class IASMConfig(ModelConfig):
    """Depth, how the matrix is renewed (alpha, beta) and how the channels count (gamma, delta)."""

    num_layers: int = 3
    update: Literal["static", "dynamic"] = "dynamic"
    alpha: float = 0.75
    beta: float = 0.25
    gamma: float = 0.5
    delta: float = 0.5
    norm: Literal["matrix", "row"] = "matrix"
    even_mode: Literal["error", "same_side"] = "error"

    def __post_init__(self) -> None:
        if self.num_layers < 1:
            raise ConfigError(f"num_layers must be at least 1, got {self.num_layers}")
        if self.num_layers % 2 == 0 and self.even_mode == "error":
            raise ConfigError(
                f"num_layers must be odd, got {self.num_layers}: each layer swaps the roles of "
                "the two texts, so only after an odd number of layers can the query be compared "
                "with the re-represented document (equation 8). Use "
                f"{self.num_layers - 1 or 1} or {self.num_layers + 1}, or "
                'even_mode="same_side", which is not the paper\'s model.'
            )
        if min(self.gamma, self.delta) < 0 or self.gamma + self.delta == 0:
            raise ConfigError(
                f"gamma and delta must not be negative nor both zero, "
                f"got {self.gamma} and {self.delta}"
            )


class Layers(NamedTuple):
    """Everything the stack computed; `matrices[t]` is A[t], m x n for even t, n x m for odd."""

    matrices: list[Tensor]
    queries: list[Tensor]
    documents: list[Tensor]


@register("iasm-static", update="static")
@register("iasm-dynamic", update="dynamic")
class IASM(MatchModel):
    """Score = -(gamma * Dist(Q0, D[L]) + delta * Dist(D0, Q[L])).

    Parameters are the paper's, stacked over layers and multiplied from the right:
    `Wq`, `Wd` of shape (L, dim, dim), `bq`, `bd` of shape (L, dim).
    """

    Config: ClassVar[type[ModelConfig]] = IASMConfig
    config: IASMConfig
    training_defaults: ClassVar[dict[str, Any]] = {
        "loss": "hinge",
        "margin": 0.1,
        "negatives": "replace",
        "num_negatives": 4,
        "optimizer": "adam",
        "learning_rate": 1e-4,
        "max_epochs": 50,
    }

    def __init__(self, config: IASMConfig, encoder: Encoder) -> None:
        super().__init__(config, encoder)
        depth, dim = config.num_layers, encoder.dim
        self.Wq = nn.Parameter(torch.empty(depth, dim, dim))
        self.Wd = nn.Parameter(torch.empty(depth, dim, dim))
        self.bq = nn.Parameter(torch.empty(depth, dim))
        self.bd = nn.Parameter(torch.empty(depth, dim))
        for parameter in (self.Wq, self.Wd, self.bq, self.bd):
            nn.init.uniform_(parameter, -1 / math.sqrt(dim), 1 / math.sqrt(dim))

    def match(self, query: Encoded, document: Encoded) -> MatchOutput:
        """Matching matrix, interactive layers, two-channel distance."""
        layers = self.interact(query, document)
        to_source, to_target = self.distances(layers)
        distance = self.config.gamma * _root_of_sum(to_source) + self.config.delta * _root_of_sum(
            to_target
        )
        return MatchOutput(-distance, self._evidence(query, document, layers, to_source, to_target))

    def interact(self, query: Encoded, document: Encoded, matrix: Tensor | None = None) -> Layers:
        """Equations 1 to 7: all matching matrices and representations of the stack.

        `matrix` replaces the cosine matrix A[0] (values in [0, 1]; padding is masked here).
        """
        q, d = query.vectors, document.vectors
        q_rows, d_rows = query.mask.unsqueeze(-1), document.mask.unsqueeze(-1)
        a = cosine_table(q, d) if matrix is None else matrix.to(q.dtype)
        a = a.masked_fill(~(q_rows & d_rows.transpose(1, 2)), 0.0)
        layers = Layers([a], [q], [d])
        for t in range(self.config.num_layers):
            turned = a.transpose(1, 2)
            q = torch.relu(_mix(turned, q, self.Wq[t]) + self.bq[t]) * d_rows
            d = torch.relu(_mix(a, d, self.Wd[t]) + self.bd[t]) * q_rows
            q_rows, d_rows = d_rows, q_rows
            last = t == self.config.num_layers - 1
            if not last:  # A[L] does not enter the score
                a = turned
                if self.config.update == "dynamic":
                    fresh = cosine_table(q, d) * q_rows * d_rows.transpose(1, 2)
                    a = self.config.alpha * fresh + self.config.beta * turned
                layers.matrices.append(a)
            layers.queries.append(q)
            layers.documents.append(d)
        return layers

    def distances(self, layers: Layers) -> tuple[Tensor, Tensor]:
        """Equation 8, word by word: squared distances whose sums' roots are the two channels.

        Shapes (batch, query length) and (batch, document length).
        """
        source, target = layers.documents[-1], layers.queries[-1]
        if self.config.num_layers % 2 == 0:
            source, target = target, source
        return (
            self._squared_distance(layers.queries[0], source),
            self._squared_distance(layers.documents[0], target),
        )

    def _squared_distance(self, left: Tensor, right: Tensor) -> Tensor:
        difference = self._normalise(left) - self._normalise(right)
        return (difference * difference).sum(dim=-1)

    def _normalise(self, rows: Tensor) -> Tensor:
        if self.config.norm == "row":
            return rows / row_lengths(rows).clamp_min(EPSILON).unsqueeze(-1)
        return rows / row_lengths(rows.flatten(1)).clamp_min(EPSILON)[:, None, None]

    def _evidence(
        self,
        query: Encoded,
        document: Encoded,
        layers: Layers,
        to_source: Tensor,
        to_target: Tensor,
    ) -> dict[str, Evidence]:
        mask = query.mask.unsqueeze(-1) & document.mask.unsqueeze(-2)
        evidence: dict[str, Evidence] = {}
        for t, matrix in enumerate(layers.matrices):
            table = matrix if t % 2 == 0 else matrix.transpose(1, 2)
            evidence[f"matching_{t}"] = Interaction(table, mask)
        # Each word's share of its channel; all shares of both sides add up to the distance.
        shares = self.config.gamma * to_source / _root_of_sum(to_source).clamp_min(EPSILON)[:, None]
        evidence["query_distance"] = WordWeights(shares, query.mask, "query")
        shares = self.config.delta * to_target / _root_of_sum(to_target).clamp_min(EPSILON)[:, None]
        evidence["document_distance"] = WordWeights(shares, document.mask, "document")
        return evidence


def _mix(weights: Tensor, rows: Tensor, projection: Tensor) -> Tensor:
    """`weights @ rows @ projection`, projecting whichever of the two texts is shorter."""
    if weights.shape[-1] < weights.shape[-2]:
        return weights @ (rows @ projection)
    return (weights @ rows) @ projection


def _root_of_sum(squares: Tensor) -> Tensor:
    """Exact root; the clamp keeps the gradient finite where the distance is zero."""
    return squares.sum(dim=-1).clamp_min(1e-24).sqrt()
