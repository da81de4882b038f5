"""Token vectors of a transformer."""

from dataclasses import dataclass
from typing import Any, ClassVar

import torch
from torch import Tensor, nn

from matchwork import kernels
from matchwork.encode.base import ENCODERS, Encoded, EncodedPair, Encoder
from matchwork.encode.concatenation import ConcatenatedTexts, Part, longest_first
from matchwork.errors import ConfigError, MissingExtraError
from matchwork.kernels.transformer import distinct_rows, last_hidden_state
from matchwork.text import Sequences


@dataclass(frozen=True, kw_only=True)
class TransformerConfig:
    """Settings of a transformer encoder.

    Args:
        architecture: The config of the transformers library as a plain table; the network is
            built from it without any download.
        vocab_size: Number of subword tokens of its tokenizer.
        before: Special ids in front of every text ([CLS]).
        after: Special ids behind every text ([SEP]).
        trainable: Whether training changes the weights.
        between: Special ids between two texts that are read as one.
        second_type: Token type of the second of two texts that are read as one.
        max_positions: Most subword tokens to read at once; None: as many as there are positions.
        cross_encode: Whether models get vectors of both texts read as one.
    """

    architecture: dict[str, Any]
    vocab_size: int
    before: tuple[int, ...] = ()
    after: tuple[int, ...] = ()
    trainable: bool = False
    between: tuple[int, ...] = ()
    second_type: int = 0
    max_positions: int | None = None
    cross_encode: bool = False


@ENCODERS.register("transformer")
class TransformerEncoder(Encoder):
    """Return a vector per subword token, or per word if the tokenizer's unit is the word.

    Models match the text, not [CLS]: vectors of special tokens are kept separately. A frozen
    transformer computes no gradients and has no dropout.
    """

    Config: ClassVar[type[TransformerConfig]] = TransformerConfig
    kind: ClassVar[str] = "transformer"
    config: TransformerConfig
    transformer: Any  # a PreTrainedModel of the transformers library

    def __init__(self, config: TransformerConfig, transformer: nn.Module | None = None) -> None:
        super().__init__()
        self.config = config
        network: Any = transformer or build_transformer(config.architecture)
        if hasattr(network, "pooler"):
            network.pooler = nn.Identity()  # pools the tokens into one vector, which is not used
        num_rows = _num_input_vectors(network)
        if config.vocab_size > num_rows:
            raise ConfigError(
                f"the tokenizer has {config.vocab_size} subword tokens, the transformer vectors "
                f"for {num_rows}; they do not belong together"
            )
        self.transformer = network.requires_grad_(config.trainable)
        self.cross_encode = config.cross_encode
        self._num_positions = num_positions(network)
        self.train(self.training)

    @property
    def dim(self) -> int:
        """Width of the vectors."""
        return int(self.transformer.config.hidden_size)

    def layers(self) -> list[nn.Module]:
        """Return the transformer's layers; empty if all share their weights (ALBERT)."""
        num = self.transformer.config.num_hidden_layers
        stacks = [part for part in self.transformer.modules() if isinstance(part, nn.ModuleList)]
        return next((list(stack) for stack in stacks if len(stack) == num), [])

    def frozen_names(self) -> set[str]:
        """Return all keys of the state dict, unless the transformer is trainable."""
        return set() if self.config.trainable else set(self.state_dict())

    def train(self, mode: bool = True) -> "TransformerEncoder":
        """Set training mode; a frozen transformer stays without dropout."""
        super().train(mode)
        self.transformer.train(mode and self.config.trainable)
        return self

    def forward(self, sequences: Sequences) -> Encoded:
        """Encode every text between its special tokens; average subword tokens into words."""
        tokens, start = self._subwords(sequences), len(self.config.before)
        row = ConcatenatedTexts.of(
            [self.config.before, tokens, self.config.after],
            self.transformer.config.pad_token_id or 0,
        )
        vectors = self._run_distinct(row)
        special = torch.cat([vectors[:, :start], row.take(vectors, 2)], dim=1)
        missing = max(0, start + tokens.mask.shape[1] - vectors.shape[1])  # columns of padding
        text = nn.functional.pad(vectors, (0, 0, 0, missing))[:, start:][:, : tokens.mask.shape[1]]
        return self._by_token(text, tokens.mask, sequences, special)

    def encode_pair(self, query: Sequences, document: Sequences) -> EncodedPair:
        """Encode `[CLS] query [SEP] document [SEP]`, so that each text sees the other.

        If they are too long together, the longer one is truncated first.
        """
        (first, second), row, options = self._concatenate(query, document)
        vectors = self._run(row, options)
        return EncodedPair(
            vectors[:, 0],
            self._by_token(row.take(vectors, 1), first.mask, query),
            self._by_token(row.take(vectors, 3), second.mask, document),
        )

    def encode_pair_first(self, query: Sequences, document: Sequences) -> Tensor:
        """Return `encode_pair(query, document).first` with less computation, shape (batch, dim)."""
        _, row, options = self._concatenate(query, document)
        return self._run(row, options, first=True)[:, 0]

    @property
    def max_pair_tokens(self) -> int | None:
        """Most subword tokens of two texts read as one, without special ones; None: no limit."""
        limit = smallest(self.config.max_positions, self._num_positions)
        special = sum(map(len, (self.config.before, self.config.between, self.config.after)))
        return None if limit is None else max(0, limit - special)

    def _subwords(self, sequences: Sequences) -> Sequences:
        """Return ids below `vocab_size`; those of padding become 0."""
        ids = sequences.ids.masked_fill(~sequences.mask, 0) % self.config.vocab_size
        return Sequences(ids, sequences.mask)

    def _concatenate(
        self, *texts: Sequences
    ) -> tuple[list[Sequences], ConcatenatedTexts, dict[str, Tensor]]:
        """Return both texts truncated, both as one, and token types if the network has any."""
        sides, limit, config = [*map(self._subwords, texts)], self.max_pair_tokens, self.config
        if limit is not None and sum(side.ids.shape[1] for side in sides) > limit:
            lengths = longest_first(sides[0].lengths, sides[1].lengths, limit)
            sides = [side.shorten(length) for side, length in zip(sides, lengths, strict=True)]
        parts: list[Part] = [config.before, sides[0], config.between, sides[1], config.after]
        row = ConcatenatedTexts.of(parts, self.transformer.config.pad_token_id or 0)
        if not config.second_type:
            return sides, row, {}
        columns = torch.arange(row.ids.shape[1], device=row.ids.device)
        second = (columns >= row.positions[3][:, :1]) & row.mask
        return sides, row, {"token_type_ids": second.long() * config.second_type}

    def _run_distinct(self, row: ConcatenatedTexts) -> Tensor:
        """Run the transformer once per distinct text; in training queries are repeated."""
        if not torch.is_grad_enabled() or not kernels.enabled():
            return self._run(row, {})
        first, group = distinct_rows(row.ids, row.mask)
        if len(first) == len(group):
            return self._run(row, {})
        return self._run(ConcatenatedTexts(row.ids[first], row.mask[first], []), {})[group]

    def _run(
        self, row: ConcatenatedTexts, options: dict[str, Tensor], first: bool = False
    ) -> Tensor:
        """Return the vectors of all tokens; with `first`, at least those of the first."""
        size = sum(weight.numel() for layer in self.layers() for weight in layer.parameters())
        with torch.set_grad_enabled(self.config.trainable and torch.is_grad_enabled()):
            return last_hidden_state(self.transformer, row.ids, row.mask, options, size, first)

    def _by_token(
        self, vectors: Tensor, mask: Tensor, sequences: Sequences, special: Tensor | None = None
    ) -> Encoded:
        """Return one vector per subword token or word; `mask` = subword tokens that were read."""
        continues = (sequences.ids >= self.config.vocab_size) & sequences.mask
        if bool(continues.any()):
            vectors, mask = _average_words(vectors, mask, mask & ~continues)
        return Encoded(vectors, mask, special_vectors=special)


