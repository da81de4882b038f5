"""What IAM learns before it learns to match: two language models and the energy of neighbours."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np
import torch
from torch import Tensor

from matchwork.encode import Encoded
from matchwork.errors import ConfigError
from matchwork.models.iam.energy import AdjacentEnergy, neighbours
from matchwork.models.iam.language_model import LanguageModel, Predicted
from matchwork.models.iam.two_way import TextReader
from matchwork.models.stage import Side, Stage, StageConfig, Texts
from matchwork.text import Sequences, TokenTable, batches_by_length
from matchwork.text.batch import Ids, shuffled_buckets

Encode: TypeAlias = Callable[[Sequences], Encoded]
_MEASURED_TOKENS, _MEASURED_TEXTS = 8_192, 256  # of a batch that is only measured
_LEAST_VARIANCE = 1e-6  # of energies, which jumps are divided by the root of


@dataclass(frozen=True, kw_only=True)
class LanguageModelConfig(StageConfig):
    """Batches of texts. Words that stand fewer than `min_count` times in them are one class."""

    clip_norm: float | None = 5.0
    batch_size: int = 50
    patience: int | None = 2
    min_count: int = 2

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.min_count < 1:
            raise ConfigError(f"min_count must be at least 1, got {self.min_count}")


@dataclass(frozen=True, kw_only=True)
class EnergyConfig(StageConfig):
    """Batches of about `batch_size` pairs of states; `steps` of contrastive divergence for each."""

    optimizer: Literal["adam", "adamw", "adagrad", "sgd"] = "sgd"
    learning_rate: float = 0.01
    weight_decay: float = 1e-4
    batch_size: int = 256
    patience: int | None = 3
    steps: int = 5

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.steps < 1:
            raise ConfigError(f"steps must be at least 1, got {self.steps}")


class LanguageModelStage(Stage):
    """Trains the reader of one side to predict words of its texts, those of `vocab_size`."""

    module: LanguageModel
    config: LanguageModelConfig

    def __init__(
        self,
        side: Side,
        reader: TextReader,
        units: int,
        encode: Encode,
        vocab_size: int,
    ) -> None:
        self.name = f"language-model-{side}"
        self.sides, self.after = (side,), ()
        self.module = LanguageModel(reader, units)
        self.config = LanguageModelConfig()
        self._side = side
        self._encode = encode
        self._vocab_size = vocab_size

    def prepare(self, texts: Texts, seed: int) -> None:
        """Find the words that are worth a class of their own."""
        table = self._table(texts)
        words, counts = np.unique(table.flat, return_counts=True)
        kept = (counts >= self.config.min_count) & (words < self._vocab_size)
        classes = np.append(counts[kept], [counts[~kept].sum(), len(table)])
        self.module.open(torch.from_numpy(words[kept]), torch.from_numpy(classes))

    def batches(self, texts: Texts, epoch: int, seed: int) -> Iterable[Sequences]:
        """Texts of similar length."""
        return _shuffled(self._table(texts), self.config.batch_size, epoch, seed)

    def loss(self, batch: Sequences) -> Tensor:
        """Mean over all predictions in both directions."""
        found: Predicted = self.module(self._read(batch))
        return found.total / max(1, found.number)

    @torch.no_grad()
    def measure(self, texts: Texts) -> dict[str, float]:
        """The same over all texts, also as a perplexity."""
        total, count = 0.0, 0
        for batch in _in_order(self._table(texts)):
            found = self.module(self._read(batch))
            total, count = total + float(found.total), count + found.number
        loss = total / max(1, count)
        return {"loss": loss, "perplexity": float(np.exp(min(loss, 700.0)))}

    def _table(self, texts: Texts) -> TokenTable:
        return texts.queries if self._side == "query" else texts.documents

    @torch.no_grad()
    def _read(self, batch: Sequences) -> Encoded:
        """Word vectors are not learnt here."""
        return self._encode(batch.to(self.module.reader.end.device))


class EnergyStage(Stage):
    """Trains the energy of neighbouring states of documents, which a frozen reader gives."""

    name = "energy"
    sides = ("document",)
    after = ("language-model-document",)
    module: AdjacentEnergy
    config: EnergyConfig

    def __init__(self, energy: AdjacentEnergy, reader: TextReader, encode: Encode) -> None:
        self.module = energy
        self.config = EnergyConfig()
        self._reader = reader
        self._encode = encode

    def batches(self, texts: Texts, epoch: int, seed: int) -> Iterable[Sequences]:
        """As many texts of similar length as have `batch_size` pairs on average."""
        table = texts.documents  # <EOS> makes as many pairs as there are words
        num_texts = round(self.config.batch_size * len(table) / max(1, len(table.flat)))
        return _shuffled(table, max(1, num_texts), epoch, seed)

    def loss(self, batch: Sequences) -> Tensor:
        """Contrastive divergence of the pairs of a batch; of none of them, 0.

        In full precision: it is a small difference of large energies.
        """
        pairs = self._pairs(batch)
        with torch.autocast(pairs[0].device.type, enabled=False):
            if not len(pairs[0]):
                nothing: Tensor = 0 * self.module(*pairs).sum()
                return nothing
            return self.module.contrastive_loss(*pairs, self.config.steps)

    def after_step(self) -> None:
        """Stay where the distribution exists."""
        self.module.bound()

    def measure(self, texts: Texts) -> dict[str, float]:
        """Pseudo likelihood of the pairs and their mean energy.

        The likelihood cannot be computed, and contrastive divergence does not fall with it.
        """
        loss, energy, _ = self._means(texts)
        return {"loss": loss, "energy": energy}

    def finish(self, texts: Texts) -> None:
        """The mean energy of these pairs is what a jump is measured from."""
        _, energy, square = self._means(texts)
        self.module.reference.fill_(energy)
        if hasattr(self.module, "spread"):
            self.module.spread.fill_(max(square - energy**2, _LEAST_VARIANCE) ** 0.5)

    @torch.no_grad()
    def _means(self, texts: Texts) -> tuple[float, float, float]:
        """Of the pseudo loss, the energy and its square."""
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


class _Batches:
    """Rows of a table in batches, gathered when they are asked for."""

    def __init__(self, table: TokenTable, rows: list[Ids]) -> None:
        self._table = table
        self._rows = rows

    def __len__(self) -> int:
        return len(self._rows)

    def __iter__(self) -> Iterator[Sequences]:
        return map(self._table.gather, self._rows)


def _shuffled(table: TokenTable, batch_size: int, epoch: int, seed: int) -> Iterable[Sequences]:
    rng = np.random.default_rng([seed, epoch])
    return _Batches(table, shuffled_buckets(table.lengths, batch_size, rng))


def _in_order(table: TokenTable) -> Iterable[Sequences]:
    nothing = np.zeros_like(table.lengths)
    limits = _MEASURED_TOKENS, _MEASURED_TEXTS
    return _Batches(table, batches_by_length(nothing, table.lengths, *limits))
