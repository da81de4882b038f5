"""A language model in both directions: it predicts the next and the previous word."""

from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional

from matchwork.encode.base import Encoded
from matchwork.models.base import look_up
from matchwork.models.iam.two_way import TextReader, small_uniform
from matchwork.models.iam.word_loss import word_loss


class Predicted(NamedTuple):
    """Sum of the negative log likelihoods of all predictions, and their number."""

    total: Tensor
    number: int


class LanguageModel(nn.Module):
    """Two softmax layers over words on top of a `TextReader`, forward and backward.

    `words` are the sorted ids with a class of their own (none until `set_words` is called); all
    others are one class, <EOS> another.
    """

    words: Tensor

    def __init__(self, reader: TextReader, units: int) -> None:
        super().__init__()
        self.reader = reader
        self.units = units
        self.register_buffer("words", torch.empty(0, dtype=torch.int64))
        self.ahead = nn.Linear(units, 2)
        self.back = nn.Linear(units, 2)

    def set_words(self, words: Tensor, counts: Tensor) -> None:
        """Give these words (sorted ids) a class of their own; make new softmax layers.

        Biases start as log frequencies of the `counts` of each class (the words, all others,
        <EOS>); otherwise states would saturate to express them.
        """
        end = self.reader.end
        self.words = words.to(end.device)
        frequencies = (counts.double() + 1) / (counts.sum() + len(counts))
        for name in ("ahead", "back"):
            layer = nn.Linear(self.units, len(counts)).to(end)
            small_uniform(layer)
            with torch.no_grad():
                layer.bias.copy_(frequencies.log())
            setattr(self, name, layer)

    def forward(self, text: Encoded) -> Predicted:
        """Predict every word of a text with ids from those before it and from those after it."""
        states = self.reader(text)
        classes, real = self.classes(text), states.mask[:, 1:]
        before, after = states.vectors[:, :-1][real], states.vectors[:, 1:][real]
        following, previous = classes[:, 1:][real], classes[:, :-1][real]
        ahead, back = self.ahead, self.back
        total = word_loss(before[:, : self.units], ahead.weight, ahead.bias, following)
        total = total + word_loss(after[:, self.units :], back.weight, back.bias, previous)
        return Predicted(total, 2 * len(before))

    def classes(self, text: Encoded) -> Tensor:
        """Return the class at every position, shape (batch, length + 1)."""
        assert text.ids is not None
        known = len(self.words)
        classes = torch.full_like(text.ids, known)
        if known:
            slots, frequent = look_up(text.ids, self.words)
            classes = torch.where(frequent, slots, classes)
        classes = classes.masked_fill(~text.mask, known + 1)
        return functional.pad(classes, (0, 1), value=known + 1)
