"""IAM: an answer-aware question encoder, attention over the answer, and the context jump.

Cross-sentence pre-trained model for interactive QA matching, LREC 2020. Language models of
questions and of answers are trained first, then the energy of neighbouring answer states; their
states and jumps are fixed inputs of the attention and the matcher. There is no public code.

Departures and resolutions, where the printed equations are incomplete:
- The language models predict words by a softmax over the vocabulary; printed is one over positions.
- Attention needs the question encoder, which needs attention: attention reads the language model's
  states, and the score the answer-aware ones.
- Contrastive divergence has the sign that raises the likelihood; printed is the opposite. States
  are restricted to a box, without which the distribution does not exist.
- M is stored as two factors; as printed, it has vocabulary x vocabulary entries.
- Vectors wider than `input_dim` are projected by each language model separately; in the question
  encoder that projection is a part of V_q.
- On a transformer, the word of a vector is its first subword. One with `cross_encode` reads both
  texts at once for matching; the language models are still trained on single texts.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional

from matchwork.encode import Encoded, Encoder, WordEmbedding
from matchwork.encode.word_embedding import hashed_vectors
from matchwork.inputs import require_at_least, require_dropout
from matchwork.interact import LazyMapping, WordWeights
from matchwork.interact.similarity import ScoreLayer
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
    """Settings of `IAM`."""

    units: int = 100  # LSTM units of each direction
    input_dim: int | None = None  # width of the LSTMs' input; None: that of the word vectors
    hidden: int = 100  # width of the matching vector
    dropout: float = 0.5  # dropout between LSTM layers, on their input and before the score
    jump: bool = True  # use the context jump
    support: SupportName = "box"  # domain of the energy model's states
    scale_jumps: bool = False  # divide exponents of jumps by the deviation of the energies
    q_align: Alignment = "position"  # question state for each answer state
    tie_u: bool = True  # use the same u for question and answer states
    matrix: MatrixForm = "factorised"  # form of M, see `InteractiveAttention`
    final_state: Literal["ends", "literal"] = "ends"  # each direction's end, or the last word
    tune_words: bool = True  # learn a shift of question words away from frozen word vectors
    l2: float = 1e-5  # factor of the squared norm of all trained weights in the loss

    def __post_init__(self) -> None:
        require_at_least(self, 1, "units", "input_dim", "hidden")
        require_at_least(self, 0, "l2")
        require_dropout(self, "dropout")

    @property
    def aux(self) -> Literal["both"] | None:
        """All pairs: the penalty is the squared norm of the weights."""
        return "both" if self.l2 else None

    @property
    def stage_configs(self) -> dict[str, type[StageConfig]]:
        """A language model of each side and, with the jump, the energy."""
        readers = {f"language-model-{side}": LanguageModelConfig for side in ("query", "document")}
        return {**readers, "energy": EnergyConfig} if self.jump else {**readers}


class IAMTrace(NamedTuple):
    """Intermediate results of a batch; states include <EOS>, `jumps` are None without the jump."""

    query_states: Encoded
    document_states: Encoded
    jumps: Tensor | None
    attended: Attended
    question: Tensor
    logits: Tensor


@register("iam", jump=True)
@register("iam-no-jump", jump=False)
class IAM(MatchModel):
    """Score = log odds of a match, from the answer-aware question and the attended answer."""

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
        # Modules of stages come first, so that their initial weights depend on the seed alone.
        self.query_reader = TextReader(dim, width, config.units, dropout=dropout)
        self.document_reader = TextReader(dim, width, config.units, dropout=dropout)
        if config.jump:
            self.energy = AdjacentEnergy(states, config.support, config.scale_jumps)
        self._frozen().requires_grad_(False)
        words = _vocabulary_vectors(encoder, width)
        self.tf_idf = TfIdf(len(words))
        readings = config.q_align, config.tie_u, config.matrix, config.jump
        self.attention = InteractiveAttention(states, words, *readings)
        frozen = isinstance(encoder, WordEmbedding) and not encoder.config.trainable
        if config.tune_words and frozen:
            self.shift = nn.Parameter(torch.zeros(len(words), dim))
        self.from_words = nn.Linear(dim, width, bias=False)
        self.from_context = nn.Linear(states, width)
        self.aware = TwoWayStack(width, config.units, dropout=dropout)
        self.from_question = nn.Linear(states, config.hidden, bias=False)
        self.from_answer = nn.Linear(states, config.hidden)
        self.classes = ScoreLayer(config.hidden, 2, bias=False)
        parts = self.from_words, self.from_context, self.from_question, self.from_answer
        for layer in (*parts, self.classes):
            small_uniform(layer)
        self.dropout = nn.Dropout(dropout)

    def stages(self) -> Sequence[Stage]:
        """Return the language models of questions and answers, then the energy."""
        units, vocab_size = self.config.units, len(self.tf_idf.idf)
        stages: list[Stage] = [
            LanguageModelStage("query", self.query_reader, units, self.encode, vocab_size),
            LanguageModelStage("document", self.document_reader, units, self.encode, vocab_size),
        ]
        if self.config.jump:
            stages.append(EnergyStage(self.energy, self.document_reader, self.encode))
        return stages

    def after_stages(self) -> None:
        """Start the answer-aware stack as the question's language model."""
        self.aware.load_state_dict(self.query_reader.stack.state_dict())

    def fit_corpus(self, texts: Sequence[TokenTable]) -> None:
        """Compute idf from these texts."""
        self.tf_idf.fit(texts)

    def train(self, mode: bool = True) -> "IAM":
        """Set the training mode; frozen parts stay without dropout."""
        super().train(mode)
        self._frozen().eval()
        return self

    def post_encode(self, text: Encoded, sequences: Sequences) -> Encoded:
        """Add word ids where the encoder returns none."""
        if text.ids is not None:
            return text
        ids = _first_subwords(sequences, len(self.tf_idf.idf), text.mask.shape[1])
        return Encoded(text.vectors, text.mask, ids)

    def match(self, query: Encoded, document: Encoded) -> MatchOutput:
        """Attend to the answer, read the question with it, classify."""
        trace = self.trace(query, document)
        evidence = LazyMapping(lambda: _evidence(trace, document.mask))
        penalty = None
        if self.config.l2 and torch.is_grad_enabled():
            penalty = (self.config.l2 * self.squared_norm()).expand(len(query))
        scores = trace.logits[:, 1] - trace.logits[:, 0]
        return MatchOutput(scores, evidence, trace.logits, penalty=penalty)

    def trace(self, query: Encoded, document: Encoded) -> IAMTrace:
        """Compute states, weights, jumps and logits."""
        question_states, answer = self.query_reader(query), self.document_reader(document)
        jumps = self.energy.jumps(answer) if self.config.jump else None
        bags = self.tf_idf(query), self.tf_idf(document)
        attended = self.attention(question_states, answer, jumps, *bags)
        words = with_end(self._shifted(query), self.query_reader.end)
        context = self.from_context(attended.context).unsqueeze(1)
        phi = self.dropout(torch.tanh(self.from_words(words.vectors) + context))
        aware = Encoded(self.aware(phi, words.mask), words.mask)
        question = last_states(aware, literal=self.config.final_state == "literal")
        both = self.dropout(torch.cat([question, attended.context], dim=-1))
        half = question.shape[1]
        hidden = torch.tanh(self.from_question(both[:, :half]) + self.from_answer(both[:, half:]))
        return IAMTrace(question_states, answer, jumps, attended, question, self.classes(hidden))

    def squared_norm(self) -> Tensor:
        """Return the squared norm of all trained weights but biases and the encoder's."""
        norms = [
            weight.square().sum()
            for name, weight in self.named_parameters()
            if weight.requires_grad and "bias" not in name and not name.startswith("encoder.")
        ]
        return torch.stack(norms).sum()

    def _frozen(self) -> nn.ModuleList:
        """Return the parts that only stages train."""
        readers = [self.query_reader, self.document_reader]
        return nn.ModuleList([*readers, self.energy] if self.config.jump else readers)

    def _shifted(self, query: Encoded) -> Encoded:
        """Add the learnt shifts to question words."""
        if not hasattr(self, "shift") or query.ids is None:
            return query
        known = query.ids < len(self.shift)
        shift = functional.embedding(query.ids.masked_fill(~known, 0), self.shift)
        return Encoded(query.vectors + shift * known.unsqueeze(-1), query.mask)


def _evidence(trace: IAMTrace, mask: Tensor) -> dict[str, WordWeights]:
    """Return attention and jump of every answer word, without <EOS>."""
    weights = {"document_attention": trace.attended.weights}
    if trace.jumps is not None:
        weights["document_jump"] = trace.jumps
    return {
        name: WordWeights(values[:, :-1].masked_fill(~mask, 0.0), mask, "document")
        for name, values in weights.items()
    }


def _vocabulary_vectors(encoder: Encoder, dim: int) -> Tensor:
    """Return a vector per word; random directions for contextual encoders."""
    if isinstance(encoder, WordEmbedding):
        return encoder.table
    return hashed_vectors(torch.arange(encoder.config.vocab_size), dim)


def _first_subwords(sequences: Sequences, vocab_size: int, width: int) -> Tensor:
    """Return the ids of tokens that start words; ids past the vocabulary continue a word."""
    starts = sequences.mask & (sequences.ids < vocab_size)
    order = torch.argsort((~starts).to(torch.int8), dim=1, stable=True)
    return sequences.ids.gather(1, order)[:, :width]
