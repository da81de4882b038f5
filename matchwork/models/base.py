"""Bases of all models: `MatchModel` matches two encoded texts, `PairModel` reads both as one."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal, TypeGuard, TypeVar

import torch
from torch import Tensor, nn

from matchwork.config import build
from matchwork.encode import Encoded, Encoder
from matchwork.errors import ConfigError
from matchwork.interact import Evidence
from matchwork.models.stage import Stage, StageConfig
from matchwork.registry import Registry
from matchwork.text import PairBatch, Sequences, TokenTable
from matchwork.types import Side

FINE_TUNING: dict[str, Any] = {"optimizer": "adamw", "schedule": "linear", "warmup": 0.1}
"""Training defaults of models that fine-tune a transformer."""
IN_BATCH = {**FINE_TUNING, "loss": "softmax", "negatives": "in-batch", "learning_rate": 2e-5}
"""Training defaults of transformers that learn from in-batch negatives."""


@dataclass(frozen=True, kw_only=True)
class ModelConfig:
    """Base of all model settings: frozen, checked when made, and the only source of defaults."""

    @property
    def max_query_length(self) -> int | None:
        """Maximum number of query tokens: the setting `query_length` of models that have one."""
        return getattr(self, "query_length", None)

    @property
    def max_document_length(self) -> int | None:
        """Maximum number of document tokens, likewise `document_length`."""
        return getattr(self, "document_length", None)

    @property
    def num_classes(self) -> int:
        """Number of classes; with more than two, `MatchOutput.logits` are trained and read."""
        return 2

    @property
    def aux(self) -> Literal["both", "positive"] | None:
        """Pairs whose `MatchOutput.penalty` is added to the loss; None: there is no penalty."""
        return None

    @property
    def stage_configs(self) -> Mapping[str, type[StageConfig]]:
        """Settings class of each stage by its name, in the order of training."""
        return {}


@dataclass(frozen=True, slots=True)
class MatchOutput:
    """Output of a model for a batch of pairs.

    Attributes:
        scores: Shape (batch,); higher is better.
        evidence: Tables and word weights behind the scores, by name.
        logits: Shape (batch, classes); None for models without a classifier.
        parts: Scores (batch,) of each part of the model alone, the features of all others at
            their mean; "neither": all at their mean.
        penalty: Shape (batch,); an auxiliary loss that training adds (see `ModelConfig.aux`).
    """

    scores: Tensor
    evidence: Mapping[str, Evidence] = field(default_factory=dict)
    logits: Tensor | None = None
    parts: Mapping[str, Tensor] = field(default_factory=dict)
    penalty: Tensor | None = None


class FittedTables(nn.Module):
    """Base of modules whose buffers are fitted to data, and empty before; loading resizes them."""

    def frozen_names(self) -> set[str]:
        """All buffers."""
        return set(dict(self.named_buffers(recurse=False)))

    def _load_from_state_dict(
        self, state_dict: dict[str, Any], prefix: str, *arguments: Any
    ) -> None:
        for name in self.frozen_names():
            if (saved := state_dict.get(prefix + name)) is not None:
                setattr(self, name, getattr(self, name).new_empty(saved.shape))
        super()._load_from_state_dict(state_dict, prefix, *arguments)


def look_up(values: Tensor, table: Tensor) -> tuple[Tensor, Tensor]:
    """Return the position of each value in a sorted, not empty table, and whether it is there."""
    slots = torch.searchsorted(table, values).clamp_max(len(table) - 1)
    return slots, table[slots] == values


class Model(nn.Module, ABC):
    """Common base: a batch of tokenised pairs in, `MatchOutput` out.

    Subclass `MatchModel` or `PairModel`, never another model. A model is a config, a class and a
    `register` line, in any package.

    Attributes:
        Config: Dataclass of the model's settings.
        training_defaults: Training settings of the paper that differ from `TrainConfig`.
        evidence_titles: Titles of the entries of `MatchOutput.evidence`. A `{}` in a name stands
            for a number, which fills the `{}` of the title, or its `{layer}` ("the third layer").
        matches_tokens: False for models that need the vector of [CLS] by itself, so that
            `vectors.special_tokens = "token"` is refused.
    """

    Config: ClassVar[type[ModelConfig]]
    training_defaults: ClassVar[Mapping[str, Any]] = {}
    evidence_titles: ClassVar[Mapping[str, str]] = {}
    matches_tokens: ClassVar[bool] = True

    def __init__(self, config: ModelConfig, encoder: Encoder) -> None:
        super().__init__()
        self.config = config
        self.encoder = encoder

    @abstractmethod
    def forward(self, batch: PairBatch) -> MatchOutput:
        """Score row i of the queries against row i of the documents."""

    def scores(self, batch: PairBatch) -> Tensor:
        """Return scores only, shape (batch,); override where that saves work."""
        output: MatchOutput = self(batch)
        return output.scores

    @property
    def max_pair_tokens(self) -> int | None:
        """Maximum number of tokens of both texts together; None: no limit."""
        return None if bi_encoded(self) else self.encoder.max_pair_tokens

    def frozen_names(self) -> set[str]:
        """Names of the state's entries that training never changes; checkpoints leave them out."""
        return {
            f"{path}.{name}"
            for path, module in self.named_modules()
            if module is not self and isinstance(module, Encoder | FittedTables)
            for name in module.frozen_names()
        }

    def fit_corpus(self, texts: Sequence[TokenTable]) -> None:
        """Count words or phrases of the training texts; called once, before training.

        What is counted must be saved with the weights. Most models count nothing.
        """

    def stages(self) -> Sequence[Stage]:
        """Return the parts trained before the whole model, as in `ModelConfig.stage_configs`."""
        return ()

    def after_stages(self) -> None:
        """Prepare the training of the whole model; called once all stages are trained."""

    def fit_feature_means(self, pairs: Iterable[PairBatch]) -> None:
        """Average features over training pairs, to show parts alone; called after training."""


