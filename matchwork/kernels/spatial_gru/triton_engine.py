"""The GPU engine: one Triton program per pair and direction sweeps its anti-diagonals.

The forward pass is a single kernel. Only the states are saved for the backward pass, from which
matrix products recompute all logits at once; a second kernel then sweeps back through the cells,
the only sequential part, and replaces every logit by its gradient. Matrix products of these with
the cells' inputs are the gradients of weights and inputs. There are no atomic additions, so that
the result is deterministic.
"""

import os
from typing import Any, NamedTuple

import torch
import triton
from torch import Tensor
from torch.autograd.function import once_differentiable
from torch.nn import functional

from matchwork.kernels.spatial_gru.rectangles import rectangle_mask
from matchwork.kernels.spatial_gru.reference import neighbours_of
from matchwork.kernels.spatial_gru.triton_backward import sweep_backward
from matchwork.kernels.spatial_gru.triton_forward import sweep_forward
from matchwork.kernels.spatial_gru.weights import Activation, SpatialWeights

_INTERPRETED = os.environ.get("TRITON_INTERPRET") == "1"  # Triton reads it on import
_OPEN = 100.0  # logit of a gate that is exactly 1 in float32


class Launch(NamedTuple):
    """Launch settings of a kernel: cells per tile and warps per program."""

    cells: int
    warps: int


# Measured on an H200 at 10 units and channels, one direction and two.
FORWARD = Launch(cells=16, warps=4)
BACKWARD = Launch(cells=64, warps=4)
_MANY_WEIGHTS = Launch(cells=16, warps=8)


def supports(device_type: str, dtype: torch.dtype) -> str | None:
    """Return why the kernels cannot run, or None: float32 on CUDA, or Triton's interpreter."""
    if device_type != "cuda" and not (device_type == "cpu" and _INTERPRETED):
        return f"its kernels need CUDA tensors, got {device_type}: move them to a GPU"
    if dtype != torch.float32:
        return f"its kernels compute in float32, not in {dtype}"
    return None


def scan(scans: Tensor, lengths: Tensor, weights: SpatialWeights, activation: Activation) -> Tensor:
    """Return the states of all cells; see `engines.Engine.scan`."""
    states: Tensor = _Sweep.apply(  # type: ignore[no-untyped-call]
        scans, lengths, activation == "tanh", *weights
    )
    return states


class _Sweep(torch.autograd.Function):
    """Forward from the first corner to the last, backward from the last to the first."""

    @staticmethod
    def forward(
        ctx: Any, scans: Tensor, lengths: Tensor, tanh: bool, *parts: Tensor | None
    ) -> Tensor:
        scans, lengths = scans.contiguous(), lengths.contiguous()
        weights = SpatialWeights._make(None if p is None else p.contiguous() for p in parts)
        directions, batch, rows, columns, channels = scans.shape
        states = scans.new_zeros(directions, batch, rows, columns, weights.units)
        cut = _cut(FORWARD, weights.units, channels)
        cut |= {"GATES": weights.gate.shape[2], "RESET": weights.reset is not None, "TANH": tanh}
        arguments = (scans, lengths, *weights, states, batch, rows, columns)
        sweep_forward[(directions * batch,)](*arguments, **cut)
        ctx.save_for_backward(scans, lengths, states, *weights)
        ctx.tanh = tanh
        return states

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor | None, ...]:
        scans, lengths, states, *parts = ctx.saved_tensors
        leaves = SpatialWeights._make(
            None if part is None else part.detach().requires_grad_() for part in parts
        )
        with torch.enable_grad():
            packed = _packed(leaves)
        with torch.autocast(scans.device.type, enabled=False):
            to_scans, to_packed = _backward(gradients[0], scans, lengths, states, *packed, ctx.tanh)
            present = [part for part in leaves if part is not None]
            to_leaves = iter(torch.autograd.grad(packed, present, to_packed))
        return to_scans, None, None, *(None if part is None else next(to_leaves) for part in leaves)


