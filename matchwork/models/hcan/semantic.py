"""Semantic matching: co-attention between two texts, read by a BiLSTM."""

import math
from typing import Literal, NamedTuple

import torch
from torch import Tensor, nn

from matchwork.interact.masked import masked_max, masked_mean, masked_softmax
from matchwork.models.hcan.recurrent import BiLSTM, project, project_words

Salience = Literal["attention", "scores"]
Pooling = Literal["last", "max-mean"]


class CoAttention(NamedTuple):
    """Attention between the texts; all shapes begin with (levels, batch)."""

    table: Tensor  # (..., query, document), sums to 1 over the query words
    salience: Tensor  # weights of document words, (..., document)
    summary: Tensor  # weighted sum of document words, (..., dim)


class SemanticMatching(nn.Module):
    """Co-attention and BiLSTM with separate weights for every level.

    The `salience` of a document word is its largest "attention" (the paper), or a softmax over the
    largest "scores" (the authors' code, as in BiDAF). `pooling` takes the "last" state of each
    direction, or "max-mean" over the words. `rectify` applies a ReLU to the input of the BiLSTM.
    """

    def __init__(
        self,
        dim: int,
        units: int,
        num_levels: int,
        salience: Salience,
        pooling: Pooling,
        rectify: bool,
    ) -> None:
        super().__init__()
        self.query = nn.Parameter(torch.empty(num_levels, dim))
        self.document = nn.Parameter(torch.empty(num_levels, dim))
        self.bilinear = nn.Parameter(torch.empty(num_levels, dim, dim))
        for parameter in (self.query, self.document):
            nn.init.uniform_(parameter, -math.sqrt(6 / (dim + 1)), math.sqrt(6 / (dim + 1)))
        nn.init.uniform_(self.bilinear, -math.sqrt(3 / dim), math.sqrt(3 / dim))
        self.lstm = BiLSTM(4 * dim, units, num_levels)
        self.salience, self.pooling, self.rectify = salience, pooling, rectify
        self.width = 2 * units if pooling == "last" else 4 * units

    def attend(
        self, query: Tensor, document: Tensor, query_mask: Tensor, document_mask: Tensor
    ) -> CoAttention:
        """Compute `A_ij = q_i w_q + d_j w_d + q_i W d_j` and its softmax over the query words.

        Texts have shape (levels, batch, words, dim), masks (batch, words).
        """
        cells = query_mask.unsqueeze(-1) & document_mask.unsqueeze(-2)
        # (q W + w_d) . d: the document's own term needs no separate product.
        turned = project(query, self.bilinear, self.document)
        of_query = project(query, self.query.unsqueeze(-1))
        scores = turned @ document.mT + of_query
        table = masked_softmax(scores, cells, dim=-2)
        if self.salience == "attention":
            salience = masked_max(table, cells, dim=-2)
        else:
            salience = masked_softmax(masked_max(scores, cells, dim=-2), document_mask)
        return CoAttention(table, salience, (salience.unsqueeze(-2) @ document).squeeze(-2))

    def forward(
        self,
        query: Tensor,
        document: Tensor,
        query_mask: Tensor,
        document_mask: Tensor,
        attention: CoAttention,
    ) -> Tensor:
        """Map texts of shape (levels, batch, words, dim) to features, (batch, levels, width)."""
        if self.rectify or query.is_cuda:  # one large product is faster on a GPU
            states = self.lstm(self._parts(query, document, attention), document_mask)
            return self._pool(states, document_mask).transpose(0, 1)
        # Level by level, so that the data of a level stays in the CPU's cache; `chunk` accumulates
        # the gradients of all levels only once.
        given = (query, document, attention.table, attention.summary, self.lstm.weight)
        pooled = []
        for level, parts in enumerate(zip(*(each.chunk(len(each)) for each in given), strict=True)):
            gates = _gates(query_mask, document_mask, *parts)
            states = self.lstm.read(gates, document_mask, slice(level, level + 1))
            pooled.append(self._pool(states, document_mask))
        return torch.cat(pooled).transpose(0, 1)

    def _pool(self, states: Tensor, mask: Tensor) -> Tensor:
        if self.pooling == "max-mean":
            words = mask.unsqueeze(-1)
            return torch.cat([masked_max(states, words, -2), masked_mean(states, words, -2)], -1)
        last = (mask.sum(-1) - 1).clamp_min(0)
        rows = torch.arange(len(last), device=last.device)
        forward, backward = states.chunk(2, dim=-1)
        return torch.cat([forward[:, rows, last], backward[:, :, 0]], dim=-1)

    def _parts(self, query: Tensor, document: Tensor, attention: CoAttention) -> Tensor:
        """Return `[d; q~; d * q~; s * q~]`, with q~ the attended query words."""
        seen = attention.table.mT @ query
        summary = attention.summary.unsqueeze(-2)
        parts = torch.cat([document, seen, document * seen, summary * seen], dim=-1)
        return parts.relu() if self.rectify else parts


def _gates(
    query_mask: Tensor,
    document_mask: Tensor,
    query: Tensor,
    document: Tensor,
    table: Tensor,
    summary: Tensor,
    weight: Tensor,
) -> Tensor:
    """Return `[d; q~; d * q~; s * q~] W`, the projected input of the BiLSTM.

    q~ is a mixture of query words, so half of the products with W are computed before the mixing,
    for the query's words, which are fewer.
    """
    mixing = table.mT
    by_part = weight.view(1, 4, -1, weight.shape[-1])
    own, mixed = by_part[:, 0::2].flatten(1, 2), by_part[:, 1::2].flatten(1, 2)
    theirs = torch.cat([query, query * summary.unsqueeze(-2)], dim=-1)
    mine = torch.cat([document, document * (mixing @ query)], dim=-1)
    gates = project_words(mine, own, document_mask)
    projected = project_words(theirs, mixed, query_mask)
    gates.flatten(0, 1).baddbmm_(mixing.flatten(0, 1), projected.flatten(0, 1))
    return gates
