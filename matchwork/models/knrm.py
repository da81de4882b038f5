"""K-NRM: kernel pooling over a table of word similarities.

Xiong, Dai, Callan, Liu, Power, End-to-End Neural Ad-hoc Ranking with Kernel Pooling,
SIGIR 2017, https://arxiv.org/abs/1706.06613.

Departures: padding adds nothing; the outer tanh is left out (it changes no ranking and
saturates), and logarithms are of 1 + count, so that a word without a match adds zero instead
of a constant. `gate="length"` weighs each query word by the norm of its vector: with vectors
scaled by idf, rare words count for more, as in DRMM.
"""

import math
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import torch
from torch import Tensor, nn

from matchwork.encode import Encoded, Encoder
from matchwork.inputs import require_at_least, require_positive
from matchwork.interact import Evidence, WordWeights, cosine, row_lengths
from matchwork.interact.similarity import EPSILON
from matchwork.models.base import MatchModel, MatchOutput, ModelConfig, register

FAR = 1e4  # a similarity where every kernel is 0
CUT = 80.0  # exponents stop at -80: denormal numbers are a hundred times slower


@dataclass(frozen=True, kw_only=True)
class KNRMConfig(ModelConfig):
    """Settings of `KNRM`."""

    num_kernels: int = 11  # one for exact matches, others spread over [-1, 1]
    sigma: float = 0.1  # width of the soft kernels
    exact_sigma: float = 1e-3  # width of the kernel of exact matches
    gate: Literal["none", "length"] = "none"  # query words: equal, or by norm

    def __post_init__(self) -> None:
        require_at_least(self, 2, "num_kernels")
        require_positive(self, "sigma", "exact_sigma")


@register("knrm")
class KNRM(MatchModel):
    """Score = linear layer over soft term frequencies, one per kernel."""

    Config: ClassVar[type[ModelConfig]] = KNRMConfig
    config: KNRMConfig
    training_defaults: ClassVar[dict[str, Any]] = {
        "loss": "hinge",
        "margin": 1.0,
        "negatives": "own",
        "num_negatives": 1,
        "learning_rate": 1e-3,
    }
    centres: Tensor
    widths: Tensor

    def __init__(self, config: KNRMConfig, encoder: Encoder) -> None:
        super().__init__(config, encoder)
        soft = config.num_kernels - 1
        centres = [1.0, *(1 - 2 / soft * (kernel + 0.5) for kernel in range(soft))]
        self.register_buffer("centres", torch.tensor(centres))
        self.register_buffer("widths", torch.tensor([config.exact_sigma, *[config.sigma] * soft]))
        self.score = nn.Linear(config.num_kernels, 1)

    def match(self, query: Encoded, document: Encoded) -> MatchOutput:
        """Pool kernels of the similarity table over document words, then over query words."""
        similarity = cosine(query, document)
        gates = self._gates(query)
        # Padding goes where every kernel is 0: one pass over the table instead of one per kernel.
        values = similarity.values.masked_fill(~similarity.mask, FAR)
        counts = [
            torch.exp(-((values - centre) / (math.sqrt(2) * width)).square().clamp_max(CUT)).sum(-1)
            for centre, width in zip(self.centres, self.widths, strict=True)
        ]
        logs = torch.log1p(torch.stack(counts, dim=-1))
        # Not a matrix product, which autocast would compute in 16 bits.
        by_word = (logs * gates.unsqueeze(-1) * self.score.weight[0]).sum(dim=-1)
        scores = by_word.sum(dim=1) + self.score.bias
        evidence: dict[str, Evidence] = {
            "similarity": similarity,
            "query_contribution": WordWeights(by_word, query.mask, "query"),
        }
        return MatchOutput(scores, evidence)

    def _gates(self, query: Encoded) -> Tensor:
        real = query.mask.to(query.vectors.dtype)
        if self.config.gate == "none":
            return real
        lengths = row_lengths(query.vectors) * real
        return lengths / lengths.sum(dim=-1, keepdim=True).clamp_min(EPSILON)
