"""A language model in both directions: the next word from those before, and the other way."""

from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional

from matchwork.encode.base import Encoded
from matchwork.models.iam.two_way import TextReader, small_uniform
from matchwork.models.iam.word_loss import word_loss


class Predicted(NamedTuple):
    """Negative log likelihoods of all predictions, added up, and how many there were."""

    total: Tensor
    number: int


class LanguageModel(nn.Module):
    """Two softmax layers over words on top of a `TextReader`, forward and backward.

    `words` are the ids that it tells apart, in order; all others are one class, <EOS> another.
    It knows none until `open` is called, so that only words of the training texts take room.
    """

    words: Tensor

    def __init__(self, reader: TextReader, units: int) -> None:
        super().__init__()
        self.reader = reader
        self.units = units
        self.register_buffer("words", torch.empty(0, dtype=torch.int64))
        self.ahead = nn.Linear(units, 2)
        self.back = nn.Linear(units, 2)

    def open(self, words: Tensor, counts: Tensor) -> None:
        """Tell these words apart from now on; the softmax layers start anew.

        `counts` say how often each class is there: the words, all others, <EOS>. Biases start
        as their log frequencies; else the states would saturate to say how common words are.
        """
        where = self.reader.end
        self.words = words.to(where.device)
        frequencies = (counts.double() + 1) / (counts.sum() + len(counts))
        for name in ("ahead", "back"):
            layer = nn.Linear(self.units, len(counts)).to(where)
            small_uniform(layer)
            with torch.no_grad():
                layer.bias.copy_(frequencies.log())
            setattr(self, name, layer)

    def forward(self, text: Encoded) -> Predicted:
        """Predict every word from those on either side, except the first and <EOS> from nothing.

        `text` carries the ids of its words.
        """
        states = self.reader(text)
        classes, there = self.classes(text), states.mask[:, 1:]
        before, after = states.vectors[:, :-1][there], states.vectors[:, 1:][there]
        ahead, back = self.ahead, self.back
        total = word_loss(
            before[:, : self.units], ahead.weight, ahead.bias, classes[:, 1:][there]
        ) + word_loss(after[:, self.units :], back.weight, back.bias, classes[:, :-1][there])
        return Predicted(total, 2 * len(before))

    def classes(self, text: Encoded) -> Tensor:
        """(batch, length + 1): which word stands where; anything at padding."""
        assert text.ids is not None  # a model over words has to know them
        known = len(self.words)
        classes = torch.full_like(text.ids, known)
        if known:
            slots = torch.searchsorted(self.words, text.ids).clamp_max(known - 1)
            classes = torch.where(self.words[slots] == text.ids, slots, classes)
        classes = classes.masked_fill(~text.mask, known + 1)
        return functional.pad(classes, (0, 1), value=known + 1)
