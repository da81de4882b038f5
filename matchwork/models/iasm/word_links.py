"""Word links as an interaction: which query words are linked to which document words."""

from typing import Protocol, runtime_checkable

import numpy as np
import torch
from torch import Tensor

from matchwork.encode import Encoded
from matchwork.interact import pair_mask, same_words
from matchwork.models.base import FittedTables, look_up
from matchwork.models.iasm.linked_words import LinkedWords, require_whole_words
from matchwork.text import WordTokenizer


class WordLinks(FittedTables):
    """A table of linked word ids, empty until made by `from_words` or loaded.

    `words` are the sorted ids of linked words. `pairs` are sorted numbers
    `left * len(words) + right` of every link in both directions, where `left` and `right` are
    positions in `words`; `weights` belong to `pairs`.
    """

    words: Tensor
    pairs: Tensor
    weights: Tensor

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("words", torch.empty(0, dtype=torch.int64))
        self.register_buffer("pairs", torch.empty(0, dtype=torch.int64))
        self.register_buffer("weights", torch.empty(0))

    @classmethod
    def from_words(cls, linked: LinkedWords, tokenizer: WordTokenizer) -> "WordLinks":
        """Look up the ids of linked words; words outside the vocabulary have ids too."""
        require_whole_words(tokenizer.config)
        ids = np.array([tokenizer.vocabulary.id(word) for word in linked.words], dtype=np.int64)
        words, position = np.unique(ids, return_inverse=True)
        left, right = position[linked.left], position[linked.right]
        codes = np.concatenate([left * len(words) + right, right * len(words) + left])
        pairs, first = np.unique(codes, return_index=True)
        links = cls()
        links.words, links.pairs = torch.from_numpy(words), torch.from_numpy(pairs)
        links.weights = torch.from_numpy(np.tile(linked.weights, 2)[first])
        return links

    def __len__(self) -> int:
        """Return the number of entries: two for a link between different words."""
        return len(self.pairs)

    def forward(self, query: Encoded, document: Encoded) -> Tensor:
        """Return weights, (batch, query, document): 1 for the same word, 0 without a link."""
        same = same_words(query, document)
        table = same.to(self.weights.dtype)
        if len(self.pairs) and query.ids is not None and document.ids is not None:
            left, left_known = look_up(query.ids, self.words)
            right, right_known = look_up(document.ids, self.words)
            # Only cells of two words that have links are looked up: most have not.
            known = left_known.unsqueeze(-1) & right_known.unsqueeze(-2)
            known &= pair_mask(query, document) & ~same
            codes = (left.unsqueeze(-1) * len(self.words) + right.unsqueeze(-2))[known]
            slots, linked = look_up(codes, self.pairs)
            table.masked_scatter_(known, self.weights[slots] * linked)
        return table


@runtime_checkable
class UsesWordLinks(Protocol):
    """A model that can read linked words; its setting `links` says how, or is "none"."""

    def link_words(self, links: WordLinks) -> None:
        """Use this table from now on."""
