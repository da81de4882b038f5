"""BERT and its kin computed by hand where nothing is learnt: the same vectors, less work.

Two things are saved: what only training needs, and, where one vector of a text is asked for,
what the last layer would compute of all others. Weights are those of the network itself.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn
from torch.nn.functional import scaled_dot_product_attention


class Block(NamedTuple):
    """The parts of one layer, whatever its network calls them."""

    query: nn.Module
    key: nn.Module
    value: nn.Module
    mix: nn.Module
    attention_norm: nn.Module
    widen: nn.Module
    activation: Callable[[Tensor], Tensor]
    narrow: nn.Module
    norm: nn.Module


def can_run(network: Any) -> bool:
    """Whether this is a network that `run` knows, used on a CPU and without learning."""
    return (
        network.config.model_type in _BLOCKS
        and not network.training
        and not torch.is_grad_enabled()
        and not getattr(network.config, "is_decoder", False)
        and network.device.type == "cpu"
    )


def run(network: Any, ids: Tensor, mask: Tensor, first: bool = False, **options: Tensor) -> Tensor:
    """Vectors after the last layer, shape (batch, tokens, dim); with `first`, (batch, 1, dim)."""
    blocks = _BLOCKS[network.config.model_type](network)
    vectors: Tensor = network.embeddings(input_ids=ids, **options)
    bias = _bias(network, vectors, mask)
    for number, block in enumerate(blocks, start=1):
        asked = vectors[:, :1] if first and number == len(blocks) else vectors
        vectors = _layer(block, vectors, asked, bias, network.config.num_attention_heads)
    return vectors[:, :1] if first else vectors


def _layer(block: Block, vectors: Tensor, asked: Tensor, bias: Tensor | None, heads: int) -> Tensor:
    """New vectors in place of `asked`, the first of `vectors` or all."""
    query, key, value = (
        part(given).unflatten(-1, (heads, -1)).transpose(1, 2)
        for part, given in ((block.query, asked), (block.key, vectors), (block.value, vectors))
    )
    if bias is not None:
        bias = bias[:, :, : asked.shape[1]]
        bias = bias if bias.dtype == torch.bool else bias.to(query.dtype)
    seen = scaled_dot_product_attention(query, key, value, bias)
    attended = block.attention_norm(block.mix(seen.transpose(1, 2).flatten(2)) + asked)
    result: Tensor = block.norm(
        block.narrow(block.activation(block.widen(attended))) + attended,
    )
    return result


def _bias(network: Any, vectors: Tensor, mask: Tensor) -> Tensor | None:
    """What attention may see, or what is added to it; None: everything, and nothing."""
    real = mask[:, None, None, :]
    if network.config.model_type == "mpnet":
        places: Tensor = network.encoder.compute_position_bias(vectors)
        return places.masked_fill(~real, -torch.inf)
    return None if bool(mask.all()) else real


def _bert(network: Any) -> list[Block]:
    return [
        Block(
            *(layer.attention.self.query, layer.attention.self.key, layer.attention.self.value),
            *(layer.attention.output.dense, layer.attention.output.LayerNorm),
            *(layer.intermediate.dense, layer.intermediate.intermediate_act_fn),
            *(layer.output.dense, layer.output.LayerNorm),
        )
        for layer in network.encoder.layer
    ]


def _mpnet(network: Any) -> list[Block]:
    return [
        Block(
            *(layer.attention.attn.q, layer.attention.attn.k, layer.attention.attn.v),
            *(layer.attention.attn.o, layer.attention.LayerNorm),
            *(layer.intermediate.dense, layer.intermediate.intermediate_act_fn),
            *(layer.output.dense, layer.output.LayerNorm),
        )
        for layer in network.encoder.layer
    ]


def _distilbert(network: Any) -> list[Block]:
    return [
        Block(
            *(layer.attention.q_lin, layer.attention.k_lin, layer.attention.v_lin),
            *(layer.attention.out_lin, layer.sa_layer_norm),
            *(layer.ffn.lin1, layer.ffn.activation, layer.ffn.lin2, layer.output_layer_norm),
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