class PairModel(Model):
    """A model that reads both texts as one sequence; subclasses implement `forward`.

    Documents cannot be encoded in advance: no in-batch negatives, no document index.
    """


class MatchModel(Model):
    """A model that matches two encoded texts; subclasses implement `match`."""

    @abstractmethod
    def match(self, query: Encoded, document: Encoded) -> MatchOutput:
        """Score row i of `query` against row i of `document`."""

    def encode(self, sequences: Sequences) -> Encoded:
        """Encode texts one by one."""
        return self.post_encode(self.encoder(sequences), sequences)

    def encode_pairs(self, batch: PairBatch) -> tuple[Encoded, Encoded]:
        """Encode queries and documents: separately or, with `encoder.cross_encode`, as one text."""
        if not self.encoder.cross_encode:
            return self.encode(batch.query), self.encode(batch.document)
        joined = self.encoder.encode_pair(batch.query, batch.document)
        query = self.post_encode(joined.query, batch.query)
        return query, self.post_encode(joined.document, batch.document)

    def post_encode(self, text: Encoded, sequences: Sequences) -> Encoded:
        """Add to, or replace, what the encoder returned; the default returns it as it is."""
        return text

    def forward(self, batch: PairBatch) -> MatchOutput:
        """Encode both texts and match them."""
        return self.match(*self.encode_pairs(batch))

    def condense(self, text: Encoded) -> Encoded:
        """Reduce an encoded text to what `match` needs, to store many of them."""
        return text

    def match_all(self, query: Encoded, document: Encoded) -> Tensor:
        """Score every query against every document, shape (queries, documents).

        Used for in-batch negatives and document indexes. Override it if the score factorises.
        """
        pairs = self.match(query.repeat_each(len(document)), document.tile(len(query)))
        return pairs.scores.view(len(query), len(document))


def bi_encoded(model: Model) -> TypeGuard[MatchModel]:
    """Return whether the model encodes each text without the other, so that it can be stored."""
    return isinstance(model, MatchModel) and not model.encoder.cross_encode


def trim_padding(text: Encoded, length: int, side: Side) -> Encoded:
    """Cut padding past `length`, the most tokens that the model was made for."""
    if text.mask.shape[1] <= length:
        return text
    if bool(text.mask[:, length:].any()):
        raise ConfigError(
            f"a {side} has {int(text.mask.sum(1).max())} tokens, but this model was made with "
            f"{side}_length = {length}; cut texts (max_{side}_length) or make it longer"
        )
    return text.cut(length)


@dataclass(frozen=True)
class ModelEntry:
    """A registered name: a model class and the settings that the name presets."""

    model: type[Model]
    preset: Mapping[str, Any]

    def config(self, values: Mapping[str, Any], where: str = "model") -> ModelConfig:
        """Build settings from a plain table on top of the preset; `where` names it in errors."""
        return build(self.model.Config, {**self.preset, **values}, where)


MODELS: Registry[ModelEntry] = Registry("model")
ModelClass = TypeVar("ModelClass", bound=type[Model])


def register(name: str, **preset: Any) -> Callable[[ModelClass], ModelClass]:
    """Return a class decorator that registers a model under `name` with preset settings."""

    def enter(model: ModelClass) -> ModelClass:
        MODELS.add(name, ModelEntry(model, preset))
        return model

    return enter
