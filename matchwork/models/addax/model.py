"""ADDAX: gated cross attention between contextual tokens, hashed documents, MaxSim.

Li, Li, Guo, Adaptive Feature Discrimination and Denoising for Asymmetric Text Matching,
COLING 2022. A MAG cell on each side gates the vector that a token attends to in the other text
and the difference to it; documents pass through a hashing auto-encoder; every query token is
matched with its most similar document token. There is no public code.

Departures and resolutions:
- The gates' weights have a row for every position of the other text, so lengths are bounded;
  the bias B1, printed as length x dim, is one vector.
- Padding is masked everywhere and never counted by MaxSim.
- Sizes of the auto-encoder are not given: dim/2, dim/2, `hash_dim`. Its decoder has the
  encoder's weights transposed and biases of its own, and ends in a linear layer.
- Errors are printed as Frobenius norms and called MSE: `reduction` has both readings. They are
  averaged over positive and negative documents; printed for positive ones only (`aux`).
- Codes are the signs at inference; tanh, which stands in for them in training, is an option.
"""

from dataclasses import dataclass
from typing import Any, ClassVar, Literal, NamedTuple

import torch
from torch import Tensor, nn

from matchwork.encode import Encoded, Encoder
from matchwork.errors import ConfigError
from matchwork.inputs import require_at_least, require_dropout, require_positive
from matchwork.interact import (
    Codes,
    Evidence,
    Interaction,
    LazyMapping,
    MaxSim,
    WordWeights,
    attend,
    max_sim,
)
from matchwork.interact.similarity import product_type
from matchwork.models.addax.hashing import Hashed, HashingDenoiser, SmallLinear
from matchwork.models.addax.mag_cell import MagCell, MagOutput
from matchwork.models.base import MatchModel, MatchOutput, ModelConfig, register, trim_padding
from matchwork.types import Side


@dataclass(frozen=True, kw_only=True)
class AddaxConfig(ModelConfig):
    """Settings of `ADDAX`."""

    query_length: int = 32  # most query tokens; weights of the gates belong to positions
    document_length: int = 128  # most document tokens
    # cells with or without highway, cross attention alone, or nothing
    cells: Literal["highway", "plain", "attention", "none"] = "highway"
    scale_scores: bool = False  # divide attention scores by the root of the width
    gate_bias: float = 0.0  # initial bias of the highway's gates
    dropout: float = 0.1  # dropout in the cells
    denoiser: bool = True  # hash documents; otherwise they are projected
    hash_dim: int = 300  # width of codes and projections
    alpha: float = 5.0  # steepness of the tanh that stands in for the sign in training
    delta: float = 1e-6  # weight of the codes' error in the loss
    gamma: float = 0.003  # weight of the restored vectors' error in the loss
    reduction: Literal["sum", "mean"] = "sum"  # sum or average errors over tokens and values
    tied: bool = True  # decode with the encoder's weights, transposed
    aux: Literal["both", "positive"] = "both"  # documents whose errors are in the loss
    query_activation: Literal["tanh", "linear"] = "tanh"  # activation of the query projection
    inference: Literal["sign", "tanh"] = "sign"  # codes at inference: signs, or their tanh
    # initial weights: random, or "aligned", where the score is close to MaxSim of the
    # encoder's own vectors (the closer, the further `gate_bias` is below 0)
    start: Literal["normal", "aligned"] = "normal"

    def __post_init__(self) -> None:
        require_at_least(self, 1, "query_length", "document_length", "hash_dim")
        require_at_least(self, 0, "delta", "gamma")
        require_positive(self, "alpha")
        require_dropout(self, "dropout")


class AddaxTrace(NamedTuple):
    """Intermediate results of a batch; None for parts that the model lacks.

    `query_vectors` and `document_vectors` are the output of the cells, undefined at padding.
    """

    query_cell: MagOutput | None
    document_cell: MagOutput | None
    query_vectors: Tensor
    document_vectors: Tensor
    hashed: Hashed | None
    best: MaxSim


