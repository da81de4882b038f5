"""BERT and its relatives computed by hand on a CPU, with little computation on padding.

Rows of similar length form a span. Layers see the tokens of all spans as one long list, and only
attention runs span by span, so that little of padding is computed. Where only the first vector
of a text is needed, the last layer computes no other. The weights are the network's own.
"""

from collections.abc import Callable
from itertools import pairwise
from operator import attrgetter
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional

from matchwork.kernels.linear import apply
from matchwork.kernels.transformer.by_length import pass_ends
from matchwork.kernels.transformer.dropout import dropout


class Block(NamedTuple):
    """The parts of one layer under names that do not depend on the architecture."""

    query: nn.Module
    key: nn.Module
    value: nn.Module
    attention_dropout: nn.Module
    mix: nn.Module
    mix_dropout: nn.Module | None
    attention_norm: nn.Module
    widen: nn.Module
    activation: Callable[[Tensor], Tensor]
    narrow: nn.Module
    narrow_dropout: nn.Module
    norm: nn.Module


class Span(NamedTuple):
    """Rows of similar length, padded to `width` tokens.

    `bias` is a bool mask of what attention may see or a float bias added to its logits, shape
    (rows or 1, heads or 1, 1 or width, width); None without padding and position bias.
    """

    rows: int
    width: int
    bias: Tensor | None


def can_run(network: Any) -> bool:
    """Return whether `run` supports the network: a known architecture, unmodified, on a CPU."""
    config = network.config
    return (
        config.model_type in _PARTS
        and network.device.type == "cpu"
        and not getattr(config, "is_decoder", False)
        and not getattr(config, "pruned_heads", None)
        and getattr(config, "position_embedding_type", None) in (None, "absolute")
        and not (network.training and network.is_gradient_checkpointing)
        and not any(map(_is_modified, network.modules()))
    )


def _is_modified(part: nn.Module) -> bool:
    """Return whether the module has hooks or a replaced `forward`."""
    before = part._forward_pre_hooks or part._backward_pre_hooks
    return bool(before or part._forward_hooks or part._backward_hooks or "forward" in vars(part))


def run(
    network: Any,
    ids: Tensor,
    mask: Tensor,
    first: bool = False,
    min_saving: int = 1,
    **options: Tensor,
) -> Tensor:
    """Return `last_hidden_state`; each further span must save `min_saving` tokens of padding."""
    lengths, order = mask.sum(dim=1).sort(stable=True)
    sorted_options = {name: values[order] for name, values in options.items()}
    padded: Tensor = network.embeddings(input_ids=ids[order], **sorted_options)
    # MPNet's bias by distance of two tokens, shape (1, heads, tokens, tokens).
    mpnet = network.config.model_type == "mpnet"
    bias = network.encoder.compute_position_bias(padded[:1]) if mpnet else None
    spans = _spans(bias, mask[order], lengths.tolist(), min_saving)
    rows = torch.split(padded, [span.rows for span in spans])
    vectors = _as_list([part[:, : span.width] for part, span in zip(rows, spans, strict=True)])
    heads, blocks = network.config.num_attention_heads, _blocks(network)
    for block in blocks[: -1 if first else None]:
        vectors = _layer(block, vectors, vectors, spans, heads)
    if first:
        queries = torch.cat([part[:, 0] for part in _by_span(vectors, spans)])
        for block in blocks[-1:]:
            queries = _layer(block, vectors, queries, spans, heads)
        return queries.unsqueeze(1)[order.argsort()]
    ends = [(0, 0, 0, spans[-1].width - span.width) for span in spans]
    parts = map(functional.pad, _by_span(vectors, spans), ends)
    return torch.cat([*parts])[order.argsort()]


def _spans(
    position_bias: Tensor | None, mask: Tensor, lengths: list[int], min_saving: int
) -> list[Span]:
    """Group rows, shortest first, into as many spans as pay off."""
    ends = pairwise([0, *pass_ends(lengths, min_saving)])
    parts = [mask[start:end, : lengths[end - 1]] for start, end in ends]
    return [Span(part.shape[0], part.shape[1], _bias(position_bias, part)) for part in parts]


def _by_span(tokens: Tensor, spans: list[Span]) -> list[Tensor]:
    """Cut the list of all tokens into tensors of shape (rows, tokens, dim)."""
    parts = torch.split(tokens, [span.rows * span.width for span in spans])
    return [part.view(span.rows, span.width, -1) for part, span in zip(parts, spans, strict=True)]


def _as_list(parts: list[Tensor]) -> Tensor:
    """Invert `_by_span`."""
    flat = [part.flatten(0, 1) for part in parts]
    return torch.cat(flat) if len(flat) > 1 else flat[0]


