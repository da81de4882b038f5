"""A model with dropout that can be told to break at a given training step."""

import math
from collections.abc import Callable
from typing import ClassVar

import torch
from torch import nn

from matchwork.encode import Encoded, Encoder, WordEmbedding
from matchwork.models import MatchModel, MatchOutput, ModelConfig
from matchwork.text import WordTokenizer

Break = Callable[[torch.Tensor], torch.Tensor]


class PowerCut(Exception):
    """Stands for whatever ends a process."""


def cut(scores: torch.Tensor) -> torch.Tensor:
    raise PowerCut


def ctrl_c(scores: torch.Tensor) -> torch.Tensor:
    raise KeyboardInterrupt


def not_a_number(scores: torch.Tensor) -> torch.Tensor:
    return scores * math.nan


def bad_gradient(scores: torch.Tensor) -> torch.Tensor:
    """Adds zero, but the root of zero has no gradient."""
    return scores + (scores * 0).abs().sqrt() * 0


class FragileModel(MatchModel):
    """Linear layer over the product of two means, with dropout."""

    Config: ClassVar[type[ModelConfig]] = ModelConfig

    def __init__(self, encoder: Encoder) -> None:
        super().__init__(ModelConfig(), encoder)
        self.dropout = nn.Dropout(0.3)
        self.out = nn.Linear(encoder.dim, 1)
        self.calls = 0
        self.break_at = 0
        self.how: Break = cut

    def match(self, query: Encoded, document: Encoded) -> MatchOutput:
        product = query.vectors.mean(dim=1) * document.vectors.mean(dim=1)
        scores = self.out(self.dropout(product)).squeeze(-1) * 10
        self.calls += self.training
        return MatchOutput(self.how(scores) if self.calls == self.break_at else scores)


def fragile(
    words: WordTokenizer, break_at: int = 0, how: Break = cut, trainable: bool = True
) -> FragileModel:
    """Always the same initial weights; breaks at the given call of a training step."""
    torch.manual_seed(0)
    encoder = WordEmbedding.from_vocabulary(words.vocabulary, dim=6, trainable=trainable)
    model = FragileModel(encoder)
    model.break_at, model.how = break_at, how
    return model
