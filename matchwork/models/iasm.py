"""IASM: interactive attention over a word-matching matrix, two-channel distance.

Zhao, Huang, Su, Li, Wang, Interactive Attention Networks for Semantic Text Matching,
ICDM 2020. A stack of layers turns the matching matrix A into new word representations,
and (dynamic variant) those into a new matching matrix; the score compares each text with
what became of the other.

Departures and resolutions:
- The paper's score is a distance; `scores` is its negative, so that higher is better.
- Shapes only fit when the number of layers is odd: after an odd number of layers D has the
  rows of the query. Even depth is an error unless `even_mode="same_side"` compares Q0 with
  Q[L] and D0 with D[L] instead, a variant that is ours and not the paper's.
- Equation 2 prints Sim(q_i, d_i); it is Sim(q_i, d_j), as its own text says.
- Normalisation before the distance is not given: whole-matrix Frobenius norm, as in the
  authors' code, which has one static layer only. `norm="row"` makes every word vector unit
  length instead (the distance then grows with the text).
- The network of IASM-CNN is not given: `GridCNN` over A[L], its output taken as a distance.
- Margin and number of negatives are not given: 0.1 and 4.
"""

import math
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, NamedTuple

import torch
from torch import Tensor, nn

from matchwork.encode import Encoded, Encoder
from matchwork.errors import ConfigError
from matchwork.interact import (
    Evidence,
    GridCNN,
    Interaction,
    LazyEvidence,
    Side,
    WordLinks,
    WordWeights,
    cosine_table,
    matrix_distance,
    row_agreements,
    row_distances,
)
from matchwork.models.base import MatchModel, MatchOutput, ModelConfig, register


