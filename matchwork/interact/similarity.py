"""Cosine similarity of word vectors, and precision under autocast."""

from typing import Any, NamedTuple, Self

import torch
from torch import Tensor, nn
from torch.autograd.function import once_differentiable

from matchwork.encode import Encoded
from matchwork.errors import ConfigError
from matchwork.interact.interaction import Interaction
from matchwork.kernels import kernel

EPSILON = 1e-8
TINY = 1e-24  # keeps divisions finite, too small to change any other result


def row_lengths(vectors: Tensor) -> Tensor:
    """Return the Euclidean norm over the last dimension; its gradient at zero vectors is zero."""
    lengths: Tensor = torch.linalg.vector_norm(vectors, dim=-1, dtype=wide_type(vectors))
    return lengths


def unit_rows(vectors: Tensor) -> Tensor:
    """Scale every vector of the last dimension to norm 1; zero vectors stay zero."""
    return vectors / row_lengths(vectors).clamp_min(EPSILON).unsqueeze(-1)


@kernel("cosines", plain=lambda left, right: Cosines.of(left, right).table)
def cosine_table(left: Tensor, right: Tensor) -> Tensor:
    """Return the cosines of rows (..., m, dim) and (..., n, dim), shape (..., m, n).

    A zero vector has cosine 0.
    """
    table: Tensor = _CosineTable.apply(left, right)  # type: ignore[no-untyped-call]
    return table


class Cosines(NamedTuple):
    """A table of cosines, and the norms of both sides, kept for gradients."""

    table: Tensor  # (..., m, n)
    left_lengths: Tensor  # (..., m, 1)
    right_lengths: Tensor  # (..., 1, n)

    @classmethod
    def of(cls, left: Tensor, right: Tensor) -> Self:
        """Compute `x.y / max(|x||y|, 1e-8)`, dividing the table, not the larger texts."""
        lengths = row_lengths(left).unsqueeze(-1), row_lengths(right).unsqueeze(-2)
        scale = (lengths[0] * lengths[1]).clamp_min_(EPSILON)
        return cls((left @ right.transpose(-1, -2)) / scale, *lengths)

    def slopes(self, gradient: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Return `weights`, `left_factors` and `right_factors` of the gradients of both sides.

        The gradients are `left_factors * left + weights @ right` and
        `right_factors * right + weights.mT @ left`; factors have shape (..., rows, 1).
        """
        gradient = gradient.to(self.table.dtype)
        scale = self.left_lengths * self.right_lengths
        # d table = d(x.y) / scale - table * d(scale) / scale; a clamped scale is constant.
        inward = (gradient * self.table).masked_fill_(scale < EPSILON, 0.0)
        return (
            gradient / scale.clamp_min_(EPSILON),
            -inward.sum(-1, keepdim=True) / self.left_lengths.square().clamp_min_(TINY),
            -(inward.sum(-2, keepdim=True) / self.right_lengths.square().clamp_min_(TINY)).mT,
        )


class _CosineTable(torch.autograd.Function):
    """Differentiated by hand: autograd's copies of the texts cost more than the products."""

    @staticmethod
    def forward(ctx: Any, left: Tensor, right: Tensor) -> Tensor:
        cosines = Cosines.of(left, right)
        ctx.save_for_backward(left, right, *cosines)
        return cosines.table

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor | None, Tensor | None]:
        left, right, *cosines = ctx.saved_tensors
        weights, left_factors, right_factors = Cosines(*cosines).slopes(gradients[0])
        wanted = ctx.needs_input_grad
        return (
            _accumulate(left, left_factors, weights, right) if wanted[0] else None,
            _accumulate(right, right_factors, weights.mT, left) if wanted[1] else None,
        )


def _accumulate(rows: Tensor, factors: Tensor, weights: Tensor, others: Tensor) -> Tensor:
    """Return `factors * rows + weights @ others`, accumulated in place."""
    total, others = (rows * factors).to(weights.dtype), others.to(weights.dtype)
    total = total.baddbmm_(weights, others) if total.ndim == 3 else total + weights @ others
    return total.to(rows.dtype)


def pair_mask(query: Encoded, document: Encoded) -> Tensor:
    """Return True where both words are real, shape (batch, query, document)."""
    return query.mask.unsqueeze(-1) & document.mask.unsqueeze(-2)


def cosine(query: Encoded, document: Encoded) -> Interaction:
    """Return the cosine of every query word with every document word; 0 at padding."""
    return Interaction(cosine_table(query.vectors, document.vectors), pair_mask(query, document))


def same_words(query: Encoded, document: Encoded) -> Tensor:
    """Return True where two words have the same id, shape (batch, query, document)."""
    if query.ids is None or document.ids is None:
        raise ConfigError(
            "comparing words by id needs an encoder with one vector per word, such as "
            "WordEmbedding, but this one gives no word ids; use that, or compare vectors instead"
        )
    same = query.ids.unsqueeze(-1) == document.ids.unsqueeze(-2)
    return same & pair_mask(query, document)


def wide_type(values: Tensor) -> torch.dtype:
    """Return the dtype to sum in, at least 32 bits: squares overflow 16."""
    return torch.promote_types(values.dtype, torch.float32)


def product_type(values: Tensor) -> torch.dtype:
    """Return the dtype to multiply in: that of autocast where it is on."""
    device = values.device.type
    if torch.is_autocast_enabled(device) and values.dtype != torch.float64:
        return torch.get_autocast_dtype(device)
    return values.dtype


class ScoreLayer(nn.Linear):
    """A linear layer that computes in the dtype of its weights, even under autocast.

    In 16 bits nearly equal scores would become ties, and rankings arbitrary.
    """

    def forward(self, values: Tensor) -> Tensor:
        """Map (..., in_features) to (..., out_features)."""
        with torch.autocast(values.device.type, enabled=False):
            return super().forward(values.to(self.weight.dtype))
