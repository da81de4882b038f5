"""BERT and its kin computed by hand on a CPU: the same vectors, less work.

Rows of similar length make a span. Layers see the tokens of all spans as one long list, and only
attention looks at one span after the other, so that little is computed of padding. Where one
vector of a text is asked for, the last layer computes no other. Weights are those of the network.
"""

from collections.abc import Callable
from itertools import pairwise
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional

from matchwork.kernels.by_length import pass_ends
from matchwork.kernels.dropout import dropped
from matchwork.kernels.linear import apply


class Block(NamedTuple):
    """The parts of one layer, whatever its network calls them."""

    query: nn.Module
    key: nn.Module
    value: nn.Module
    seen_dropout: nn.Module
    mix: nn.Module
    mix_dropout: nn.Module | None
    attention_norm: nn.Module
    widen: nn.Module
    activation: Callable[[Tensor], Tensor]
    narrow: nn.Module
    narrow_dropout: nn.Module
    norm: nn.Module


class Span(NamedTuple):
    """So many rows of similar length, the longest of which has `width` tokens.

    `bias` says what attention may see, or is added to it; None: everything, and nothing.
    """

    rows: int
    width: int
    bias: Tensor | None


def can_run(network: Any) -> bool:
    """Whether this is a network that `run` knows, as it was made, used on a CPU."""
    config = network.config
    return (
        config.model_type in _BLOCKS
        and network.device.type == "cpu"
        and not getattr(config, "is_decoder", False)
        and not getattr(config, "pruned_heads", None)
        and getattr(config, "position_embedding_type", None) in (None, "absolute")
        and not (network.training and network.is_gradient_checkpointing)
        and not any(map(_is_watched, network.modules()))
    )


def _is_watched(part: nn.Module) -> bool:
    """Whether somebody looks at what it is given, or has put something else in its place."""
    before = part._forward_pre_hooks or part._backward_pre_hooks
    return bool(before or part._forward_hooks or part._backward_hooks or "forward" in vars(part))


def run(
    network: Any, ids: Tensor, mask: Tensor, first: bool = False, worth: int = 1, **options: Tensor
) -> Tensor:
    """Vectors after the last layer, shape (batch, tokens, dim); with `first`, (batch, 1, dim).

    Every row has a token. Those of padding get vectors that mean nothing; a further span must
    save `worth` of them.
    """
    lengths, order = mask.sum(dim=1).sort(stable=True)
    given = {name: values[order] for name, values in options.items()}
    padded: Tensor = network.embeddings(input_ids=ids[order], **given)
    spans = _spans(_places(network, padded), mask[order], lengths.tolist(), worth)
    rows = torch.split(padded, [span.rows for span in spans])
    vectors = _as_list([part[:, : span.width] for part, span in zip(rows, spans, strict=True)])
    heads, blocks = network.config.num_attention_heads, _BLOCKS[network.config.model_type](network)
    for block in blocks[: -1 if first else None]:
        vectors = _layer(block, vectors, vectors, spans, heads)
    if first:
        asked = torch.cat([part[:, 0] for part in _by_span(vectors, spans)])
        for block in blocks[-1:]:
            asked = _layer(block, vectors, asked, spans, heads)
        return asked.unsqueeze(1)[order.argsort()]
    width = spans[-1].width
    parts = [
        functional.pad(part, (0, 0, 0, width - part.shape[1])) for part in _by_span(vectors, spans)
    ]
    return torch.cat(parts)[order.argsort()]


def _spans(places: Tensor | None, mask: Tensor, lengths: list[int], worth: int) -> list[Span]:
    """Rows, shortest first, in as many spans as pay."""
    return [
        Span(end - start, lengths[end - 1], _bias(places, mask[start:end, : lengths[end - 1]]))
        for start, end in pairwise([0, *pass_ends(lengths, worth)])
    ]


def _by_span(tokens: Tensor, spans: list[Span]) -> list[Tensor]:
    """A list of all tokens, cut into (rows, tokens, dim)."""
    parts = torch.split(tokens, [span.rows * span.width for span in spans])
    return [part.view(span.rows, span.width, -1) for part, span in zip(parts, spans, strict=True)]


def _as_list(parts: list[Tensor]) -> Tensor:
    """The inverse of `_by_span`."""
    flat = [part.flatten(0, 1) for part in parts]
    return torch.cat(flat) if len(flat) > 1 else flat[0]