@dataclass(frozen=True, kw_only=True)
class IASMConfig(ModelConfig):
    """Depth, how the matrix is renewed (alpha, beta), what becomes the score (the rest).

    `head`: the two-channel distance, weighted by gamma and delta, or a CNN over the last
    matrix. `links`: whether a table of linked words makes the first matrix ("replace") or
    raises its cosines ("max").
    """

    num_layers: int = 3
    update: Literal["static", "dynamic"] = "dynamic"
    alpha: float = 0.75
    beta: float = 0.25
    gamma: float = 0.5
    delta: float = 0.5
    norm: Literal["matrix", "row"] = "matrix"
    head: Literal["distance", "cnn"] = "distance"
    links: Literal["none", "replace", "max"] = "none"
    even_mode: Literal["error", "same_side"] = "error"

    def __post_init__(self) -> None:
        if self.num_layers < 1:
            raise ConfigError(f"num_layers must be at least 1, got {self.num_layers}")
        if self.num_layers % 2 == 0 and self.even_mode == "error" and self.head == "distance":
            raise ConfigError(
                f"num_layers must be odd, got {self.num_layers}: each layer swaps the roles of "
                "the two texts, so only after an odd number of layers can the query be compared "
                "with the re-represented document (equation 8). Use "
                f"{self.num_layers - 1 or 1} or {self.num_layers + 1}, or "
                'even_mode="same_side", which is not the paper\'s model.'
            )
        if self.head == "cnn" and self.update == "static":
            raise ConfigError(
                'head = "cnn" reads the last matrix, which update = "static" never renews: no '
                'layer would have a say in the score; use update = "dynamic"'
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
@register("iasm-source", update="dynamic", gamma=1.0, delta=0.0)
@register("iasm-target", update="dynamic", gamma=0.0, delta=1.0)
@register("iasm-cnn", update="dynamic", head="cnn")
class IASM(MatchModel):
    """Score = -(gamma * Dist(Q0, D[L]) + delta * Dist(D0, Q[L])), or -CNN(A[L]).

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
        if config.head == "cnn":
            self.cnn = GridCNN()
        if config.links != "none":
            self.links = WordLinks()

    def link_words(self, links: WordLinks) -> None:
        """Use this table of linked words in the first matrix (see `IASMConfig.links`)."""
        if self.config.links == "none":
            raise ConfigError('this model uses no links; make it with links = "max" or "replace"')
        self.links = links

    def match(self, query: Encoded, document: Encoded) -> MatchOutput:
        """Matching matrix, interactive layers, distance."""
        layers = self.interact(query, document)
        if self.config.head == "cnn":
            mask = query.mask.unsqueeze(-1) & document.mask.unsqueeze(-2)
            distance = self.cnn(self._tables(layers)[-1], mask)
        else:
            source, target = self.distances(layers)
            distance = self.config.gamma * source + self.config.delta * target
        return MatchOutput(-distance, LazyEvidence(lambda: self._evidence(query, document, layers)))

    def first_matrix(self, query: Encoded, document: Encoded) -> Tensor:
        """Equation 1, or the table of linked words in its place or on top of it."""
        if self.config.links == "replace":
            linked: Tensor = self.links(query, document).to(query.vectors.dtype)
            return linked
        cosines = cosine_table(query.vectors, document.vectors)
        if self.config.links == "max":
            return torch.maximum(cosines, self.links(query, document).to(cosines.dtype))
        return cosines

    def interact(self, query: Encoded, document: Encoded, matrix: Tensor | None = None) -> Layers:
        """Equations 2 to 7: all matching matrices that are used, and all representations.

        `matrix` is A[0] with zeros at padding; `first_matrix` unless given.
        """
        a = self.first_matrix(query, document) if matrix is None else matrix
        q, d = query.vectors, document.vectors
        q_rows, d_rows = (side.mask.unsqueeze(-1).to(a.dtype) for side in (query, document))
        layers = Layers([], [q], [d])
        for t in range(self.config.num_layers):
            if t:
                a = self._renewed(a, q, d)
            layers.matrices.append(a)
            q, d = (
                _layer(a.transpose(1, 2), q, self.Wq[t], self.bq[t], d_rows),
                _layer(a, d, self.Wd[t], self.bd[t], q_rows),
            )
            q_rows, d_rows = d_rows, q_rows
            layers.queries.append(q)
            layers.documents.append(d)
        return layers

    def _renewed(self, matrix: Tensor, query: Tensor, document: Tensor) -> Tensor:
        """A[t+1] from A[t], Q[t+1] and D[t+1]: equation 3 (static) or 2 (dynamic).

        Padded words have zero vectors, hence zero cosines: nothing needs a mask here.
        """
        turned = matrix.transpose(1, 2)
        if self.config.update == "static":
            return turned
        fresh = cosine_table(query, document)
        return (self.config.beta * turned).add_(fresh, alpha=self.config.alpha)

    def _tables(self, layers: Layers) -> list[Tensor]:
        """A[0] to A[L], all as query x document. A[L] enters only the CNN."""
        last = self._renewed(layers.matrices[-1], layers.queries[-1], layers.documents[-1])
        return [
            matrix if t % 2 == 0 else matrix.transpose(1, 2)
            for t, matrix in enumerate([*layers.matrices, last])
        ]

    def distances(self, layers: Layers) -> tuple[Tensor, Tensor]:
        """Equation 8: the distances of the source and the target channel, shape (batch,)."""
        source, target = self._channels(layers)
        return (
            matrix_distance(*source, self.config.norm),
            matrix_distance(*target, self.config.norm),
        )

    def _channels(self, layers: Layers) -> tuple[tuple[Tensor, Tensor], tuple[Tensor, Tensor]]:
        """Each untouched text with what became of the other."""
        source, target = layers.documents[-1], layers.queries[-1]
        if self.config.num_layers % 2 == 0:
            source, target = target, source
        return (layers.queries[0], source), (layers.documents[0], target)

    def _evidence(self, query: Encoded, document: Encoded, layers: Layers) -> dict[str, Evidence]:
        """Every matrix; for each word how well it is matched, and its share of the distance."""
        mask = query.mask.unsqueeze(-1) & document.mask.unsqueeze(-2)
        evidence: dict[str, Evidence] = {
            f"matching_{t}": Interaction(table, mask)
            for t, table in enumerate(self._tables(layers))
        }
        if self.config.head == "cnn":
            return evidence
        source, target = self._channels(layers)
        if self.config.gamma:
            evidence |= self._word_evidence("query", query.mask, self.config.gamma, source)
        if self.config.delta:
            evidence |= self._word_evidence("document", document.mask, self.config.delta, target)
        return evidence

    def _word_evidence(
        self, side: Side, mask: Tensor, weight: float, channel: tuple[Tensor, Tensor]
    ) -> dict[str, Evidence]:
        agreement = row_agreements(*channel, self.config.norm)
        squares = row_distances(*channel, self.config.norm)
        # Squares divided by their root: they add up to the channel's distance.
        shares = squares / squares.sum(-1, keepdim=True).sqrt().clamp_min(1e-12)
        return {
            f"{side}_agreement": WordWeights(weight * agreement, mask, side),
            f"{side}_distance": WordWeights(weight * shares, mask, side),
        }


def _layer(weights: Tensor, rows: Tensor, projection: Tensor, bias: Tensor, mask: Tensor) -> Tensor:
    """`relu(weights @ rows @ projection + bias) * mask`, projecting the shorter of both texts.

    Padded words have no weights, so only the bias has to be kept away from them.
    """
    if weights.shape[-1] < weights.shape[-2]:
        mixed = weights @ (rows @ projection)
    else:
        mixed = (weights @ rows) @ projection
    return torch.relu_(mixed.addcmul_(mask.to(mixed.dtype), bias.to(mixed.dtype)))
