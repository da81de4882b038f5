"""Inference: batches of tokenised pairs through a model, without dropout and gradients."""

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from threading import Event, Lock
from typing import NamedTuple
from weakref import WeakKeyDictionary

import numpy as np
import torch
from torch import Tensor

from matchwork.encode import Encoded, TransformerEncoder
from matchwork.matcher.encode_once import batches_by_document, cached_encoder, encode_distinct
from matchwork.matcher.precision import Precision
from matchwork.matcher.threads import in_threads
from matchwork.matcher.token_pairs import TokenPairs
from matchwork.models import MatchOutput, Model, bi_encoded
from matchwork.text import batches_by_length
from matchwork.text.batch import Ids
from matchwork.types import Advance, Scores

# Padded tokens and pairs per batch: what stays in a core's cache, what keeps a GPU busy.
CPU_BATCH = (8_192, 256)
TRANSFORMER_TOKENS = 1_024  # on a CPU: its layers are many times wider than a word vector
GPU_BATCH = (8_192, 256)  # per GiB of its memory, up to
BUSY_GIB = 16  # beyond which nothing gets faster, and others may need the rest

BatchOutput = tuple[Ids, MatchOutput]
"""Indices of a batch's pairs, and the model's output for them."""


class _Use(NamedTuple):
    num_users: int
    was_training: bool


_lock = Lock()
_uses: WeakKeyDictionary[Model, _Use] = WeakKeyDictionary()


@contextmanager
def dropout_off(model: Model) -> Iterator[None]:
    """Switch dropout off for the first user of the model, and back on after the last."""
    with _lock:
        use = _uses.get(model) or _Use(0, model.training)
        if not use.num_users:
            model.eval()
        _uses[model] = use._replace(num_users=use.num_users + 1)
    try:
        yield
    finally:
        with _lock:
            use = _uses.pop(model)
            if use.num_users > 1:
                _uses[model] = use._replace(num_users=use.num_users - 1)
            else:
                model.train(use.was_training)


@dataclass(frozen=True)
class Inference:
    """A model that scores.

    Attributes:
        model: The model.
        precision: "bf16" for mixed precision; a model in "int8" has its layers replaced already.
        max_tokens: Most padded tokens per batch; None: chosen for the device.
        max_pairs: Most pairs per batch; None: chosen for the device.
    """

    model: Model
    precision: Precision = "32"
    max_tokens: int | None = None
    max_pairs: int | None = None

    @property
    def device(self) -> torch.device:
        """The device of the weights, where the model runs."""
        return next(self.model.parameters()).device

    @property
    def is_transformer(self) -> bool:
        """Whether the encoder is a transformer."""
        return isinstance(self.model.encoder, TransformerEncoder)

    @property
    def batch_limits(self) -> tuple[int, int]:
        """Most padded tokens and most pairs per batch."""
        tokens, pairs = CPU_BATCH
        if self.is_transformer:
            tokens = TRANSFORMER_TOKENS
        if self.device.type == "cuda":
            size = torch.cuda.get_device_properties(self.device).total_memory
            tokens, pairs = (limit * min(max(1, size >> 30), BUSY_GIB) for limit in GPU_BATCH)
        return self.max_tokens or tokens, self.max_pairs or pairs

    @contextmanager
    def scoring(self) -> Iterator[None]:
        """Switch dropout and gradients off, and mixed precision on for "bf16"."""
        mixed = torch.autocast(self.device.type, torch.bfloat16, self.precision == "bf16")
        with dropout_off(self.model), torch.inference_mode(), mixed:
            yield

    def outputs(self, pairs: TokenPairs) -> Iterator[BatchOutput]:
        """Yield complete outputs, with evidence, batch by batch, longest pairs first.

        A batch is computed when it is asked for, since outputs are large.
        """
        for batch in batches_by_length(*pairs.lengths, *self.batch_limits):
            with self.scoring():
                output = self.model(pairs.take(batch).gather().to(self.device))
            yield batch, output

    def scores(self, pairs: TokenPairs) -> Iterator[BatchOutput]:
        """Yield scores without evidence, batch by batch; stop by not asking for more.

        A transformer that reads one text at a time encodes each distinct text once.
        """
        model, device, limits = self.model, self.device, self.batch_limits
        each = in_threads if self.is_transformer and device.type == "cpu" else map
        # Encoding each text once pays for transformers, where it is nearly all of the work.
        if not (self.is_transformer and bi_encoded(model)):

            def score(batch: Ids) -> BatchOutput:
                with self.scoring():
                    return batch, MatchOutput(model.scores(pairs.take(batch).gather().to(device)))

            yield from each(score, batches_by_length(*pairs.lengths, *limits))
            return

        def encode_queries(rows: Ids) -> Encoded:
            with self.scoring():
                return encode_distinct(model, pairs.queries, rows, device)

        lengths, dim = pairs.queries.lengths, model.encoder.dim
        query_of = cached_encoder(encode_queries, pairs.query_rows, lengths, dim, limits, each)

        def match(batch: Ids) -> BatchOutput:
            part = pairs.take(batch)
            with self.scoring():
                document = encode_distinct(model, part.documents, part.document_rows, device)
                return batch, MatchOutput(model.match(query_of(part.query_rows), document).scores)

        yield from each(match, batches_by_document(*pairs.lengths, pairs.document_rows, *limits))


def collect(
    outputs: Iterable[BatchOutput],
    num_pairs: int,
    advance: Advance | None = None,
    read: Callable[[MatchOutput], Tensor] = lambda output: output.scores,
    cancelled: Event | None = None,
) -> Scores:
    """Return the values of batch outputs in the order of the pairs, shape (pairs, ...).

    `read` takes a tensor, shape (batch, ...), from an output; `advance` is called with the number
    of pairs of each batch. Once `cancelled` is set no further batch is computed. Pairs without an
    output get NaN. Values leave the device once, at the end.
    """
    indices: list[Ids] = []
    parts: list[Tensor] = []
    for batch, output in outputs:
        if cancelled and cancelled.is_set():
            break
        indices.append(batch)
        parts.append(read(output).double())
        if advance:
            advance(len(batch))
    if not parts:
        return np.full(num_pairs, np.nan)
    values = torch.cat(parts).cpu().numpy()
    ordered = np.full((num_pairs, *values.shape[1:]), np.nan)
    ordered[np.concatenate(indices)] = values
    return ordered
