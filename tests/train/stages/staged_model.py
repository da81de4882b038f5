"""A model of two stages with dropout, each of which can be told to break at a given step."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import torch
from fragile_model import cut
from torch import Tensor, nn

from matchwork.encode import Encoded, Encoder, WordEmbedding
from matchwork.models import MatchModel, MatchOutput, ModelConfig, Stage, StageConfig, Texts
from matchwork.text import Sequences, TokenTable, WordTokenizer
from matchwork.text.batch import shuffled_buckets

Break = Callable[[Tensor], Tensor]
DIM = 6


@dataclass(frozen=True, kw_only=True)
class GuessConfig(StageConfig):
    """How much noise the guesser has to see through."""

    batch_size: int = 8
    max_epochs: int = 2
    noise: float = 0.1


@dataclass(frozen=True, kw_only=True)
class StagedConfig(ModelConfig):
    """The width of the matcher, which the stages know nothing of."""

    width: int = 4

    @property
    def stage_configs(self) -> Mapping[str, type[StageConfig]]:
        """One for each side."""
        return {"queries": GuessConfig, "documents": GuessConfig}


class Guesser(nn.Module):
    """A layer that the model keeps, and one that only the stage needs, made when it begins."""

    def __init__(self, layer: nn.Linear) -> None:
        super().__init__()
        self.layer = layer
        self.dropout = nn.Dropout(0.2)
        self.head: nn.Module = nn.Identity()


class GuessStage(Stage):
    """Learns to guess the mean vector of a text from a noisy copy."""

    module: Guesser
    config: GuessConfig

    def __init__(self, name: str, model: "StagedModel", layer: nn.Linear) -> None:
        self.name, self.model = name, model
        self.module = Guesser(layer)
        self.config = GuessConfig()
        self.before: nn.Linear | None = None
        self.calls = 0

    @property
    def reads(self) -> Mapping[str, Any]:
        return {"scale": self.model.scale}

    def prepare(self, texts: Texts, seed: int) -> None:
        self.module.head = nn.Linear(DIM, DIM).to(self.module.layer.weight)

    def batches(self, texts: Texts, epoch: int, seed: int) -> Iterable[Sequences]:
        table, rng = self._table(texts), np.random.default_rng([seed, epoch])
        rows = shuffled_buckets(table.lengths, self.config.batch_size, rng)
        return [table.gather(each) for each in rows]

    def loss(self, batch: Sequences) -> Tensor:
        self.calls += 1
        self.model.steps.append(self.name)
        loss = self._distance(batch)
        breaks = self.model.break_in == self.name and self.calls == self.model.break_at
        return self.model.how(loss) if breaks else loss

    def after_step(self) -> None:
        self.module.head.weight.clamp_(-0.5, 0.5)

    def measure(self, texts: Texts) -> dict[str, float]:
        table = self._table(texts)
        return {"loss": float(self._distance(table.gather(np.arange(len(table))))), "answer": 42.0}

    def finish(self, texts: Texts) -> None:
        self.model.finished.append((self.name, self.module.layer.weight.clone()))

    def _distance(self, batch: Sequences) -> Tensor:
        means = self.model.scale * self.model.means(self.model.encode(batch))
        if self.before is not None:
            means = means + self.before(means)
        seen = self.module.dropout(means + self.config.noise * torch.randn_like(means))
        return ((self.module.head(torch.tanh(self.module.layer(seen))) - means) ** 2).mean()

    def _table(self, texts: Texts) -> TokenTable:
        return texts.queries if self.name == "queries" else texts.documents


class StagedModel(MatchModel):
    """Bilinear in the layers that the stages trained, which are frozen, and a matcher on top."""

    Config: ClassVar[type[ModelConfig]] = StagedConfig
    config: StagedConfig

    def __init__(self, encoder: Encoder, width: int = 4) -> None:
        super().__init__(StagedConfig(width=width), encoder)
        self.queries, self.documents = nn.Linear(DIM, DIM), nn.Linear(DIM, DIM)
        for layer in (self.queries, self.documents):
            layer.requires_grad_(False)
        self.out = nn.Sequential(nn.Linear(DIM, width), nn.Tanh(), nn.Linear(width, 1))
        self.start = nn.Linear(DIM, DIM)
        self.scale = 1.0
        self.break_in, self.break_at, self.how = "", 0, cut
        self.steps: list[str] = []
        self.finished: list[tuple[str, Tensor]] = []

    def stages(self) -> Sequence[Stage]:
        """The second sees its texts through the first."""
        first = GuessStage("queries", self, self.queries)
        second = GuessStage("documents", self, self.documents)
        second.before = self.queries
        return [first, second]

    def after_stages(self) -> None:
        """What the whole begins with."""
        self.start.load_state_dict(self.queries.state_dict())

    def match(self, query: Encoded, document: Encoded) -> MatchOutput:
        both = self.queries(self.means(query)) * self.documents(self.means(document))
        scores = self.out(self.start(both)).squeeze(-1)
        if self.training:
            self.steps.append("whole")
            if self.break_in == "whole" and self.steps.count("whole") == self.break_at:
                return MatchOutput(self.how(scores))
        return MatchOutput(scores)

    @staticmethod
    def means(text: Encoded) -> Tensor:
        return text.vectors.sum(dim=1) / text.mask.sum(dim=1, keepdim=True).clamp_min(1)


def staged(
    words: WordTokenizer,
    break_in: str = "",
    break_at: int = 0,
    how: Break = cut,
    width: int = 4,
) -> StagedModel:
    """Always the same initial weights of stages; breaks at the given step of one, or of "whole"."""
    torch.manual_seed(0)
    encoder = WordEmbedding.from_vocabulary(words.vocabulary, dim=DIM)
    model = StagedModel(encoder, width)
    model.break_in, model.break_at, model.how = break_in, break_at, how
    return model
