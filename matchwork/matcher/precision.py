"""Scoring with fewer bits: faster, with nearly the same ranking."""

from collections.abc import Callable
from typing import Literal, TypeAlias, get_args

import torch
from torch import Tensor, nn

from matchwork.encode import TransformerEncoder
from matchwork.errors import ConfigError
from matchwork.models import Model
from matchwork.quiet import without_warnings
from matchwork.text import Sequences

Precision: TypeAlias = Literal["32", "bf16", "int8"]
_MAX_WEIGHT = 63  # 7 bits
_MIN_SIZE = 1e-5
_MIN_WEIGHTS = 100_000  # a smaller layer takes as long either way
_SAMPLE = (8, 64)  # random texts and subword tokens that show the range of a layer's inputs


class Int8Linear(nn.Module):
    """A linear layer that multiplies 8-bit integers.

    All inputs of a batch share one scale, so their ranges are first made alike.

    - Columns that are always large are shifted and scaled down, by ranges measured on `sample`,
      and the weights scaled up to match (Xiao et al., SmoothQuant, 2023). Not in layers that
      narrow (the end of a feed-forward network), where a few tokens are large instead.
    - Rows are divided by their largest value. Not in layers that widen: a norm comes just before
      them, and multiplying by the row sizes again would take longest there.

    Weights take 7 bits: processors without VNNI add two products in 16 bits, which must not
    overflow.
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
        scales = _largest(weight, dim=1).double() / _MAX_WEIGHT
        zeros = torch.zeros_like(scales, dtype=torch.int64)
        with without_warnings():  # PyTorch means to replace them, and has nothing yet
            rounded = torch.quantize_per_channel(weight, scales, zeros, 0, torch.qint8)
        added = None if evens_rows else bias
        self.packed = torch.ops.quantized.linear_prepack(rounded, added)

    def forward(self, inputs: Tensor) -> Tensor:
        """Return the linear layer's outputs, up to rounding."""
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
    """Largest absolute values, at least `_MIN_SIZE`; many times faster than a norm."""
    return torch.maximum(values.amax(dim), -values.amin(dim)).clamp_min(_MIN_SIZE)


def change_precision(model: Model, old: Precision, new: Precision) -> None:
    """Prepare a model to score with fewer bits; its weights stay as they are for saving."""
    if new not in get_args(Precision):
        raise ConfigError(f"no precision {new!r}; there are {', '.join(get_args(Precision))}")
    if new == old:
        return
    if old == "int8":
        raise ConfigError(f"a matcher in int8 stays so; open it again for {new!r}")
    if new == "int8":
        _round_linear_layers(model)


def _round_linear_layers(model: Model) -> None:
    """Replace the large linear layers of the transformer, which take most of the time."""
    encoder = model.encoder
    if not isinstance(encoder, TransformerEncoder):
        raise ConfigError(
            f"int8 is for transformers, and this matcher reads {encoder.kind} vectors; leave "
            "precision out"
        )
    require_cpu(next(model.parameters()).device)
    for name, (layer, sample) in _sample_inputs(encoder).items():
        parent, _, own_name = name.rpartition(".")
        rounded = Int8Linear(layer, sample).train(layer.training)
        setattr(encoder.get_submodule(parent), own_name, rounded)


def _sample_inputs(encoder: TransformerEncoder) -> dict[str, tuple[nn.Linear, Tensor]]:
    """Large linear layers by name, each with its inputs for random texts."""
    layers: dict[str, tuple[nn.Linear, Tensor]] = {}

    def record(name: str) -> Callable[[nn.Module, tuple[Tensor, ...]], None]:
        def hook(layer: nn.Module, inputs: tuple[Tensor, ...]) -> None:
            assert isinstance(layer, nn.Linear)
            layers[name] = layer, inputs[0].detach().flatten(0, -2).float()

        return hook

    hooks = [
        layer.register_forward_pre_hook(record(name))
        for name, layer in encoder.named_modules()
        if isinstance(layer, nn.Linear) and layer.weight.numel() >= _MIN_WEIGHTS
    ]
    num_texts, num_tokens = _SAMPLE
    width = min(num_tokens, encoder.max_pair_tokens or num_tokens)
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
    return layers


def require_cpu(device: torch.device | str) -> None:
    """Raise a `ConfigError` for another device: int8 layers run on the CPU only."""
    if torch.device(device).type != "cpu":
        raise ConfigError(f'int8 runs on the CPU, not on {device}; use precision "bf16" there')