def _num_input_vectors(network: Any) -> int:
    try:
        return int(network.get_input_embeddings().num_embeddings)
    except (AttributeError, NotImplementedError) as error:  # I-BERT, CANINE
        raise ConfigError(
            f"{network.config.model_type} has no embedding table for subword tokens; use an "
            "encoder such as BERT"
        ) from error


def build_transformer(architecture: dict[str, Any]) -> nn.Module:
    """Build a network with random weights; downloads nothing and runs no remote code."""
    transformers = import_transformers()
    settings = dict(architecture)
    config = transformers.AutoConfig.for_model(settings.pop("model_type"), **settings)
    network: nn.Module = transformers.AutoModel.from_config(config, trust_remote_code=False)
    return network


def import_transformers() -> Any:
    """Import the transformers library, or say which extra to install."""
    try:
        import transformers
    except ImportError as error:
        raise MissingExtraError("a transformer encoder", "transformers") from error
    return transformers


def num_positions(transformer: Any) -> int | None:
    """Return the most subword tokens the network can read at once; None: no limit.

    The config may say more than the position vectors hold (RoBERTa), fewer (YOSO) or -1 (XLNet).
    """
    limits = [getattr(transformer.config, "max_position_embeddings", None) or 0]
    for name, module in transformer.named_modules():
        if name.endswith("position_embeddings") and isinstance(module, nn.Embedding):
            skipped = 0 if module.padding_idx is None else module.padding_idx + 1
            limits.append(module.num_embeddings - skipped)
    return smallest(*(limit for limit in limits if limit > 0))


def smallest(*limits: int | None) -> int | None:
    """Return the smallest of several limits, of which None means no limit."""
    return min(filter(None, limits), default=None)


def _average_words(vectors: Tensor, mask: Tensor, starts: Tensor) -> tuple[Tensor, Tensor]:
    """Average each word's vectors; a scatter-add would not be deterministic on a GPU."""
    num_words = starts.sum(dim=1, keepdim=True)
    columns = torch.arange(int(num_words.max()), device=mask.device)
    word_of = starts.cumsum(dim=1) - 1
    belongs = (word_of.unsqueeze(1) == columns[:, None]) & mask.unsqueeze(1)
    sums = belongs.to(vectors.dtype) @ vectors.masked_fill(~mask.unsqueeze(-1), 0.0)
    num_tokens = belongs.sum(dim=2, keepdim=True).clamp_min(1)
    return sums / num_tokens, columns < num_words
