"""Fewer bits for a matcher that only scores: faster, with nearly the same ranking."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Literal, TypeAlias, get_args

import torch
from torch import Tensor, nn

from matchwork.encode import TransformerEncoder
from matchwork.errors import ConfigError
from matchwork.quiet import without_warnings
from matchwork.text import Sequences

if TYPE_CHECKING:
    from matchwork.matcher.matcher import Matcher

Precision: TypeAlias = Literal["32", "bf16", "int8"]
_LARGEST = 63  # of a weight: 7 bits
_SMALLEST = 1e-5
_WORTH = 100_000  # weights: a smaller layer takes as long either way
_SAMPLE = (8, 64)  # texts and pieces that show what the inputs of a layer are like


class Int8Linear(nn.Module):
    """A linear layer whose products are of 8-bit numbers.

    One scale serves all inputs of a batch, so they are first made alike. Columns that are always
    huge are moved and narrowed as `sample`, inputs as they usually are, shows, for which the
    weights make up (Xiao et al., SmoothQuant, 2023); but not in layers that narrow, at the end of
    a feed-forward network, where it is a few tokens that are huge. Rows are divided by their
    largest value as they come; but not in layers that widen, where a norm has just evened them,
    and which would take longest to multiply by it again. Weights take 7 bits: processors without
    VNNI add two products in 16 bits, which must not overflow.
    """

    def __init__(self, linear: nn.Linear, sample: Tensor) -> None:
        super().__init__()
        self.weight, self.bias = linear.weight, linear.bias
        weight = linear.weight.detach().float()
        bias = weight.new_zeros(len(weight)) if linear.bias is None else linear.bias.detach()
        self.evens_columns = linear.in_features <= linear.out_features
        evens_rows = linear.in_features >= linear.out_features
        if self.evens_columns:
            centre = (sample.amax(dim=0) + sample.amin(dim=0)) / 2
            width = (_largest(sample - centre, dim=0) / _largest(weight, dim=0)).sqrt()
            # In 64 bits: rounding depends on the last bit, and that on where weights lie in memory.
            moved = (weight.double() @ centre.double()).float()
            bias, weight = bias + moved, weight * width
            self.factor, self.shift = 1 / width, -centre / width
        self.offset = bias if evens_rows else None
        scales = _largest(weight, dim=1).double() / _LARGEST
        zeros = torch.zeros_like(scales, dtype=torch.int64)
        with without_warnings():  # PyTorch means to replace them, and has nothing yet
            rounded = torch.quantize_per_channel(weight, scales, zeros, 0, torch.qint8)
        added = None if evens_rows else bias
        self.packed = torch.ops.quantized.linear_prepack(rounded, added)

    def forward(self, inputs: Tensor) -> Tensor:
        """As the layer it stands for, but for rounding."""
        if self.training:
            raise ConfigError("a matcher in int8 cannot learn; train it first, then round it")
        if self.evens_columns:
            inputs = torch.addcmul(self.shift, inputs, self.factor)
        if self.offset is None:
            return self._product(inputs)
        sizes = _largest(inputs, dim=-1).unsqueeze(-1)
        return torch.addcmul(self.offset, self._product(inputs / sizes), sizes)

    def _product(self, inputs: Tensor) -> Tensor:
        product: Tensor = torch.ops.quantized.linear_dynamic(inputs, self.packed, False)
        return product


def _largest(values: Tensor, dim: int) -> Tensor:
    """Largest sizes, never nothing; many times faster than the norm."""
    return torch.maximum(values.amax(dim), -values.amin(dim)).clamp_min(_SMALLEST)


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
    for name, (layer, sample) in _sample_inputs(encoder).items():
        place, _, own_name = name.rpartition(".")
        rounded = Int8Linear(layer, sample).train(layer.training)
        setattr(encoder.get_submodule(place), own_name, rounded)


def _sample_inputs(encoder: TransformerEncoder) -> dict[str, tuple[nn.Linear, Tensor]]:
    """The layers that are worth it by name, with the inputs that random texts lead to."""
    found: dict[str, tuple[nn.Linear, Tensor]] = {}

    def keep(name: str) -> Callable[[nn.Module, tuple[Tensor, ...]], None]:
        def hook(layer: nn.Module, inputs: tuple[Tensor, ...]) -> None:
            assert isinstance(layer, nn.Linear)
            found[name] = layer, inputs[0].detach().flatten(0, -2).float()

        return hook

    hooks = [
        layer.register_forward_pre_hook(keep(name))
        for name, layer in encoder.named_modules()
        if isinstance(layer, nn.Linear) and layer.weight.numel() >= _WORTH
    ]
    num_texts, num_pieces = _SAMPLE
    width = min(num_pieces, encoder.max_pair_tokens or num_pieces)
    generator = torch.Generator().manual_seed(0)
    ids = torch.randint(encoder.config.vocab_size, (num_texts, width), generator=generator)
    was_training = encoder.training
    try:
        with torch.no_grad():
            encoder.eval()(Sequences(ids, torch.ones_like(ids, dtype=torch.bool)))
    finally:
        encoder.train(was_training)
        for hook in hooks:
            hook.remove()
    return found


def require_cpu(device: torch.device | str) -> None:
    """Rounded layers have no others to run on."""
    if torch.device(device).type != "cpu":
        raise ConfigError(f'int8 runs on the CPU, not on {device}; use precision "bf16" there')
