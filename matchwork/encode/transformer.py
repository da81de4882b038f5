"""Token vectors of a transformer, as input to any model."""

from dataclasses import dataclass
from typing import Any, ClassVar

import torch
from torch import Tensor, nn

from matchwork import kernels
from matchwork.config import later
from matchwork.encode.base import ENCODERS, Encoded, Encoder, Joined
from matchwork.encode.one_row import OneRow, Part, longest_first
from matchwork.errors import ConfigError, MissingExtraError
from matchwork.kernels.transformer import distinct_rows, last_hidden_state
from matchwork.text import Sequences


@dataclass(frozen=True, kw_only=True)
class TransformerConfig:
    """The transformer's own settings, the size of its tokenizer, and what frames a text.

    `architecture` is the config of the transformers library as a plain table, from which the
    network is built again without any download. `before` and `after` are the special ids put
    around every text ([CLS] and [SEP]), `between` those put between two texts that are read as
    one, the second of which has the token type `second_type`. `max_positions`: the most pieces
    to read at once, special ones included; None: as many as there are positions. `joint`:
    whether models are given vectors of two texts that were read as one.
    """

    architecture: dict[str, Any]
    vocab_size: int
    before: tuple[int, ...] = ()
    after: tuple[int, ...] = ()
    trainable: bool = False
    between: tuple[int, ...] = later(())
    second_type: int = later(0)
    max_positions: int | None = later(None)
    joint: bool = later(False)


@ENCODERS.register("transformer")
class TransformerEncoder(Encoder):
    """One vector per piece, or per word where the tokenizer says which pieces make one.

    Models match the text, not [CLS]: vectors of special tokens are set apart, as its frame.
    While it is frozen, the transformer computes no gradients and drops nothing out.
    """

    Config: ClassVar[type[TransformerConfig]] = TransformerConfig
    kind: ClassVar[str] = "transformer"
    config: TransformerConfig
    transformer: Any  # what transformers calls a PreTrainedModel

    def __init__(self, config: TransformerConfig, transformer: nn.Module | None = None) -> None:
        super().__init__()
        self.config = config
        network: Any = transformer or build_transformer(config.architecture)
        if hasattr(network, "pooler"):
            network.pooler = nn.Identity()  # would make one vector of a text: nobody asks for it
        num_rows = _num_input_vectors(network)
        if config.vocab_size > num_rows:
            raise ConfigError(
                f"the tokenizer has {config.vocab_size} pieces, the transformer vectors for "
                f"{num_rows}; they do not belong together"
            )
        self.transformer = network.requires_grad_(config.trainable)
        self._num_positions = num_positions(network)
        self.train(self.training)

    @property
    def dim(self) -> int:
        """Width of the vectors."""
        return int(self.transformer.config.hidden_size)

    @property
    def joint(self) -> bool:
        """As it was set."""
        return self.config.joint

    def layers(self) -> list[nn.Module]:
        """The transformer's own; none where all are one and the same (ALBERT)."""
        num = self.transformer.config.num_hidden_layers
        stacks = [part for part in self.transformer.modules() if isinstance(part, nn.ModuleList)]
        return next((list(stack) for stack in stacks if len(stack) == num), [])

    def frozen_names(self) -> set[str]:
        """The whole transformer, unless training moves it."""
        return set() if self.config.trainable else set(self.state_dict())

    def train(self, mode: bool = True) -> "TransformerEncoder":
        """A frozen transformer stays as it is when it is used: without dropout."""
        super().train(mode)
        self.transformer.train(mode and self.config.trainable)
        return self

    def forward(self, sequences: Sequences) -> Encoded:
        """Frame every text, run the transformer, set the frame apart, average words."""
        pieces, start = self._pieces(sequences), len(self.config.before)
        row = OneRow.of([self.config.before, pieces, self.config.after], self._padding)
        vectors = self._run_distinct(row)
        frame = torch.cat([vectors[:, :start], row.take(vectors, 2)], dim=1)
        missing = max(0, start + pieces.mask.shape[1] - vectors.shape[1])  # of padding alone
        text = nn.functional.pad(vectors, (0, 0, 0, missing))[:, start:][:, : pieces.mask.shape[1]]
        return self._by_token(text, pieces.mask, sequences, frame)

    def join(self, query: Sequences, document: Sequences) -> Joined:
        """Both texts as one, `[CLS] query [SEP] document [SEP]`: each sees the other.

        Where they are too long together, the longer one is cut first.
        """
        sides = self._cut(self._pieces(query), self._pieces(document))
        row, options = self._one_row(*sides)
        vectors = self._run(row, options)
        return Joined(
            vectors[:, 0],
            self._by_token(row.take(vectors, 1), sides[0].mask, query),
            self._by_token(row.take(vectors, 3), sides[1].mask, document),
        )

    def join_first(self, query: Sequences, document: Sequences) -> Tensor:
        """`join(query, document).first`, for less work where no gradients are asked for."""
        row, options = self._one_row(*self._cut(self._pieces(query), self._pieces(document)))
        return self._run(row, options, first=True)[:, 0]

    @property
    def pair_room(self) -> int | None:
        """Most pieces of two texts that are read as one; None: any number."""
        limit = smallest(self.config.max_positions, self._num_positions)
        special = sum(map(len, (self.config.before, self.config.between, self.config.after)))
        return None if limit is None else max(0, limit - special)

    @property
    def _padding(self) -> int:
        return self.transformer.config.pad_token_id or 0

    def _pieces(self, sequences: Sequences) -> Sequences:
        """Ids as the transformer knows them; padding may hold anything."""
        ids = sequences.ids.masked_fill(~sequences.mask, 0) % self.config.vocab_size
        return Sequences(ids, sequences.mask)

    def _cut(self, *sides: Sequences) -> list[Sequences]:
        if self.pair_room is None or sum(side.ids.shape[1] for side in sides) <= self.pair_room:
            return list(sides)
        lengths = longest_first(sides[0].lengths, sides[1].lengths, self.pair_room)
        return [side.shorten(length) for side, length in zip(sides, lengths, strict=True)]

    def _one_row(self, query: Sequences, document: Sequences) -> tuple[OneRow, dict[str, Tensor]]:
        """Both texts as one, and the types of its tokens where there are any."""
        config = self.config
        parts: list[Part] = [config.before, query, config.between, document, config.after]
        row = OneRow.of(parts, self._padding)
        if not config.second_type:
            return row, {}
        columns = torch.arange(row.ids.shape[1], device=row.ids.device)
        second = (columns >= row.places[3][:, :1]) & row.mask
        return row, {"token_type_ids": second.long() * config.second_type}

    def _run_distinct(self, row: OneRow) -> Tensor:
        """The same of texts many of which are equal: a query stands beside all its candidates.

        Only in training: who scores gives every text once.
        """
        if not torch.is_grad_enabled() or not kernels.enabled():
            return self._run(row, {})
        first, same = distinct_rows(row.ids, row.mask)
        if len(first) == len(same):
            return self._run(row, {})
        return self._run(OneRow(row.ids[first], row.mask[first], []), {})[same]

    def _run(self, row: OneRow, options: dict[str, Tensor], first: bool = False) -> Tensor:
        """Return the vectors of all tokens; with `first`, at least those of the first."""
        with torch.set_grad_enabled(self.config.trainable and torch.is_grad_enabled()):
            return last_hidden_state(
                self.transformer, row.ids, row.mask, options, self._num_layer_weights(), first
            )

    def _num_layer_weights(self) -> int:
        return sum(weight.numel() for layer in self.layers() for weight in layer.parameters())

    def _by_token(
        self, vectors: Tensor, mask: Tensor, sequences: Sequences, frame: Tensor | None = None
    ) -> Encoded:
        """One vector per piece, or per word; `mask` says which pieces were read."""
        continues = (sequences.ids >= self.config.vocab_size) & sequences.mask
        if bool(continues.any()):
            vectors, mask = _average_words(vectors, mask, mask & ~continues)
        return Encoded(vectors, mask, frame=frame)


