"""IASM: interactive attention over a word-matching matrix, two-channel distance.

Zhao, Huang, Su, Li, Wang, Interactive Attention Networks for Semantic Text Matching,
ICDM 2020. A stack of layers turns the matching matrix A into new word representations, and
(dynamic variant) those into a new matching matrix; the score compares each text with the
re-represented other one.

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
from typing import Any, ClassVar, Literal

import torch
from torch import Tensor, nn

from matchwork.encode import Encoded, Encoder
from matchwork.errors import ConfigError
from matchwork.inputs import require_at_least
from matchwork.interact import (
    Evidence,
    Interaction,
    LazyMapping,
    WordWeights,
    cosine_table,
    pair_mask,
)
from matchwork.models.base import MatchModel, MatchOutput, ModelConfig, register
from matchwork.models.iasm.distance import matrix_distance, row_agreements, row_distances
from matchwork.models.iasm.grid_cnn import GridCNN
from matchwork.models.iasm.interactive_layers import Layers, Weights, interactive_layers, renewed
from matchwork.models.iasm.word_links import WordLinks
from matchwork.types import Side


@dataclass(frozen=True, kw_only=True)
class IASMConfig(ModelConfig):
    """Settings of `IASM`."""

    num_layers: int = 3  # number of interactive layers; odd, unless `even_mode` says otherwise
    update: Literal["static", "dynamic"] = "dynamic"  # keep or renew the matching matrix
    alpha: float = 0.75  # weight of new cosines in a new matrix
    beta: float = 0.25  # weight of the old matrix in a new one
    gamma: float = 0.5  # weight of the source channel (query) in the distance
    delta: float = 0.5  # weight of the target channel (document)
    norm: Literal["matrix", "row"] = "matrix"  # before the distance
    head: Literal["distance", "cnn"] = "distance"  # "cnn": over the last matrix
    # use of a table of linked words: as the first matrix ("replace"), as a lower bound of its
    # cosines ("max"), or not at all
    links: Literal["none", "replace", "max"] = "none"
    # whether an even number of layers is an error, or compares each text with its own last
    # representation, which is not the paper's model
    even_mode: Literal["error", "same_side"] = "error"

    def __post_init__(self) -> None:
        require_at_least(self, 1, "num_layers")
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
                'head = "cnn" reads the last matrix, which update = "static" never changes: no '
                'layer would affect the score; use update = "dynamic"'
            )
        if min(self.gamma, self.delta) < 0 or self.gamma + self.delta == 0:
            raise ConfigError(
                f"gamma and delta must not be negative nor both zero, "
                f"got {self.gamma} and {self.delta}"
            )


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
    evidence_titles: ClassVar[dict[str, str]] = {
        "matching_0": "Word matching before the first layer",
        "matching_{}": "Word matching after {layer}",
        "query_distance": "How far each query word stays from the document",
        "document_distance": "How far each document word stays from the query",
    }
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
        # Weights of new cosines and of the old matrix in a new one: equation 3 (static) or 2.
        self._renewal = (0.0, 1.0) if config.update == "static" else (config.alpha, config.beta)
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
        """Use this table of linked words in the first matrix; see `IASMConfig.links`."""
        if self.config.links == "none":
            raise ConfigError('this model uses no links; make it with links = "max" or "replace"')
        self.links = links

    def match(self, query: Encoded, document: Encoded) -> MatchOutput:
        """Compute the matching matrix, run the layers, measure the distance."""
        layers = self.interact(query, document)
        if self.config.head == "cnn":
            distance = self.cnn(self._tables(layers)[-1], pair_mask(query, document))
        else:
            source, target = self.distances(layers)
            distance = self.config.gamma * source + self.config.delta * target
        return MatchOutput(-distance, LazyMapping(lambda: self._evidence(query, document, layers)))

    def first_matrix(self, query: Encoded, document: Encoded) -> Tensor:
        """Compute A[0]: equation 1, the table of linked words, or the maximum of both."""
        if self.config.links == "none":
            return cosine_table(query.vectors, document.vectors)
        linked: Tensor = self.links(query, document).to(query.vectors.dtype)
        if self.config.links == "replace":
            return linked
        cosines = cosine_table(query.vectors, document.vectors)
        return torch.maximum(cosines, linked.to(cosines.dtype))

    def interact(self, query: Encoded, document: Encoded, matrix: Tensor | None = None) -> Layers:
        """Compute equations 2 to 7 from A[0], by default `first_matrix`; it is 0 at padding."""
        if matrix is None:
            matrix = self.first_matrix(query, document)
        weights = Weights(self.Wq, self.Wd, self.bq, self.bd)
        return interactive_layers(matrix, query, document, weights, *self._renewal)

    def _tables(self, layers: Layers) -> list[Tensor]:
        """Return A[0] to A[L], all (batch, query, document); only the CNN uses A[L]."""
        alpha, beta = self._renewal
        cosines = cosine_table(layers.by_query[-1], layers.by_document[-1]) if alpha else None
        return [*layers.tables, renewed(layers.tables[-1], cosines, alpha, beta)]

    def distances(self, layers: Layers) -> tuple[Tensor, Tensor]:
        """Compute equation 8: distances of the source and target channels, each (batch,)."""
        texts = layers.by_query, layers.by_document
        source, target = (matrix_distance(text[0], text[-1], self.config.norm) for text in texts)
        return source, target

    def _evidence(self, query: Encoded, document: Encoded, layers: Layers) -> dict[str, Evidence]:
        """Collect all matrices, and each word's agreement and share of the distance."""
        mask = pair_mask(query, document)
        evidence: dict[str, Evidence] = {
            f"matching_{t}": Interaction(table, mask)
            for t, table in enumerate(self._tables(layers))
        }
        gamma, delta = self.config.gamma, self.config.delta
        if self.config.head != "cnn":
            evidence |= self._words("query", query.mask, gamma, layers.by_query)
            evidence |= self._words("document", document.mask, delta, layers.by_document)
        return evidence

    def _words(
        self, side: Side, mask: Tensor, weight: float, vectors: list[Tensor]
    ) -> dict[str, Evidence]:
        if not weight:
            return {}
        agreement = row_agreements(vectors[0], vectors[-1], self.config.norm)
        squares = row_distances(vectors[0], vectors[-1], self.config.norm)
        # Divided by the distance, squares add up to the channel's distance.
        shares = squares / squares.sum(-1, keepdim=True).sqrt().clamp_min(1e-12)
        return {
            f"{side}_agreement": WordWeights(weight * agreement, mask, side),
            f"{side}_distance": WordWeights(weight * shares, mask, side),
        }
