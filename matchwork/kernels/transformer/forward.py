"""The vectors of a transformer's last layer: by hand where possible, else in few passes."""

from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor

from matchwork.kernels.switch import kernel
from matchwork.kernels.transformer import ragged_forward
from matchwork.kernels.transformer.by_length import in_passes

# Multiplications that take as long as starting one more pass, or one more span (ragged_forward).
_PASS_WORK, _SPAN_WORK = {"cpu": 3e8, "gpu": 3e11}, 5e7

# Padding changes the vectors of these (convolutions, Fourier transforms, landmarks, hashes), so
# they only see rows of equal length together.
_PADDING_SENSITIVE = ("convbert", "fnet", "mobilebert", "nystromformer", "yoso")


def _plain(
    network: Any,
    ids: Tensor,
    mask: Tensor,
    options: Mapping[str, Tensor],
    layer_weights: int,
    first: bool = False,
) -> Tensor:
    """Call the network on all rows at once, or by length if it needs that."""
    if network.config.model_type in _PADDING_SENSITIVE:
        return _in_passes(network, ids, mask, options, min_saving=0)
    return _call(network, ids, _readable(mask), options)


@kernel("transformer", plain=_plain)
def last_hidden_state(
    network: Any,
    ids: Tensor,
    mask: Tensor,
    options: Mapping[str, Tensor],
    layer_weights: int,
    first: bool = False,
) -> Tensor:
    """Return the vectors after the last layer, shape (batch, tokens, dim); arbitrary at padding.

    `ids`, `mask` (True = real token) and `options` such as `token_type_ids` have the shape (batch,
    tokens); the first token is always read, and with `first` only its vector is needed. The number
    of weights in all layers, `layer_weights`, says what a token costs.
    """
    spans = ragged_forward.can_run(network)
    work = _SPAN_WORK if spans else _PASS_WORK["cpu" if network.device.type == "cpu" else "gpu"]
    saving = round(work / max(1, layer_weights))  # tokens that take that many multiplications
    if spans:
        return ragged_forward.run(network, ids, _readable(mask), first, saving, **options)
    sensitive = network.config.model_type in _PADDING_SENSITIVE
    return _in_passes(network, ids, mask, options, 0 if sensitive else saving)


def _in_passes(
    network: Any, ids: Tensor, mask: Tensor, options: Mapping[str, Tensor], min_saving: int
) -> Tensor:
    readable = _readable(mask)

    def run(rows: Tensor, longest: int) -> Tensor:
        chosen = {name: values[rows, :longest] for name, values in options.items()}
        return _call(network, ids[rows, :longest], readable[rows, :longest], chosen)

    return in_passes(run, mask.sum(dim=1), min_saving)


def _call(network: Any, ids: Tensor, mask: Tensor, options: Mapping[str, Tensor]) -> Tensor:
    output = network(input_ids=ids, attention_mask=mask.long(), **options)
    vectors: Tensor = output.last_hidden_state
    return vectors


def _readable(mask: Tensor) -> Tensor:
    """Unmask every row's first token: attention over no token at all is NaN."""
    return mask.index_fill(1, mask.new_zeros(1, dtype=torch.long), True)
