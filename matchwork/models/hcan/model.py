"""HCAN: relevance matching and semantic matching on one encoder, layer by layer.

Rao, Liu, Tay, Yang, Shi, Lin, Bridging the Gap between Relevance Matching and Semantic Matching
for Short Text Similarity Modeling, EMNLP 2019, https://aclanthology.org/D19-1540. Relevance
matching measures how strongly each query phrase matches the document and has no parameters;
semantic matching is co-attention and a BiLSTM. A small network reads the features of all layers.

The authors' code differs from the paper, so there are two presets (see `PRESETS`):
- "paper": the softmax of relevance matching is over the document, which makes its mean feature
  1 / (number of words), and the document's own weight in the attention cancels: it is not learnt.
- "code": the softmax is over the query, without the mean; level 0 (words) takes part; documents
  are summarised by the softmax of raw scores; BiLSTM states are pooled. Two bugs are not
  reproduced: tensors that are reshaped instead of transposed, and bigram weights shifted by a word.

Departures: padding is masked everywhere. A binary decision is trained on its log odds, which is
equivalent. The code's ReLU on co-attention features is left out after convolutions, which end in
one anyway.
"""

from collections.abc import Iterable, Sequence
from typing import Any, ClassVar, NamedTuple

import torch
from torch import Tensor, nn
from torch.nn.functional import pad

from matchwork.encode import Encoded, Encoder
from matchwork.interact import Evidence, Interaction, LazyMapping, WordWeights, pair_mask
from matchwork.interact.similarity import ScoreLayer
from matchwork.models.base import MatchModel, MatchOutput, ModelConfig, register, trim_padding
from matchwork.models.hcan.config import PRESETS, HCANConfig
from matchwork.models.hcan.feature_means import FeatureMeans
from matchwork.models.hcan.levels import Levels
from matchwork.models.hcan.phrase_weights import PhraseWeights
from matchwork.models.hcan.relevance import Relevance, relevance
from matchwork.models.hcan.semantic import CoAttention, SemanticMatching
from matchwork.text import PairBatch, TokenTable


class HCANTrace(NamedTuple):
    """Intermediate results of a batch; features have shape (batch, levels, width)."""

    weights: Tensor  # of query phrases, (batch, levels, query)
    relevance: list[Relevance]  # by level
    attention: CoAttention | None  # None without semantic matching
    relevance_features: Tensor
    semantic_features: Tensor

    def by_part(self) -> dict[str, Tensor]:
        """Return the features of each part by its name."""
        return {"relevance": self.relevance_features, "semantic": self.semantic_features}