def _layer(block: Block, vectors: Tensor, queries: Tensor, spans: list[Span], heads: int) -> Tensor:
    """Apply one layer to `queries`: all tokens (`vectors` itself) or each row's first."""
    of_queries = spans if queries is vectors else [Span(span.rows, 1, None) for span in spans]
    sides = (
        _by_span(apply(block.query, queries), of_queries),
        _by_span(apply(block.key, vectors), spans),
        _by_span(apply(block.value, vectors), spans),
    )
    attended = []
    for span, *parts in zip(spans, *sides, strict=True):
        q, k, v = (part.view(*part.shape[:2], heads, -1).transpose(1, 2) for part in parts)
        span_output = _attend(q, k, v, span.bias, block.attention_dropout)
        attended.append(span_output.transpose(1, 2).flatten(2))
    mixed = _drop(apply(block.mix, _as_list(attended)), block.mix_dropout)
    middle = block.attention_norm(mixed + queries)
    wide = block.activation(apply(block.widen, middle))
    narrow = _drop(apply(block.narrow, wide), block.narrow_dropout)
    result: Tensor = block.norm(narrow + middle)
    return result


def _attend(
    query: Tensor, key: Tensor, value: Tensor, bias: Tensor | None, layer: nn.Module
) -> Tensor:
    """Scaled dot-product attention; PyTorch's is slow on a CPU in bfloat16 or with dropout."""
    if bias is not None:
        bias = bias[:, :, : query.shape[2]]
        bias = bias if bias.dtype == torch.bool else bias.to(query.dtype)
    if not _drops(layer) and query.dtype != torch.bfloat16:
        return functional.scaled_dot_product_attention(query, key, value, bias)
    scores = (query * query.shape[-1] ** -0.5) @ key.mT
    if bias is not None and bias.dtype == torch.bool:
        scores = scores.masked_fill_(~bias, -torch.inf)
    elif bias is not None:
        scores = scores + bias
    return _drop(scores.softmax(dim=-1).to(value.dtype), layer) @ value


def _drop(values: Tensor, layer: nn.Module | None) -> Tensor:
    if layer is None or not _drops(layer):
        return values
    if type(layer) is nn.Dropout:
        return dropout(values, layer.p)
    other: Tensor = layer(values)
    return other


def _drops(layer: nn.Module) -> bool:
    """Return whether a dropout layer changes its input."""
    idle = isinstance(layer, nn.Identity) or not getattr(layer, "p", True)
    return layer.training and not idle


def _bias(position_bias: Tensor | None, mask: Tensor) -> Tensor | None:
    real = mask[:, None, None, :]
    whole, longest = bool(mask.all()), mask.shape[1]
    if position_bias is None:
        return None if whole else real
    position_bias = position_bias[:, :, :longest, :longest]
    return position_bias if whole else position_bias.masked_fill(~real, -torch.inf)


def _blocks(network: Any) -> list[Block]:
    path, names = _PARTS[network.config.model_type]
    return [
        Block._make(attrgetter(name)(layer) if name else None for name in names)
        for layer in attrgetter(path)(network)
    ]


_FEED_FORWARD = (
    *("intermediate.dense", "intermediate.intermediate_act_fn"),
    *("output.dense", "output.dropout", "output.LayerNorm"),
)
_BERT = (
    "encoder.layer",
    (
        *("attention.self.query", "attention.self.key", "attention.self.value"),
        *("attention.self.dropout", "attention.output.dense", "attention.output.dropout"),
        *("attention.output.LayerNorm", *_FEED_FORWARD),
    ),
)
_MPNET = (
    "encoder.layer",
    (
        *("attention.attn.q", "attention.attn.k", "attention.attn.v"),
        *("attention.attn.dropout", "attention.attn.o"),
        *("attention.dropout", "attention.LayerNorm", *_FEED_FORWARD),
    ),
)
_DISTILBERT = (
    "transformer.layer",
    (
        *("attention.q_lin", "attention.k_lin", "attention.v_lin"),
        *("attention.dropout", "attention.out_lin"),
        *("", "sa_layer_norm"),  # no dropout after attention
        *("ffn.lin1", "ffn.activation", "ffn.lin2", "ffn.dropout"),
        "output_layer_norm",
    ),
)
# Where the layers of a network are, and in each layer the parts of a `Block`.
_PARTS: dict[str, tuple[str, tuple[str, ...]]] = {
    **dict.fromkeys(("bert", "camembert", "roberta", "xlm-roberta"), _BERT),
    **{"distilbert": _DISTILBERT, "mpnet": _MPNET},
}
