"""IAM: a question encoder that knows the answer, attention over the answer, the context jump.

Cross-sentence pre-trained model for interactive QA matching, LREC 2020. Language models of
questions and of answers are trained first, then the energy of neighbouring answer states; their
states and jumps are fixed inputs of the attention and the matcher. There is no public code.

Departures and resolutions, where the printed equations do not close:
- The language models predict words by a softmax over the vocabulary; printed is one over places.
- Attention needs the question, the question encoder the attention: attention reads the language
  model's states, and the score the question-aware ones.
- Contrastive divergence has the sign that raises the likelihood; printed is the opposite. States
  lie in a box, without which there is no distribution.
- M is kept as two factors; printed, it has the square of the vocabulary.
- Vectors wider than `input_dim` are projected by every language model for itself; in the question
  encoder that projection is a part of V_q.
- On a transformer, the word of a vector is its first piece. One that is `joint` reads both
  texts at once when they are matched; the language models still learn from either text alone.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional

from matchwork.encode import Encoded, Encoder, WordEmbedding
from matchwork.encode.word_embedding import hashed_vectors
from matchwork.errors import ConfigError
from matchwork.interact import Evidence, LazyEvidence, WordWeights
from matchwork.interact.precision import ScoreLayer
from matchwork.models.base import MatchModel, MatchOutput, ModelConfig, register
from matchwork.models.iam.energy import AdjacentEnergy
from matchwork.models.iam.interactive_attention import (
    Alignment,
    Attended,
    InteractiveAttention,
    MatrixForm,
)
from matchwork.models.iam.stages import (
    EnergyConfig,
    EnergyStage,
    LanguageModelConfig,
    LanguageModelStage,
)
from matchwork.models.iam.supports import SupportName
from matchwork.models.iam.tf_idf import TfIdf
from matchwork.models.iam.two_way import (
    TextReader,
    TwoWayStack,
    last_states,
    small_uniform,
    with_end,
)
from matchwork.models.stage import Stage, StageConfig
from matchwork.text import Sequences, TokenTable


@dataclass(frozen=True, kw_only=True)
class IAMConfig(ModelConfig):
    """Sizes (`units` to `dropout`), the jump, the attention, and what is trained and how.

    `input_dim`: what the LSTMs read; None: the vectors as they are. `final_state`: the question's
    state after each pass ("ends"), or both directions at the last word ("literal").
    `tune_words`: whether question words move away from the frozen vectors when matching is
    learnt. `l2` times the squared norm
    of all trained weights is added to the loss.
    """

    units: int = 100
    input_dim: int | None = None
    hidden: int = 100
    dropout: float = 0.5
    jump: bool = True
    support: SupportName = "box"
    scale_jumps: bool = False
    q_align: Alignment = "position"
    tie_u: bool = True
    matrix: MatrixForm = "factorised"
    final_state: Literal["ends", "literal"] = "ends"
    tune_words: bool = True
    l2: float = 1e-5

    def __post_init__(self) -> None:
        for name in ("units", "input_dim", "hidden"):
            value = getattr(self, name)
            if value is not None and value < 1:
                raise ConfigError(f"{name} must be at least 1, got {value}")
        if not 0 <= self.dropout < 1:
            raise ConfigError(f"dropout must be at least 0 and below 1, got {self.dropout}")
        if self.l2 < 0:
            raise ConfigError(f"l2 must not be negative, got {self.l2}")

    @property
    def aux(self) -> Literal["both"] | None:
        """The squared norm belongs to every pair."""
        return "both" if self.l2 else None

    @property
    def stage_configs(self) -> dict[str, type[StageConfig]]:
        """A language model of each side and, for the jump, the energy."""
        stages: dict[str, type[StageConfig]] = {
            f"language-model-{side}": LanguageModelConfig for side in ("query", "document")
        }
        return {**stages, "energy": EnergyConfig} if self.jump else stages


class IAMTrace(NamedTuple):
    """All that was computed on the way; texts include <EOS>, `jumps` are None without the jump."""

    query_states: Encoded
    document_states: Encoded
    jumps: Tensor | None
    attended: Attended
    question: Tensor
    logits: Tensor


@register("iam", jump=True)
@register("iam-no-jump", jump=False)
class IAM(MatchModel):
    """Score = log odds of a match, from the question-aware question and the attended answer."""

    Config: ClassVar[type[ModelConfig]] = IAMConfig
    config: IAMConfig
    evidence_titles: ClassVar[dict[str, str]] = {
        "document_attention": "Attention to each document word",
        "document_jump": "Context jump from each document word to the next",
    }
    training_defaults: ClassVar[dict[str, Any]] = {
        "loss": "cross-entropy",
        "negatives": "labelled",
        "optimizer": "sgd",
        "learning_rate": 0.1,
        "schedule": "steps",
        "clip_norm": 5.0,
        "batch_size": 50,
        "max_epochs": 30,
    }

    def __init__(self, config: IAMConfig, encoder: Encoder) -> None:
        super().__init__(config, encoder)
        dim, width, dropout = encoder.dim, config.input_dim or encoder.dim, config.dropout
        states = 2 * config.units
        # What is trained in stages comes first: its initial weights depend on nothing else.
        self.query_reader = TextReader(dim, width, config.units, dropout=dropout)
        self.document_reader = TextReader(dim, width, config.units, dropout=dropout)
        if config.jump:
            self.energy = AdjacentEnergy(states, config.support, config.scale_jumps)
        for part in self._frozen():
            part.requires_grad_(False)
        words = _vocabulary_vectors(encoder, width)
        self.tf_idf = TfIdf(len(words))
        self.attention = InteractiveAttention(
            states,
            words,
            align=config.q_align,
            tied=config.tie_u,
            matrix=config.matrix,
            jump=config.jump,
        )
        if (
            config.tune_words
            and isinstance(encoder, WordEmbedding)
            and not encoder.config.trainable
        ):
            self.shift = nn.Parameter(torch.zeros(len(words), dim))
        self.from_words = nn.Linear(dim, width, bias=False)
        self.from_context = nn.Linear(states, width)
        self.aware = TwoWayStack(width, config.units, dropout=dropout)
        self.from_question = nn.Linear(states, config.hidden, bias=False)
        self.from_answer = nn.Linear(states, config.hidden)
        self.classes = ScoreLayer(config.hidden, 2, bias=False)
        for layer in (self.from_words, self.from_context, self.from_question, self.from_answer):
            small_uniform(layer)
        small_uniform(self.classes)
        self.dropout = nn.Dropout(dropout)

    def stages(self) -> Sequence[Stage]:
        """Language models of questions and answers, then the energy of neighbours."""
        units, vocab_size = self.config.units, len(self.tf_idf.idf)
        stages: list[Stage] = [
            LanguageModelStage("query", self.query_reader, units, self.encode, vocab_size),
            LanguageModelStage("document", self.document_reader, units, self.encode, vocab_size),
        ]
        if self.config.jump:
            stages.append(EnergyStage(self.energy, self.document_reader, self.encode))
        return stages

    def after_stages(self) -> None:
        """The question-aware stack starts as the question's language model."""
        self.aware.load_state_dict(self.query_reader.stack.state_dict())

    def fit_corpus(self, texts: Sequence[TokenTable]) -> None:
        """Weigh words by how few of these texts have them."""
        self.tf_idf.fit(texts)

    def train(self, mode: bool = True) -> "IAM":
        """What is frozen stays as it is when it is used: without dropout."""
        super().train(mode)
        for part in self._frozen():
            part.eval()
        return self

    def post_encode(self, text: Encoded, sequences: Sequences) -> Encoded:
        """Vectors that know their words, whatever the encoder."""
        if text.ids is not None:
            return text
        ids = _first_pieces(sequences, len(self.tf_idf.idf), text.mask.shape[1])
        return Encoded(text.vectors, text.mask, ids)

    def match(self, query: Encoded, document: Encoded) -> MatchOutput:
        """Attend to the answer, read the question again in its light, classify."""
        trace = self.trace(query, document)
        evidence = LazyEvidence(lambda: _evidence(trace, document.mask))
        penalty = None
        if self.config.l2 and torch.is_grad_enabled():
            penalty = (self.config.l2 * self.squared_norm()).expand(len(query))
        scores = trace.logits[:, 1] - trace.logits[:, 0]
        return MatchOutput(scores, evidence, trace.logits, penalty=penalty)

    def trace(self, query: Encoded, document: Encoded) -> IAMTrace:
        """Every state, weight and jump on the way to the logits."""
        asked, answer = self.query_reader(query), self.document_reader(document)
        jumps = self.energy.jumps(answer) if self.config.jump else None
        bags = self.tf_idf(query), self.tf_idf(document)
        attended = self.attention(asked, answer, jumps, *bags)
        words = with_end(self._moved(query), self.query_reader.end)
        context = self.from_context(attended.context).unsqueeze(1)
        phi = self.dropout(torch.tanh(self.from_words(words.vectors) + context))
        aware = Encoded(self.aware(phi, words.mask), words.mask)
        question = last_states(aware, literal=self.config.final_state == "literal")
        both = self.dropout(torch.cat([question, attended.context], dim=-1))
        half = question.shape[1]
        hidden = torch.tanh(self.from_question(both[:, :half]) + self.from_answer(both[:, half:]))
        return IAMTrace(asked, answer, jumps, attended, question, self.classes(hidden))

    def squared_norm(self) -> Tensor:
        """Of all trained weights but biases and the encoder's."""
        weights = [
            weight
            for name, weight in self.named_parameters()
            if weight.requires_grad and "bias" not in name and not name.startswith("encoder.")
        ]
        return torch.stack([weight.square().sum() for weight in weights]).sum()

    def _frozen(self) -> list[nn.Module]:
        """What the stages train and matching only uses."""
        readers: list[nn.Module] = [self.query_reader, self.document_reader]
        return [*readers, self.energy] if self.config.jump else readers

    def _moved(self, query: Encoded) -> Encoded:
        """Question words where training has moved them to."""
        if not hasattr(self, "shift") or query.ids is None:
            return query
        known = query.ids < len(self.shift)
        shift = functional.embedding(query.ids.masked_fill(~known, 0), self.shift)
        return Encoded(query.vectors + shift * known.unsqueeze(-1), query.mask)


def _evidence(trace: IAMTrace, mask: Tensor) -> dict[str, Evidence]:
    """Attention and jump of every answer word, without <EOS>."""
    found = {"document_attention": trace.attended.weights}
    if trace.jumps is not None:
        found["document_jump"] = trace.jumps
    return {
        name: WordWeights(values[:, :-1].masked_fill(~mask, 0.0), mask, "document")
        for name, values in found.items()
    }


def _vocabulary_vectors(encoder: Encoder, dim: int) -> Tensor:
    """One vector per word; where the encoder has none without context, random directions."""
    if isinstance(encoder, WordEmbedding):
        return encoder.table
    return hashed_vectors(torch.arange(encoder.config.vocab_size), dim)


def _first_pieces(sequences: Sequences, vocab_size: int, width: int) -> Tensor:
    """Ids of the pieces that words begin with, in front; an id past the vocabulary goes on."""
    starts = sequences.mask & (sequences.ids < vocab_size)
    order = torch.argsort((~starts).to(torch.int8), dim=1, stable=True)
    return sequences.ids.gather(1, order)[:, :width]
