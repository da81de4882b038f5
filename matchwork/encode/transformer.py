"""Token vectors of a transformer, as input to any model."""

from dataclasses import dataclass
from typing import Any, ClassVar

import torch
from torch import Tensor, nn

from matchwork.encode.base import ENCODERS, Encoded, Encoder
from matchwork.errors import ConfigError, MissingExtraError
from matchwork.text import Sequences


@dataclass(frozen=True, kw_only=True)
class TransformerConfig:
    """The transformer's own settings, the size of its tokenizer, and what frames a text.

    `architecture` is the config of the transformers library as a plain table, from which the
    network is built again without any download. `before` and `after` are the special ids put
    around every text ([CLS] and [SEP]).
    """

    architecture: dict[str, Any]
    vocab_size: int
    before: tuple[int, ...] = ()
    after: tuple[int, ...] = ()
    trainable: bool = False


@ENCODERS.register("transformer")
class TransformerEncoder(Encoder):
    """One vector per piece, or per word where the tokenizer says which pieces make one.

    The special tokens are seen by the transformer alone: models match the text, not [CLS].
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
            network.pooler = None  # makes one vector of a whole text, which no model asks for
        num_rows = network.get_input_embeddings().num_embeddings
        if config.vocab_size > num_rows:
            raise ConfigError(
                f"the tokenizer has {config.vocab_size} pieces, the transformer vectors for "
                f"{num_rows}; they do not belong together"
            )
        self.transformer = network.requires_grad_(config.trainable)
        self.train(self.training)

    @property
    def dim(self) -> int:
        """Width of the vectors."""
        return int(self.transformer.config.hidden_size)

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
        """Frame every text, run the transformer, drop the frame, average words."""
        size, mask = self.config.vocab_size, sequences.mask
        ids = sequences.ids.masked_fill(~mask, 0)  # padding may hold anything
        with torch.set_grad_enabled(self.config.trainable and torch.is_grad_enabled()):
            vectors = self._piece_vectors(ids % size, mask)
        continues = ids >= size
        if bool(continues.any()):
            return _average_words(vectors, mask, mask & ~continues)
        return Encoded(vectors, mask)

    def _piece_vectors(self, pieces: Tensor, mask: Tensor) -> Tensor:
        before, after = pieces.new_tensor(self.config.before), pieces.new_tensor(self.config.after)
        lengths = mask.sum(dim=1, keepdim=True)
        text = slice(len(before), len(before) + mask.shape[1])
        padding = self.transformer.config.pad_token_id or 0
        framed = pieces.new_full((len(mask), text.stop + len(after)), padding)
        framed[:, : len(before)] = before
        framed[:, text] = pieces.masked_fill(~mask, padding)
        ends = len(before) + lengths + torch.arange(len(after), device=mask.device)
        framed.scatter_(1, ends, after.expand(len(mask), -1))
        columns = torch.arange(framed.shape[1], device=mask.device)
        real = columns < len(before) + lengths + len(after)
        real[:, 0] = True  # attention over nothing at all is not a number
        output = self.transformer(input_ids=framed, attention_mask=real.long())
        vectors: Tensor = output.last_hidden_state[:, text]
        return vectors


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

    Where position vectors skip the rows up to that of padding (RoBERTa), fewer are left.
    """
    for name, module in transformer.named_modules():
        if name.endswith("position_embeddings") and isinstance(module, nn.Embedding):
            skipped = 0 if module.padding_idx is None else module.padding_idx + 1
            return module.num_embeddings - skipped
    limit = getattr(transformer.config, "max_position_embeddings", None)
    return int(limit) if limit else None


def _average_words(vectors: Tensor, mask: Tensor, starts: Tensor) -> Encoded:
    """The mean of each word's pieces: a product with the table of words by pieces.

    A sum by index would be faster for long texts, but not repeatable on a GPU.
    """
    num_words = starts.sum(dim=1, keepdim=True)
    columns = torch.arange(int(num_words.max()), device=mask.device)
    word_of = starts.cumsum(dim=1) - 1
    belongs = (word_of.unsqueeze(1) == columns[:, None]) & mask.unsqueeze(1)
    sums = belongs.to(vectors.dtype) @ vectors.masked_fill(~mask.unsqueeze(-1), 0.0)
    num_pieces = belongs.sum(dim=2, keepdim=True).clamp_min(1)
    return Encoded(sums / num_pieces, columns < num_words)