@register("hcan", parts="both")
@register("hcan-rm", parts="relevance")
@register("hcan-sm", parts="semantic")
class HCAN(MatchModel):
    """Score = log odds of class 1, from a network over the features of all levels."""

    Config: ClassVar[type[ModelConfig]] = HCANConfig
    config: HCANConfig
    evidence_titles: ClassVar[dict[str, str]] = {
        "relevance_{}": "Relevance at level {}",
        "phrase_weight_{}": "Weight of each query phrase at level {}",
        "attention_{}": "Co-attention at level {}",
        "document_salience_{}": "How much each document word counts in the summary of level {}",
    }
    training_defaults: ClassVar[dict[str, Any]] = {
        "loss": "cross-entropy",
        "negatives": "labelled",
        "optimizer": "sgd",
        "learning_rate": 0.05,
        "batch_size": 64,
        "max_epochs": 20,
    }

    def __init__(self, config: HCANConfig, encoder: Encoder) -> None:
        super().__init__(config, encoder)
        self.preset = PRESETS[config.preset]
        sizes = config.filters, config.num_layers, config.kernel
        self.levels = Levels(config.encoder, encoder.dim, *sizes, dropout=config.dropout)
        shapes: dict[str, tuple[int, int]] = {}
        if config.parts != "semantic":
            tables = config.num_layers + 1 - self.preset.first_level
            shapes["relevance"] = (tables, config.query_length * (1 + self.preset.mean_feature))
            if config.phrase_weights:
                self.phrases = PhraseWeights()
        if config.parts != "relevance":
            pooling, rectify = self.preset.pooling, self.preset.rectify
            width = config.hidden if pooling == "last" else config.filters
            options = self.preset.salience, pooling, rectify and config.encoder == "contextual"
            semantic_sizes = config.filters, width // 2, config.num_layers
            self.semantic = SemanticMatching(*semantic_sizes, *options)
            shapes["semantic"] = (config.num_layers, self.semantic.width)
        if config.parts == "both":
            self.means = FeatureMeans(shapes)
        num_features = sum(levels * width for levels, width in shapes.values())
        self.head = _head(num_features, config, self.preset.head_layers)

    def fit_corpus(self, texts: Sequence[TokenTable]) -> None:
        """Count the phrases of these texts, if they are weighed."""
        if hasattr(self, "phrases"):
            self.phrases.fit(texts)

    def fit_feature_means(self, pairs: Iterable[PairBatch]) -> None:
        """Average the features of each part over these pairs, if there are several."""
        if hasattr(self, "means"):
            self.means.fit(
                self.trace(self._cut(self.encode(p.query)), self.encode(p.document)).by_part()
                for p in pairs
            )

    def match(
        self, query: Encoded, document: Encoded, phrase_weights: Tensor | None = None
    ) -> MatchOutput:
        """Encode levels, compute features of both parts, classify.

        `phrase_weights`, shape (batch, levels + 1, query), replace the model's own.
        """
        query = self._cut(query)
        trace = self.trace(query, document, phrase_weights)
        logits = self.classify(trace.relevance_features, trace.semantic_features)
        evidence = LazyMapping(lambda: self._evidence(query, document, trace))
        parts = LazyMapping(lambda: self._part_scores(trace))
        return MatchOutput(_log_odds(logits), evidence, logits, parts)

    def trace(
        self, query: Encoded, document: Encoded, phrase_weights: Tensor | None = None
    ) -> HCANTrace:
        """Compute all features; a part that the model lacks has width 0."""
        by_query, by_document = self.levels(query), self.levels(document)
        cells = pair_mask(query, document)
        weights = self._weights(query, phrase_weights)
        sides = (torch.stack(by_query[1:]), torch.stack(by_document[1:]))
        tables: list[Relevance] = []
        if self.config.parts != "semantic":
            tables = self._relevance((by_query[0], by_document[0]), sides, cells)
        attention, semantic = None, query.vectors.new_zeros(len(query), self.config.num_layers, 0)
        if self.config.parts != "relevance":
            attention = self.semantic.attend(*sides, query.mask, document.mask)
            semantic = self.semantic(*sides, query.mask, document.mask, attention)
        return HCANTrace(weights, tables, attention, self._by_position(tables, weights), semantic)

    def _relevance(
        self, words: tuple[Tensor, Tensor], levels: tuple[Tensor, Tensor], cells: Tensor
    ) -> list[Relevance]:
        """Match the words, if the preset does, and all levels above them at once."""
        all_cells, competitors = cells.expand(len(levels[0]), *cells.shape), self.preset.competitors
        above = relevance(*levels, all_cells, competitors)
        tables = [Relevance(*parts) for parts in zip(*above, strict=True)]
        if self.preset.first_level == 0:
            tables.insert(0, relevance(*words, cells, competitors))
        return tables

    def classify(self, relevance_features: Tensor, semantic_features: Tensor) -> Tensor:
        """Map features of shape (batch, levels, width) to logits, shape (batch, classes).

        The paper orders features by level, its code by part.
        """
        features = [relevance_features, semantic_features]
        if self.preset.first_level == 1 and self.config.parts == "both":
            joined = torch.cat(features, dim=-1).flatten(1)
        else:
            joined = torch.cat([part.flatten(1) for part in features], dim=-1)
        logits: Tensor = self.head(joined)
        return logits

    def _cut(self, query: Encoded) -> Encoded:
        return trim_padding(query, self.config.query_length, "query")

    def _weights(self, query: Encoded, given: Tensor | None) -> Tensor:
        """Return phrase weights of all levels, (batch, levels, query); 1 without counts."""
        words = query.mask.unsqueeze(1).to(query.vectors.dtype)
        ones = words.expand(-1, self.config.num_layers + 1, -1)
        if given is None and hasattr(self, "phrases") and query.ids is not None:
            given = self.phrases(query.ids, query.mask, self.levels.phrase_lengths)
        if given is None:
            return ones
        weighted = self.preset.weighted_levels
        own = given.to(words.dtype) * words
        return own if weighted is None else torch.cat([own[:, :weighted], ones[:, weighted:]], 1)

    def _by_position(self, tables: list[Relevance], weights: Tensor) -> Tensor:
        """Return weighted features, (batch, levels, width), at the positions of query words."""
        missing = self.config.query_length - weights.shape[-1]
        used = weights[:, self.preset.first_level :]
        if not tables:
            return weights.new_zeros(*used.shape[:2], 0)
        features = [[table.largest for table in tables]]
        if self.preset.mean_feature:
            features.append([table.mean for table in tables])
        return torch.cat([pad(used * torch.stack(each, 1), (0, missing)) for each in features], -1)

    def _evidence(self, query: Encoded, document: Encoded, trace: HCANTrace) -> dict[str, Evidence]:
        """Collect relevance, phrase weights, co-attention and document salience of each level."""
        cells = pair_mask(query, document)
        evidence: dict[str, Evidence] = {}
        lengths = self.levels.phrase_lengths
        for level, table in enumerate(trace.relevance, start=self.preset.first_level):
            weights = WordWeights(trace.weights[:, level], query.mask, "query")
            evidence[f"relevance_{level}"] = Interaction(table.table, cells, lengths[level])
            evidence[f"phrase_weight_{level}"] = weights
        if trace.attention is not None:
            by_level = zip(trace.attention.table, trace.attention.salience, strict=True)
            for level, (attended, salience) in enumerate(by_level, start=1):
                weights = WordWeights(salience, document.mask, "document")
                evidence[f"attention_{level}"] = Interaction(attended, cells, lengths[level])
                evidence[f"document_salience_{level}"] = weights
        return evidence

    @torch.no_grad()
    def _part_scores(self, trace: HCANTrace) -> dict[str, Tensor]:
        """Compute the scores of each part with the other at its mean, if means were fitted."""
        means = self.means.hold(trace.by_part()) if hasattr(self, "means") else {}
        return {
            part: _log_odds(self.classify(features["relevance"], features["semantic"]))
            for part, features in means.items()
        }


def _log_odds(logits: Tensor) -> Tensor:
    """Return the log odds of class 1 against all others."""
    others = torch.cat([logits[:, :1], logits[:, 2:]], dim=1)
    return logits[:, 1] - others.logsumexp(dim=1)


def _head(num_features: int, config: HCANConfig, num_layers: int) -> nn.Sequential:
    """Make the classifier: one or two hidden layers, the second a third as wide."""
    widths = [num_features, config.hidden, config.hidden // 3][: num_layers + 1]
    layers: list[nn.Module] = []
    for width, wider in zip(widths[1:], widths, strict=False):
        layers += [nn.Linear(wider, width), nn.ReLU()]
    layers.append(ScoreLayer(widths[-1], config.num_classes))
    for layer in layers:
        if isinstance(layer, nn.Linear):
            nn.init.xavier_uniform_(layer.weight)
            nn.init.zeros_(layer.bias)
    return nn.Sequential(*layers)