def _packed(weights: SpatialWeights) -> tuple[Tensor, Tensor]:
    """Return the weights as the two matrices of the backward pass, differentiably.

    The first, (D, 3u + c + 1, 8u), maps left, top, diagonal, s, 1 to the logits of a cell: gates
    by unit and side, reset gates by side and unit, candidate. The second, (D, 3u, u), maps the
    neighbours, after their reset gates, to the candidate. A shared gate becomes one per unit;
    missing reset gates become open ones.
    """
    units, around = weights.units, weights.gate.shape[-1]
    gate = torch.cat([weights.gate, weights.gate_bias.unsqueeze(-1)], dim=-1)
    gate = gate.expand(-1, -1, units, -1).permute(0, 3, 2, 1).flatten(2)
    if weights.reset is None or weights.reset_bias is None:
        reset = gate.new_full((weights.directions, 1, 3 * units), _OPEN)
        reset = functional.pad(reset, (0, 0, around, 0))
    else:
        reset = torch.cat([weights.reset, weights.reset_bias.unsqueeze(-1)], dim=-1)
        reset = reset.expand(-1, -1, units, -1).permute(0, 3, 1, 2).flatten(2)
    candidate = torch.cat([weights.input, weights.bias.unsqueeze(-1)], dim=-1).mT
    candidate = functional.pad(candidate, (0, 0, 3 * units, 0))
    matrix = torch.cat([gate, reset, candidate], dim=-1)
    top, left, rest = matrix[:, :units], matrix[:, units : 2 * units], matrix[:, 2 * units :]
    return torch.cat([left, top, rest], dim=1), weights.state.mT.contiguous()


def _backward(
    gradient: Tensor, scans: Tensor, lengths: Tensor, states: Tensor, *packed_and_tanh: Any
) -> tuple[Tensor, tuple[Tensor, Tensor]]:
    """Return the gradients of the inputs and of both matrices."""
    matrix, recall, tanh = packed_and_tanh
    directions, batch, rows, columns, channels = scans.shape
    units = states.shape[-1]
    outside = ~rectangle_mask(lengths, rows, columns).unsqueeze(-1)
    # Every cell's left, top, diagonal, s, 1, (D, cells, 3u + c + 1); zeros outside.
    one = scans.new_ones(()).expand_as(scans[..., :1])
    around = torch.cat([*neighbours_of(states), scans, one], dim=-1)
    around = around.masked_fill_(outside, 0.0).flatten(1, 3)
    logits = around @ matrix
    memory = logits[..., 4 * units : 7 * units].sigmoid_() * around[..., : 3 * units]
    logits[..., 7 * units :].baddbmm_(memory, recall)
    wanted = states.new_empty(directions, batch, 3, rows, 7 * units)
    arrays = (lengths, matrix, recall, states, gradient.contiguous(), logits, wanted)
    cut = _cut(BACKWARD, units, channels)
    sweep_backward[(directions * batch,)](*arrays, batch, rows, columns, TANH=tanh, **cut)
    to_scans = (logits @ matrix[:, 3 * units : -1].mT).view_as(scans).masked_fill_(outside, 0.0)
    to_recall = _product_of_cells(memory, logits[..., 7 * units :], batch)
    return to_scans, (_product_of_cells(around, logits, batch), to_recall)


def _product_of_cells(features: Tensor, logits: Tensor, batch: int) -> Tensor:
    """Sum features x logits over all cells: first per pair, which keeps a GPU busy."""
    directions, cells, num_features = features.shape
    pairs, size = directions * batch, cells // batch
    of_pairs = torch.bmm(
        features.reshape(pairs, size, num_features).mT, logits.reshape(pairs, size, -1)
    )
    return of_pairs.view(directions, batch, num_features, -1).sum(1)


def _cut(launch: Launch, units: int, channels: int) -> dict[str, int]:
    """Return the compile-time settings of a kernel."""
    reach = max(16, triton.next_power_of_2(3 * units))
    resident = reach <= 32 and channels <= 16  # larger weights do not fit in registers
    cells, warps = launch if resident else _MANY_WEIGHTS
    return {
        "CHANNELS": channels,
        "UNITS": units,
        "WIDE": max(16, triton.next_power_of_2(units)),
        "REACH": reach,
        "CELLS": cells,
        "RESIDENT": resident,
        "num_warps": warps,
        # A pipelined loop would read states before the sweep has written them.
        "num_stages": 1,
    }
