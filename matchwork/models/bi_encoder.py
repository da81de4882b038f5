"""Bi-encoder: one vector per text, compared by their cosine.

Reimers and Gurevych, Sentence-BERT: Sentence Embeddings using Siamese BERT-Networks, EMNLP 2019,
arXiv:1908.10084. As in that paper's library, the mean is over all tokens that the transformer
reads, [CLS] and [SEP] included.
"""

from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import torch
from torch import Tensor, nn

from matchwork.encode import Encoded, Encoder
from matchwork.inputs import require_positive
from matchwork.interact import Interaction, LazyMapping, cosine, row_lengths, unit_rows
from matchwork.interact.similarity import EPSILON
from matchwork.models.base import IN_BATCH, MatchModel, MatchOutput, ModelConfig, register


@dataclass(frozen=True, kw_only=True)
class BiEncoderConfig(ModelConfig):
    """Settings of `BiEncoder`."""

    pooling: Literal["mean", "cls"] = "mean"  # of all tokens, or [CLS]
    similarity: Literal["cosine", "dot"] = "cosine"  # how two text vectors are compared
    scale: float = 20.0  # initial factor of the score, which training changes

    def __post_init__(self) -> None:
        require_positive(self, "scale")


@register("bi-encoder")
class BiEncoder(MatchModel):
    """Score = scale * cos(query vector, document vector), or their dot product."""

    Config: ClassVar[type[ModelConfig]] = BiEncoderConfig
    config: BiEncoderConfig
    matches_tokens: ClassVar[bool] = False
    training_defaults: ClassVar[dict[str, Any]] = IN_BATCH

    def __init__(self, config: BiEncoderConfig, encoder: Encoder) -> None:
        super().__init__(config, encoder)
        self.log_scale = nn.Parameter(torch.tensor(float(config.scale)).log())

    def match(self, query: Encoded, document: Encoded) -> MatchOutput:
        """Compare the text vectors row by row."""
        q, d = self._vector(query), self._vector(document)
        scale = self.log_scale.exp()
        evidence = LazyMapping(lambda: self._evidence(query, document, scale))
        return MatchOutput(scale * (q * d).sum(dim=-1), evidence)

    def match_all(self, query: Encoded, document: Encoded) -> Tensor:
        """Score all pairs with one matrix product."""
        return self.log_scale.exp() * self._vector(query) @ self._vector(document).T

    def condense(self, text: Encoded) -> Encoded:
        """Return the text's vector, as a text of one token."""
        vector = self._pool(text).unsqueeze(1)
        return Encoded(vector, torch.ones_like(vector[..., 0], dtype=torch.bool))

    def _vector(self, text: Encoded) -> Tensor:
        vector = self._pool(text)
        return vector if self.config.similarity == "dot" else unit_rows(vector)

    def _pool(self, text: Encoded) -> Tensor:
        special = _special_vectors(text)
        if self.config.pooling == "cls":
            return torch.cat([special, text.vectors], dim=1)[:, 0]
        total = text.vectors.sum(dim=1) + special.sum(dim=1)
        return total / _num_tokens(text, special).unsqueeze(-1)

    def _evidence(self, query: Encoded, document: Encoded, scale: Tensor) -> dict[str, Interaction]:
        """For means, what each token pair adds to the score; special tokens add the rest."""
        alike = cosine(query, document)
        if self.config.pooling == "cls":
            return {"similarity": alike}
        for text in (query, document):
            scale = scale / _num_tokens(text, _special_vectors(text))
            if self.config.similarity == "cosine":
                scale = scale / row_lengths(self._pool(text)).clamp_min(EPSILON)
        shares = scale[:, None, None] * (query.vectors @ document.vectors.transpose(1, 2))
        return {"contribution": Interaction(shares, alike.mask)}


def _special_vectors(text: Encoded) -> Tensor:
    return text.vectors[:, :0] if text.special_vectors is None else text.special_vectors


def _num_tokens(text: Encoded, special: Tensor) -> Tensor:
    return (text.mask.sum(dim=1) + special.shape[1]).clamp_min(1)
