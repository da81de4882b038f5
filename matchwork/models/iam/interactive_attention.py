"""Attention over answer words by the question, the context jump and tf-idf terms."""

from typing import Literal, NamedTuple, TypeAlias

import torch
from torch import Tensor, nn

from matchwork.encode import Encoded
from matchwork.errors import ConfigError
from matchwork.interact.masked import masked_softmax
from matchwork.models.iam.tf_idf import WordBag
from matchwork.models.iam.two_way import last_states, small_uniform

Alignment: TypeAlias = Literal["position", "final"]
MatrixForm: TypeAlias = Literal["factorised", "dense"]
MOST_DENSE = 20_000  # words: 1.6 GB, twice that with gradients


class Attended(NamedTuple):
    """Weights and energies, (batch, document), and the weighted mean of states, (batch, dim)."""

    weights: Tensor
    energies: Tensor
    context: Tensor


class InteractiveAttention(nn.Module):
    """Softmax over answer states of `tanh(u.hq + u.ha + v1 g + u_a.d_a + v2 d_q^T M d_a)`.

    Energies are in [-1, 1], so that no weight exceeds another by more than a factor e^2 = 7.39.

    Args:
        dim: Width of the states.
        words: Word vectors, shape (vocabulary, width); M starts as their products.
        align: Question state for answer state t: the one at t (0 past the end), or the final ones.
        tied: Use the same u for question and answer states.
        matrix: Store M as two factors, or multiplied out, for small vocabularies.
        jump: Use the context jump g.
    """

    def __init__(
        self,
        dim: int,
        words: Tensor,
        align: Alignment = "position",
        tied: bool = True,
        matrix: MatrixForm = "factorised",
        jump: bool = True,
    ) -> None:
        super().__init__()
        self.align = align
        self.document = nn.Parameter(torch.empty(dim))
        if not tied:
            self.query = nn.Parameter(torch.empty(dim))
        if jump:
            self.jump_weight = nn.Parameter(torch.empty(1))
        self.term = nn.Parameter(torch.empty(len(words)))
        self.term_weight = nn.Parameter(torch.empty(1))
        small_uniform(self)
        unit = nn.functional.normalize(words.detach(), dim=-1)
        if matrix == "dense":
            if len(words) > MOST_DENSE:
                raise ConfigError(
                    f'matrix = "dense" has an entry for every pair of {len(words):,} words; it is '
                    f'for at most {MOST_DENSE:,}, so use "factorised"'
                )
            self.matrix = nn.Parameter(unit @ unit.T)
        else:
            self.left = nn.Parameter(unit.clone())
            self.right = nn.Parameter(unit.clone())

    def forward(
        self,
        query: Encoded,
        document: Encoded,
        jumps: Tensor | None = None,
        query_bag: WordBag | None = None,
        document_bag: WordBag | None = None,
    ) -> Attended:
        """Attend to answer states; without word bags, the terms are left out."""
        energies = document.vectors @ self.document + self._question(query, document.mask.shape[1])
        if jumps is not None:
            energies = energies + self.jump_weight * jumps
        if query_bag is not None and document_bag is not None:
            energies = energies + self.terms(query_bag, document_bag).unsqueeze(1)
        energies = torch.tanh(energies)
        weights = masked_softmax(energies, document.mask)
        return Attended(weights, energies, (weights.unsqueeze(1) @ document.vectors).squeeze(1))

    def terms(self, query: WordBag, document: WordBag) -> Tensor:
        """Return `u_a.d_a + v2 d_q^T M d_a`, shape (batch,)."""
        return document.dot(self.term) + self.term_weight * self.product(query, document)

    def product(self, query: WordBag, document: WordBag) -> Tensor:
        """Return `d_q^T M d_a`, shape (batch,)."""
        if hasattr(self, "left"):
            return (query.project(self.left) * document.project(self.right)).sum(dim=-1)
        cells = self.matrix[query.ids.unsqueeze(2), document.ids.unsqueeze(1)]
        return (query.weights.unsqueeze(1) @ cells @ document.weights.unsqueeze(2)).flatten()

    def _question(self, query: Encoded, length: int) -> Tensor:
        """Return the question's term at each of `length` positions, or one column for all."""
        weight = getattr(self, "query", self.document)
        if self.align == "final":
            return (last_states(query) @ weight).unsqueeze(1)
        values = query.vectors @ weight
        return nn.functional.pad(values[:, :length], (0, max(0, length - values.shape[1])))