def _num_input_vectors(network: Any) -> int:
    try:
        return int(network.get_input_embeddings().num_embeddings)
    except (AttributeError, NotImplementedError) as error:  # as I-BERT's and CANINE's own code ends
        raise ConfigError(
            f"{network.config.model_type} has no table with a vector for every piece; use an "
            "encoder such as BERT"
        ) from error


def build_transformer(architecture: dict[str, Any]) -> nn.Module:
    """The network with random weights; nothing is downloaded and no foreign code is run."""
    transformers = import_transformers()
    settings = dict(architecture)
    config = transformers.AutoConfig.for_model(settings.pop("model_type"), **settings)
    network: nn.Module = transformers.AutoModel.from_config(config, trust_remote_code=False)
    return network


def import_transformers() -> Any:
    """The library, loaded on first use: word vectors do without it."""
    try:
        import transformers
    except ImportError as error:
        raise MissingExtraError("a transformer encoder", "transformers") from error
    return transformers


def num_positions(transformer: Any) -> int | None:
    """How many pieces of a text the network can read; None: any number.

    Where position vectors skip the rows up to that of padding (RoBERTa), fewer are left than its
    settings say; some have more rows than they use (YOSO); -1 stands for no limit (XLNet).
    """
    limits = [getattr(transformer.config, "max_position_embeddings", None) or 0]
    for name, module in transformer.named_modules():
        if name.endswith("position_embeddings") and isinstance(module, nn.Embedding):
            skipped = 0 if module.padding_idx is None else module.padding_idx + 1
            limits.append(module.num_embeddings - skipped)
    return smallest(*(limit for limit in limits if limit > 0))


def smallest(*limits: int | None) -> int | None:
    """Of several limits the one that counts; None: there is none."""
    return min(filter(None, limits), default=None)


def _average_words(vectors: Tensor, mask: Tensor, starts: Tensor) -> tuple[Tensor, Tensor]:
    """The mean of each word's pieces: a product with the table of words by pieces.

    A sum by index would be faster for long texts, but not repeatable on a GPU.
    """
    num_words = starts.sum(dim=1, keepdim=True)
    columns = torch.arange(int(num_words.max()), device=mask.device)
    word_of = starts.cumsum(dim=1) - 1
    belongs = (word_of.unsqueeze(1) == columns[:, None]) & mask.unsqueeze(1)
    sums = belongs.to(vectors.dtype) @ vectors.masked_fill(~mask.unsqueeze(-1), 0.0)
    num_pieces = belongs.sum(dim=2, keepdim=True).clamp_min(1)
    return sums / num_pieces, columns < num_words