def _layer(block: Block, vectors: Tensor, asked: Tensor, spans: list[Span], heads: int) -> Tensor:
    """New vectors in place of `asked`: of all tokens, or of the first of every row."""
    query, key, value = (
        apply(part, given)
        for part, given in ((block.query, asked), (block.key, vectors), (block.value, vectors))
    )
    asking = spans if asked is vectors else [Span(span.rows, 1, None) for span in spans]
    sides = (_by_span(query, asking), _by_span(key, spans), _by_span(value, spans))
    seen = []
    for span, *parts in zip(spans, *sides, strict=True):
        q, k, v = (_by_head(part, heads) for part in parts)
        seen.append(_attend(q, k, v, span.bias, block.seen_dropout).transpose(1, 2).flatten(2))
    mixed = _drop(apply(block.mix, _as_list(seen)), block.mix_dropout)
    attended = block.attention_norm(mixed + asked)
    wide = block.activation(apply(block.widen, attended))
    narrow = _drop(apply(block.narrow, wide), block.narrow_dropout)
    result: Tensor = block.norm(narrow + attended)
    return result


def _by_head(part: Tensor, heads: int) -> Tensor:
    return part.view(*part.shape[:2], heads, -1).transpose(1, 2)


def _attend(
    query: Tensor, key: Tensor, value: Tensor, bias: Tensor | None, dropout: nn.Module
) -> Tensor:
    """Scaled dot-product attention; PyTorch's own is slow on a CPU in 16 bits, or with dropout."""
    if bias is not None:
        bias = bias[:, :, : query.shape[2]]
        bias = bias if bias.dtype == torch.bool else bias.to(query.dtype)
    if not _drops(dropout) and query.dtype != torch.bfloat16:
        return functional.scaled_dot_product_attention(query, key, value, bias)
    scores = (query * query.shape[-1] ** -0.5) @ key.mT
    if bias is not None and bias.dtype == torch.bool:
        scores = scores.masked_fill_(~bias, -torch.inf)
    elif bias is not None:
        scores = scores + bias
    return _drop(scores.softmax(dim=-1).to(value.dtype), dropout) @ value


def _drop(values: Tensor, dropout: nn.Module | None) -> Tensor:
    if dropout is None or not _drops(dropout):
        return values
    if type(dropout) is nn.Dropout:
        return dropped(values, dropout.p)
    other: Tensor = dropout(values)
    return other


def _drops(dropout: nn.Module) -> bool:
    """Whether it does anything to what it is given."""
    idle = isinstance(dropout, nn.Identity) or not getattr(dropout, "p", True)
    return dropout.training and not idle


def _places(network: Any, padded: Tensor) -> Tensor | None:
    """What the distance of two tokens adds to attention, (1, heads, tokens, tokens)."""
    if network.config.model_type != "mpnet":
        return None
    places: Tensor = network.encoder.compute_position_bias(padded[:1])
    return places


def _bias(places: Tensor | None, mask: Tensor) -> Tensor | None:
    real = mask[:, None, None, :]
    whole, longest = bool(mask.all()), mask.shape[1]
    if places is None:
        return None if whole else real
    places = places[:, :, :longest, :longest]
    return places if whole else places.masked_fill(~real, -torch.inf)


def _bert(network: Any) -> list[Block]:
    return [
        Block(
            *(layer.attention.self.query, layer.attention.self.key, layer.attention.self.value),
            *(layer.attention.self.dropout, layer.attention.output.dense),
            *(layer.attention.output.dropout, layer.attention.output.LayerNorm),
            *(layer.intermediate.dense, layer.intermediate.intermediate_act_fn),
            *(layer.output.dense, layer.output.dropout, layer.output.LayerNorm),
        )
        for layer in network.encoder.layer
    ]


def _mpnet(network: Any) -> list[Block]:
    return [
        Block(
            *(layer.attention.attn.q, layer.attention.attn.k, layer.attention.attn.v),
            *(layer.attention.attn.dropout, layer.attention.attn.o),
            *(layer.attention.dropout, layer.attention.LayerNorm),
            *(layer.intermediate.dense, layer.intermediate.intermediate_act_fn),
            *(layer.output.dense, layer.output.dropout, layer.output.LayerNorm),
        )
        for layer in network.encoder.layer
    ]


def _distilbert(network: Any) -> list[Block]:
    return [
        Block(
            *(layer.attention.q_lin, layer.attention.k_lin, layer.attention.v_lin),
            *(layer.attention.dropout, layer.attention.out_lin),
            None,
            layer.sa_layer_norm,
            *(layer.ffn.lin1, layer.ffn.activation, layer.ffn.lin2, layer.ffn.dropout),
            layer.output_layer_norm,
        )
        for layer in network.transformer.layer
    ]


_BLOCKS: dict[str, Callable[[Any], list[Block]]] = {
    "bert": _bert,
    "camembert": _bert,
    "distilbert": _distilbert,
    "mpnet": _mpnet,
    "roberta": _bert,
    "xlm-roberta": _bert,
}
