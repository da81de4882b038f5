"""Fewer bits for a matcher that only scores: faster, with nearly the same ranking."""

import warnings
from typing import TYPE_CHECKING, Literal, TypeAlias, get_args

import torch
from torch import Tensor, nn

from matchwork.encode import TransformerEncoder
from matchwork.errors import ConfigError

if TYPE_CHECKING:
    from matchwork.rank.matcher import Matcher

Precision: TypeAlias = Literal["32", "bf16", "int8"]
_LARGEST = 63  # of a weight: 7 bits
_SMALLEST = 1e-12
_APART = 8  # columns of the input that are not rounded
_WORTH = 500_000  # weights: a smaller layer takes as long either way
_SAMPLE = 16  # of so many rows, one is looked at to find them


class Int8Linear(nn.Module):
    """A linear layer whose products are of 8-bit numbers.

    Weights are scaled once, output by output, and inputs as they come, row by row; but the few
    columns in which transformers have their huge values stay as they are (Dettmers et al.,
    LLM.int8(), 2022): rounded by them, all other values would be lost. Weights take 7 bits:
    processors without VNNI add two products in 16 bits, which must not overflow.
    """

    def __init__(self, linear: nn.Linear) -> None:
        super().__init__()
        self.weight, self.bias = linear.weight, linear.bias
        weight = linear.weight.detach().float()
        scales = weight.abs().amax(dim=1).clamp_min(_SMALLEST).double() / _LARGEST
        zeros = torch.zeros_like(scales, dtype=torch.int64)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # PyTorch means to replace them, and has nothing yet
            rounded = torch.quantize_per_channel(weight, scales, zeros, 0, torch.qint8)
        self.packed = torch.ops.quantized.linear_prepack(rounded, None)

    def forward(self, inputs: Tensor) -> Tensor:
        """As the layer it stands for, but for rounding."""
        if self.training:
            raise ConfigError("a matcher in int8 cannot learn; train it first, then round it")
        rows = inputs.flatten(0, -2)
        columns = _largest(rows[::_SAMPLE], dim=0).topk(min(_APART, rows.shape[1])).indices
        apart = rows[:, columns] @ self.weight[:, columns].T
        if self.bias is not None:
            apart += self.bias
        rows = rows.index_fill(1, columns, 0.0)
        sizes = _largest(rows, dim=1).clamp_min_(_SMALLEST).unsqueeze(1)
        products = torch.ops.quantized.linear_dynamic(rows.div_(sizes), self.packed, False)
        return torch.addcmul(apart, products, sizes).view(*inputs.shape[:-1], -1)


def _largest(rows: Tensor, dim: int) -> Tensor:
    return torch.maximum(rows.amax(dim), -rows.amin(dim))  # many times faster than the norm


def reduce_precision(matcher: "Matcher", precision: Precision) -> None:
    """Let a matcher score with fewer bits; its weights stay as they are, and are what is saved."""
    if precision not in get_args(Precision):
        known = ", ".join(get_args(Precision))
        raise ConfigError(f"no precision {precision!r}; there are {known}")
    if precision == matcher.precision:
        return
    if matcher.precision == "int8":
        raise ConfigError(f"a matcher in int8 stays so; open it again for {precision!r}")
    if precision == "int8":
        _round_linear_layers(matcher)
    matcher.precision = precision


def _round_linear_layers(matcher: "Matcher") -> None:
    """The large ones of the transformer, which take the time."""
    encoder = matcher.model.encoder
    if not isinstance(encoder, TransformerEncoder):
        raise ConfigError(
            f"int8 is for transformers, and {matcher.name} reads {encoder.kind} vectors; leave "
            "precision out"
        )
    require_cpu(matcher.device)
    linear = [(n, m) for n, m in encoder.named_modules() if isinstance(m, nn.Linear)]
    for name, layer in linear:
        if layer.weight.numel() < _WORTH:
            continue
        place, _, own_name = name.rpartition(".")
        setattr(encoder.get_submodule(place), own_name, Int8Linear(layer).train(layer.training))


def require_cpu(device: torch.device | str) -> None:
    """Rounded layers have no others to run on."""
    if torch.device(device).type != "cpu":
        raise ConfigError(f'int8 runs on the CPU, not on {device}; use precision "bf16" there')