@register("addax")
@register("addax-no-mags", cells="none", denoiser=True)
@register("addax-no-highway", cells="plain", denoiser=True)
@register("addax-no-denoiser", cells="highway", denoiser=False)
@register("addax-attention", cells="attention", denoiser=False)
class ADDAX(MatchModel):
    """Score = sum over query tokens of the largest cosine with a document token's code."""

    Config: ClassVar[type[ModelConfig]] = AddaxConfig
    config: AddaxConfig
    evidence_titles: ClassVar[dict[str, str]] = {
        "query_answer": "What each query word adds to the score",
        "document_answer": "What each document word adds to the score",
        "query_gate": "Query word as a whole",
        "query_values_gate": "Query word, mean over its values",
        "document_gate": "Document word as a whole",
        "document_values_gate": "Document word, mean over its values",
    }
    training_defaults: ClassVar[dict[str, Any]] = {
        "loss": "hinge",
        "margin": 1.0,
        "negatives": "random",
        "num_negatives": 1,
        "optimizer": "adam",
        "learning_rate": 1e-5,
        "batch_size": 32,
        "max_epochs": 18,
    }

    def __init__(self, config: AddaxConfig, encoder: Encoder) -> None:
        super().__init__(config, encoder)
        dim = encoder.dim
        if config.denoiser and dim < 2:
            raise ConfigError(f"the denoiser halves the vectors' width, which is {dim}")
        if config.cells in ("highway", "plain"):
            options = config.cells == "highway", config.dropout, config.gate_bias
            self.query_cell = MagCell(dim, config.document_length, *options)
            self.document_cell = MagCell(dim, config.query_length, *options)
        if config.denoiser:
            self.denoiser = HashingDenoiser(
                dim, config.hash_dim, config.alpha, config.tied, config.reduction
            )
        else:
            self.document_projection = SmallLinear(dim, config.hash_dim)
        self.query_projection = SmallLinear(dim, config.hash_dim)
        if config.start == "aligned":
            self._start_aligned()

    def _start_aligned(self) -> None:
        """Let tokens pass the cells unchanged and project both sides alike."""
        if self.config.cells in ("highway", "plain"):
            self.query_cell.start_as_own()
            self.document_cell.start_as_own()
        if self.config.denoiser:
            projection = self.denoiser.start_linear()
        else:
            projection = nn.init.orthogonal_(self.document_projection.weight.detach())
        with torch.no_grad():
            self.query_projection.weight.copy_(projection)

    def match(self, query: Encoded, document: Encoded) -> MatchOutput:
        """Apply cells, codes and MaxSim; the penalty is the weighted error of the auto-encoder."""
        query = trim_padding(query, self.config.query_length, "query")
        document = trim_padding(document, self.config.document_length, "document")
        trace = self.trace(query, document)
        penalty = None
        if (hashed := trace.hashed) is not None and not torch.is_inference_mode_enabled():
            errors = hashed.code_error, hashed.restored_error
            penalty = self.config.delta * errors[0] + self.config.gamma * errors[1]
        evidence = LazyMapping(lambda: self._evidence(query, document, trace))
        return MatchOutput(trace.best.scores, evidence, penalty=penalty)

    def trace(self, query: Encoded, document: Encoded) -> AddaxTrace:
        """Compute equations 3 to 14; texts must not be longer than the settings say."""
        of_query, of_document = self._interact(query, document)
        (query_vectors, query_cell), (document_vectors, document_cell) = of_query, of_document
        projected = self.query_projection(query_vectors)
        if self.config.query_activation == "tanh":
            projected = torch.tanh(projected)
        hashed = None
        if self.config.denoiser:
            hashed = self.denoiser(document_vectors, document.mask)
            soft = self.training or self.config.inference == "tanh"
            codes = hashed.soft if soft else hashed.hard
        else:
            codes = torch.tanh(self.document_projection(document_vectors))
        best = max_sim(projected, codes, query.mask, document.mask)
        return AddaxTrace(query_cell, document_cell, query_vectors, document_vectors, hashed, best)

    def _interact(
        self, query: Encoded, document: Encoded
    ) -> tuple[tuple[Tensor, MagOutput | None], tuple[Tensor, MagOutput | None]]:
        """Return the vectors and cell outputs of both texts."""
        u, v = query.vectors, document.vectors
        if self.config.cells == "none":
            return (u, None), (v, None)
        u, v = u.to(product_type(u)), v.to(product_type(v))  # once instead of in every product
        scores = u @ v.mT  # 0 at padding, where the vectors are
        if self.config.scale_scores:
            scores = scores / query.dim**0.5
        masks = query.mask.unsqueeze(-2), document.mask.unsqueeze(-2)
        if self.config.cells == "attention":
            return (attend(v, scores, masks[1]), None), (attend(u, scores.mT, masks[0]), None)
        of_query: MagOutput = self.query_cell(u, v, scores, masks[1])
        of_document: MagOutput = self.document_cell(v, u, scores.mT, masks[0])
        return (of_query.vectors, of_query), (of_document.vectors, of_document)

    def _evidence(
        self, query: Encoded, document: Encoded, trace: AddaxTrace
    ) -> dict[str, Evidence]:
        """Collect cosines, best matches and what they add, gates and codes."""
        best, answers = trace.best, trace.best.alignment()
        evidence: dict[str, Evidence] = {
            "cosine": Interaction(best.table, best.mask),
            "alignment": Interaction(answers, best.mask),
            "query_answer": WordWeights(best.values, query.mask, "query"),
            "document_answer": WordWeights(answers.sum(dim=1), document.mask, "document"),
            **_gates("query", trace.query_cell, query.mask),
            **_gates("document", trace.document_cell, document.mask),
        }
        if trace.hashed is not None:
            vectors = trace.document_vectors, trace.hashed.restored
            evidence["codes"] = Codes(trace.hashed.soft, document.mask, "document", *vectors)
        return evidence


def _gates(side: Side, cell: MagOutput | None, mask: Tensor) -> dict[str, Evidence]:
    """Return the gates of one side's tokens: of whole tokens, and the mean over their values."""
    if cell is None:
        return {}
    gates = {"gate": cell.token_gate, "values_gate": cell.element_gate.mean(dim=-1)}
    return {
        f"{side}_{name}": WordWeights(values.masked_fill(~mask, 0.0), mask, side)
        for name, values in gates.items()
    }
