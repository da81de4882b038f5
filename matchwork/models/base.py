"""What every model is: `forward(batch) = match(encode(query), encode(document))`."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal, Protocol, TypeVar, runtime_checkable

from torch import Tensor, nn

from matchwork.config import build
from matchwork.encode import Encoded, Encoder
from matchwork.interact import Evidence
from matchwork.models.stage import Stage, StageConfig
from matchwork.registry import Registry
from matchwork.text import PairBatch, Sequences, TokenTable


@dataclass(frozen=True, kw_only=True)
class ModelConfig:
    """Base of all model settings: frozen, complete, and the only source of defaults."""

    @property
    def max_query_length(self) -> int | None:
        """Most words of a query that the model can read; None: any number."""
        return None

    @property
    def max_document_length(self) -> int | None:
        """The same of a document."""
        return None

    @property
    def num_classes(self) -> int:
        """Classes that the model tells apart; of more than two, `MatchOutput.logits` speak."""
        return 2

    @property
    def encodes_apart(self) -> bool:
        """Whether the model can match texts that were encoded without each other."""
        return True

    @property
    def aux(self) -> Literal["both", "positive"] | None:
        """Whose `MatchOutput.penalty` training adds to the loss; None: the model has none.

        That of "both" positive and negative pairs, or of the "positive" ones alone.
        """
        return None

    @property
    def stage_configs(self) -> Mapping[str, type[StageConfig]]:
        """Settings of each stage that is trained before the whole, by its name, in order."""
        return {}


@dataclass(frozen=True, slots=True)
class MatchOutput:
    """Scores, shape (batch,), higher is better; and the tables the model computed anyway.

    Where the model tells classes apart, `logits`, shape (batch, classes), are what their softmax
    is made of. Where it has parts, `parts` are the scores that each of them gives, by its name,
    the features of all others held at their mean; "neither" is the score with all of them held.
    `penalty`, shape (batch,), is what training makes small beside the loss over the scores.
    """

    scores: Tensor
    evidence: Mapping[str, Evidence] = field(default_factory=dict)
    logits: Tensor | None = None
    parts: Mapping[str, Tensor] = field(default_factory=dict)
    penalty: Tensor | None = None


FINE_TUNING = {"optimizer": "adamw", "schedule": "linear", "warmup": 0.1}
"""How transformers are tuned, whatever stands on them."""


@runtime_checkable
class PartlyFrozen(Protocol):
    """A module of which training never changes every entry, such as a table of fixed vectors."""

    def frozen_names(self) -> set[str]:
        """Names of the entries of its state that stay as they are."""
        ...


class MatchModel(nn.Module, ABC):
    """Two encoded texts in, one score out. Subclass this, never another model.

    A subclass is one file: a `Config`, `match`, and a `register` line. `training_defaults` holds
    the paper's training settings where they differ from `matchwork.train.TrainConfig`.
    One whose settings do not encode texts apart has its own `forward` in place of `encode` and
    `match`. `matches_tokens` is False where [CLS] has a part of its own and cannot be one token
    among others.
    """

    Config: ClassVar[type[ModelConfig]]
    training_defaults: ClassVar[Mapping[str, Any]] = {}
    matches_tokens: ClassVar[bool] = True

    def __init__(self, config: ModelConfig, encoder: Encoder) -> None:
        super().__init__()
        self.config = config
        self.encoder = encoder

    @property
    def encodes_apart(self) -> bool:
        """Whether each text is encoded without the other, so that it can be done beforehand."""
        return self.config.encodes_apart and not self.encoder.cross_encode

    @property
    def pair_room(self) -> int | None:
        """Most tokens of a query and its document together that are read; None: any number."""
        return None if self.encodes_apart else self.encoder.max_pair_tokens

    def frozen_names(self) -> set[str]:
        """Entries of the state that training never changes, so a checkpoint can skip them."""
        return {
            f"{place}.{name}"
            for place, part in self.named_modules()
            if part is not self and isinstance(part, PartlyFrozen)
            for name in part.frozen_names()
        }

    def stages(self) -> Sequence[Stage]:
        """Parts that are trained before the whole, in order, those of `config.stage_configs`."""
        return ()

    def after_stages(self) -> None:
        """Begin the training of the whole with what the stages have learnt; most have none."""

    def read_corpus(self, texts: Sequence[TokenTable]) -> None:
        """Learn from the training texts how common phrases are; most models do not ask.

        Called once, before training; what is learnt is saved with the weights.
        """

    def read_pairs(self, pairs: Iterable[PairBatch]) -> None:
        """Learn from training pairs what features are like on average; most models do not ask.

        Called once, after training; what is learnt is saved with the weights.
        """

    def encode(self, sequences: Sequences) -> Encoded:
        """Token ids to vectors, of texts by themselves."""
        return self.prepare(self.encoder(sequences), sequences)

    def encode_pairs(self, batch: PairBatch) -> tuple[Encoded, Encoded]:
        """Encode both sides, each by itself or, if the encoder cross-encodes, both as one text."""
        if not self.encoder.cross_encode:
            return self.encode(batch.query), self.encode(batch.document)
        joined = self.encoder.encode_pair(batch.query, batch.document)
        query = self.prepare(joined.query, batch.query)
        return query, self.prepare(joined.document, batch.document)

    def prepare(self, text: Encoded, sequences: Sequences) -> Encoded:
        """What `match` wants of a text beside its vectors, or in their place; most want nothing."""
        return text

    @abstractmethod
    def match(self, query: Encoded, document: Encoded) -> MatchOutput:
        """Row i of `query` against row i of `document`."""

    def forward(self, batch: PairBatch) -> MatchOutput:
        """Encode both sides and match them."""
        return self.match(*self.encode_pairs(batch))

    def scores(self, batch: PairBatch) -> Tensor:
        """Those of `forward` where nothing else of it is asked for, which may take less work."""
        output: MatchOutput = self(batch)
        return output.scores

    def condense(self, text: Encoded) -> Encoded:
        """As little of an encoded text as `match` needs, for those who keep many."""
        return text

    def match_all(self, query: Encoded, document: Encoded) -> Tensor:
        """Scores of every query with every document, shape (queries, documents).

        Used by in-batch negatives; models whose score factorises override it.
        """
        pairs = self.match(query.repeat_each(len(document)), document.tile(len(query)))
        return pairs.scores.view(len(query), len(document))


@dataclass(frozen=True)
class ModelEntry:
    """A registered name: a class and the settings that the name stands for."""

    model: type[MatchModel]
    preset: Mapping[str, Any]

    def config(self, values: Mapping[str, Any], where: str = "model") -> ModelConfig:
        """Settings from a plain table on top of the preset."""
        return build(self.model.Config, {**self.preset, **values}, where)


MODELS: Registry[ModelEntry] = Registry("model")
Model = TypeVar("Model", bound=type[MatchModel])


def register(name: str, **preset: Any) -> Callable[[Model], Model]:
    """Class decorator: `name` in recipes and on the command line means class + preset."""

    def enter(model: Model) -> Model:
        MODELS.add(name, ModelEntry(model, preset))
        return model

    return enter
