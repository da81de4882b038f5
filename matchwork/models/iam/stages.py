"""The stages of IAM: two language models and the energy of neighbouring states."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import torch
from torch import Tensor

from matchwork.encode import Encoded
from matchwork.inputs import require_at_least
from matchwork.models.iam.energy import AdjacentEnergy, neighbours
from matchwork.models.iam.language_model import LanguageModel, Predicted
from matchwork.models.iam.two_way import TextReader
from matchwork.models.stage import Stage, StageConfig, Texts
from matchwork.text import Sequences, TokenTable, batches_by_length
from matchwork.text.batch import Ids, shuffled_buckets
from matchwork.types import Side

Encode: TypeAlias = Callable[[Sequences], Encoded]
_MEASURED_TOKENS, _MEASURED_TEXTS = 8_192, 256  # of a batch in `measure`
_LEAST_VARIANCE = 1e-6  # of energies


@dataclass(frozen=True, kw_only=True)
class LanguageModelConfig(StageConfig):
    """Settings of a language model."""

    clip_norm: float | None = 5.0
    batch_size: int = 50  # texts
    patience: int | None = 2
    min_count: int = 2  # words that occur less often are one class

    def __post_init__(self) -> None:
        super().__post_init__()
        require_at_least(self, 1, "min_count")


@dataclass(frozen=True, kw_only=True)
class EnergyConfig(StageConfig):
    """Settings of the energy model."""

    optimizer: str = "sgd"
    learning_rate: float = 0.01
    weight_decay: float = 1e-4
    batch_size: int = 256  # pairs of states, on average
    patience: int | None = 3
    steps: int = 5  # of contrastive divergence

    def __post_init__(self) -> None:
        super().__post_init__()
        require_at_least(self, 1, "steps")


class LanguageModelStage(Stage):
    """Train the reader of one side to predict the words of its texts."""

    module: LanguageModel
    config: LanguageModelConfig

    def __init__(
        self, side: Side, reader: TextReader, units: int, encode: Encode, vocab_size: int
    ) -> None:
        self.name, self.sides, self.after = f"language-model-{side}", (side,), ()
        self.module, self.config = LanguageModel(reader, units), LanguageModelConfig()
        self._encode, self._vocab_size = encode, vocab_size

    def prepare(self, texts: Texts, seed: int) -> None:
        """Give frequent words a class of their own."""
        table = self._table(texts)
        words, counts = np.unique(table.flat, return_counts=True)
        frequent = (counts >= self.config.min_count) & (words < self._vocab_size)
        classes = np.append(counts[frequent], [counts[~frequent].sum(), len(table)])
        self.module.set_words(torch.from_numpy(words[frequent]), torch.from_numpy(classes))

    def batches(self, texts: Texts, epoch: int, seed: int) -> "_Batches":
        """Return batches of texts of similar length."""
        return _shuffled(self._table(texts), self.config.batch_size, epoch, seed)

    def loss(self, batch: Sequences) -> Tensor:
        """Return the mean loss over all predictions in both directions."""
        predicted: Predicted = self.module(self._read(batch))
        return predicted.total / max(1, predicted.number)

    @torch.no_grad()
    def measure(self, texts: Texts) -> dict[str, float]:
        """Return the mean loss over all texts and the perplexity."""
        total, count = 0.0, 0
        for batch in _in_order(self._table(texts)):
            predicted = self.module(self._read(batch))
            total, count = total + float(predicted.total), count + predicted.number
        loss = total / max(1, count)
        return {"loss": loss, "perplexity": float(np.exp(min(loss, 700.0)))}

    def _table(self, texts: Texts) -> TokenTable:
        return texts.queries if self.sides == ("query",) else texts.documents

    @torch.no_grad()
    def _read(self, batch: Sequences) -> Encoded:
        """Encode without gradients: word vectors are not trained here."""
        return self._encode(batch.to(self.module.reader.end.device))


class EnergyStage(Stage):
    """Train the energy of neighbouring document states, which a frozen reader computes."""

    name = "energy"
    sides = ("document",)
    after = ("language-model-document",)
    module: AdjacentEnergy
    config: EnergyConfig

    def __init__(self, energy: AdjacentEnergy, reader: TextReader, encode: Encode) -> None:
        self.module, self.config = energy, EnergyConfig()
        self._reader, self._encode = reader, encode

    def batches(self, texts: Texts, epoch: int, seed: int) -> "_Batches":
        """Return batches of as many texts as have `batch_size` pairs on average."""
        table = texts.documents  # with <EOS>, a text has as many pairs as words
        num_texts = round(self.config.batch_size * len(table) / max(1, len(table.flat)))
        return _shuffled(table, max(1, num_texts), epoch, seed)

    def loss(self, batch: Sequences) -> Tensor:
        """Return the loss of contrastive divergence; 0 for a batch without pairs."""
        x, y = self._pairs(batch)
        # In full precision: it is a small difference of large energies.
        with torch.autocast(x.device.type, enabled=False):
            if len(x):
                return self.module.contrastive_loss(x, y, self.config.steps)
            zero: Tensor = 0 * self.module(x, y).sum()
            return zero

    def after_step(self) -> None:
        """Keep Q where the distribution exists."""
        self.module.bound()

    def measure(self, texts: Texts) -> dict[str, float]:
        """Return the mean pseudo likelihood loss (no likelihood can be computed) and energy."""
        loss, energy, _ = self._means(texts)
        return {"loss": loss, "energy": energy}

    def finish(self, texts: Texts) -> None:
        """Set mean and deviation of the energies, which jumps are computed from."""
        _, energy, square = self._means(texts)
        self.module.reference.fill_(energy)
        if hasattr(self.module, "spread"):
            self.module.spread.fill_(max(square - energy**2, _LEAST_VARIANCE) ** 0.5)

    @torch.no_grad()
    def _means(self, texts: Texts) -> tuple[float, float, float]:
        """Return the means of the pseudo loss, the energy and the squared energy."""
        sums, count = np.zeros(3), 0
        for batch in _in_order(texts.documents):
            pairs = self._pairs(batch)
            energies = self.module(*pairs).double()
            values = self.module.pseudo_loss(*pairs).double(), energies, energies.square()
            sums += [float(value.sum()) for value in values]
            count += len(pairs[0])
        loss, energy, square = (sums / max(1, count)).tolist()
        return loss, energy, square

    @torch.no_grad()
    def _pairs(self, batch: Sequences) -> tuple[Tensor, Tensor]:
        self._reader.eval()
        return neighbours(self._reader(self._encode(batch.to(self.module.pair.device))))


@dataclass
class _Batches:
    """Batches of a table's rows, gathered one at a time."""

    table: TokenTable
    rows: list[Ids]

    def __len__(self) -> int:
        return len(self.rows)

    def __iter__(self) -> Iterator[Sequences]:
        return map(self.table.gather, self.rows)


def _shuffled(table: TokenTable, batch_size: int, epoch: int, seed: int) -> _Batches:
    rng = np.random.default_rng([seed, epoch])
    return _Batches(table, shuffled_buckets(table.lengths, batch_size, rng))


def _in_order(table: TokenTable) -> _Batches:
    limits = np.zeros_like(table.lengths), table.lengths, _MEASURED_TOKENS, _MEASURED_TEXTS
    return _Batches(table, batches_by_length(*limits))
