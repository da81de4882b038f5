"""Semantic matching: co-attention between two texts, and a BiLSTM over what it found (HCAN)."""

import math
from typing import Literal, NamedTuple

import torch
from torch import Tensor, nn

from matchwork.interact.masked import masked_max, masked_mean, masked_softmax
from matchwork.models.hcan.recurrent import BiLSTM, project, project_words

Salience = Literal["attention", "scores"]
Pooling = Literal["last", "max-mean"]


class CoAttention(NamedTuple):
    """Who attends to whom, at every level.

    `table` (levels, batch, query, document) sums to 1 over the query words for each document
    word; `salience` (levels, batch, document) weighs the document words; `summary` (levels,
    batch, dim) is their sum.
    """

    table: Tensor
    salience: Tensor
    summary: Tensor


class SemanticMatching(nn.Module):
    """One vector for each level of two texts; every level has weights of its own.

    `salience`: a document word weighs as much as its largest "attention" (the paper), or as the
    softmax of its largest "scores" (the authors' code, as BiDAF). `pooling`: the "last" state of
    each direction, or "max-mean" over the words. `rectify` applies a relu to the BiLSTM's input.
    """

    def __init__(
        self,
        dim: int,
        units: int,
        num_levels: int,
        *,
        salience: Salience,
        pooling: Pooling,
        rectify: bool,
    ) -> None:
        super().__init__()
        self.query = nn.Parameter(torch.empty(num_levels, dim))
        self.document = nn.Parameter(torch.empty(num_levels, dim))
        self.bilinear = nn.Parameter(torch.empty(num_levels, dim, dim))
        for parameter, fans in ((self.query, dim + 1), (self.document, dim + 1)):
            nn.init.uniform_(parameter, -math.sqrt(6 / fans), math.sqrt(6 / fans))
        nn.init.uniform_(self.bilinear, -math.sqrt(3 / dim), math.sqrt(3 / dim))
        self.lstm = BiLSTM(4 * dim, units, num_levels)
        self.salience = salience
        self.pooling = pooling
        self.rectify = rectify
        self.width = 2 * units if pooling == "last" else 4 * units

    def attend(
        self, query: Tensor, document: Tensor, query_mask: Tensor, document_mask: Tensor
    ) -> CoAttention:
        """`A_ij = q_i w_q + d_j w_d + q_i W d_j`, softmaxed over the query words."""
        cells = query_mask.unsqueeze(-1) & document_mask.unsqueeze(-2)
        # (q W + w_d) . d: the document's own term costs no product of its own.
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
        """(levels, batch, words, dim) of both texts to (batch, levels, width)."""
        if self.rectify or query.is_cuda:  # a GPU would rather have one large product
            states = self.lstm(self._parts(query, document, attention), document_mask)
            return self._pool(states, document_mask).transpose(0, 1)
        # Level by level: a CPU waits for memory, and what one level needs stays near.
        given = (query, document, attention.table, attention.summary, self.lstm.weight)
        found = []
        for level, parts in enumerate(zip(*map(_by_level, given), strict=True)):
            chosen = slice(level, level + 1)
            states = self.lstm.read(
                _gates(query_mask, document_mask, *parts), document_mask, chosen
            )
            found.append(self._pool(states, document_mask))
        return torch.cat(found).transpose(0, 1)

    def _pool(self, states: Tensor, mask: Tensor) -> Tensor:
        if self.pooling == "max-mean":
            words = mask.unsqueeze(-1)
            return torch.cat([masked_max(states, words, -2), masked_mean(states, words, -2)], -1)
        last = (mask.sum(-1) - 1).clamp_min(0)
        rows = torch.arange(len(last), device=last.device)
        forward, backward = states.chunk(2, dim=-1)
        return torch.cat([forward[:, rows, last], backward[:, :, 0]], dim=-1)

    def _parts(self, query: Tensor, document: Tensor, attention: CoAttention) -> Tensor:
        """`[d; q~; d * q~; s * q~]` with q~ the query as each document word sees it."""
        seen = attention.table.mT @ query
        summary = attention.summary.unsqueeze(-2)
        parts = torch.cat([document, seen, document * seen, summary * seen], dim=-1)
        return parts.relu() if self.rectify else parts


def _by_level(values: Tensor) -> tuple[Tensor, ...]:
    """Each level on its own; taken together, their gradient is put together once."""
    return values.chunk(len(values))


def _gates(
    query_mask: Tensor,
    document_mask: Tensor,
    query: Tensor,
    document: Tensor,
    table: Tensor,
    summary: Tensor,
    weight: Tensor,
) -> Tensor:
    """`[d; q~; d * q~; s * q~] W`: what the BiLSTM makes of its input first.

    q~ is a mixture of query words, and products with W can go before the mixing: half of
    them are then made for the words of the query instead of the document's.
    """
    mixing = table.mT
    by_part = weight.view(1, 4, -1, weight.shape[-1])
    own, mixed = by_part[:, 0::2].flatten(1, 2), by_part[:, 1::2].flatten(1, 2)
    theirs = torch.cat([query, query * summary.unsqueeze(-2)], dim=-1)
    mine = torch.cat([document, document * (mixing @ query)], dim=-1)
    gates = project_words(mine, own, document_mask)
    found = project_words(theirs, mixed, query_mask)
    gates.flatten(0, 1).baddbmm_(mixing.flatten(0, 1), found.flatten(0, 1))
    return gates
