"""The GPU engine against nested loops in float64: on a GPU, or with TRITON_INTERPRET=1 without."""

import os
from typing import Any

import pytest
import torch
from spatial_setup import parameters, random_grid, random_weights
from torch import Tensor

from matchwork.errors import ConfigError
from matchwork.kernels.spatial_gru import SpatialWeights, spatial_gru

pytest.importorskip("triton")

from matchwork.kernels.spatial_gru import triton_engine

INTERPRETED = os.environ.get("TRITON_INTERPRET") == "1"
DEVICE = "cpu" if INTERPRETED else "cuda"
needs_kernels = pytest.mark.skipif(
    not INTERPRETED and not torch.cuda.is_available(),
    reason="no GPU, and TRITON_INTERPRET is not 1",
)
on_a_gpu = pytest.mark.skipif(
    INTERPRETED or not torch.cuda.is_available(), reason="too large for the interpreter"
)
CLOSE: dict[str, Any] = {"rtol": 1e-4, "atol": 1e-5}


def _on(
    engine: str, inputs: Tensor, lengths: Tensor, weights: SpatialWeights, **options: Any
) -> list[Tensor]:
    """States and gradients in float64, whatever the engine computed them in."""
    device, dtype = ("cpu", torch.float64) if engine == "reference" else (DEVICE, torch.float32)
    weights = weights._make(
        None if part is None else part.detach().to(device, dtype).requires_grad_()
        for part in weights
    )
    inputs = inputs.detach().to(device, dtype).requires_grad_()
    states = spatial_gru(inputs, lengths.to(device), weights, engine=engine, **options)
    outer = torch.randn(states.shape, generator=torch.Generator().manual_seed(9))
    leaves = [inputs, *parameters(weights)]
    gradients = torch.autograd.grad(states, leaves, outer.to(device, dtype))
    return [part.detach().cpu().double() for part in (states, *gradients)]


def _assert_equal(
    inputs: Tensor, lengths: Tensor, weights: SpatialWeights, **options: Any
) -> list[Tensor]:
    # Sums over many cells are as exact as their largest terms.
    expected = _on("reference", inputs, lengths, weights, **options)
    found = _on("triton", inputs, lengths, weights, **options)
    for ours, theirs in zip(found, expected, strict=True):
        scale = max(1.0, float(theirs.abs().max()))
        torch.testing.assert_close(ours / scale, theirs / scale, **CLOSE)
    return found


@needs_kernels
@pytest.mark.parametrize("resets", [False, True])
@pytest.mark.parametrize("shared", [False, True])
@pytest.mark.parametrize(("directions", "activation"), [(1, "identity"), (2, "tanh")])
def test_equals_nested_loops(resets: bool, shared: bool, directions: int, activation: str) -> None:
    lengths = torch.tensor([[2, 3], [1, 2]])
    weights = random_weights(directions, 2, 1, shared=shared, resets=resets)
    _assert_equal(random_grid(lengths, 1), lengths, weights, activation=activation)


@needs_kernels
@pytest.mark.parametrize(
    ("units", "channels"), [(1, 1), (3, 2), (5, 7), (11, 2), (2, 17), (18, 33)]
)
def test_any_width(units: int, channels: int) -> None:
    lengths = torch.tensor([[2, 2]])
    _assert_equal(random_grid(lengths, channels), lengths, random_weights(1, units, channels))


@needs_kernels
def test_diagonals_longer_than_a_tile(monkeypatch: pytest.MonkeyPatch) -> None:
    narrow = triton_engine.Launch(cells=2, warps=1)
    monkeypatch.setattr(triton_engine, "FORWARD", narrow)
    monkeypatch.setattr(triton_engine, "BACKWARD", narrow)
    lengths = torch.tensor([[5, 3]])
    _assert_equal(random_grid(lengths, 1), lengths, random_weights(1, 2, 1))


@needs_kernels
def test_whatever_lies_in_the_padding_changes_nothing() -> None:
    lengths = torch.tensor([[2, 1], [0, 2], [1, 0]])
    weights = random_weights(2, 2, 1)
    grid = random_grid(lengths, 1, padding=(1, 1))
    clean = _on("triton", grid, lengths, weights)
    outside = torch.ones(grid.shape[:3], dtype=torch.bool)
    outside[0, :2, :1] = False
    grid[outside] = float("nan")
    for ours, theirs in zip(_on("triton", grid, lengths, weights), clean, strict=True):
        torch.testing.assert_close(ours, theirs, rtol=0, atol=0)
    states, gradient = clean[:2]
    assert not states[:, outside].any() and not gradient[outside].any()
    assert states[:, ~outside].all() and gradient[~outside].all()


@needs_kernels
def test_lengths_past_the_grid_count_as_its_own() -> None:
    """Nobody looks at lengths on a GPU: the kernels must not leave their memory."""
    weights = random_weights(1, 2, 1, dtype=torch.float32)
    weights = weights._make(None if part is None else part.detach().to(DEVICE) for part in weights)
    results = []
    for lengths in ([[2, 3], [2, 3], [0, 1]], [[9, 3], [2, 2**40], [-4, 1]]):
        true = torch.tensor(lengths, device=DEVICE)
        scans = torch.ones(1, 3, 2, 3, 1, device=DEVICE, requires_grad=True)
        states = triton_engine.scan(scans, true, weights, "tanh")
        results.append((states.detach(), *torch.autograd.grad(states.sum(), scans)))
    assert results[0][0].any() and results[0][1].any()
    for expected, found in zip(*results, strict=True):
        torch.testing.assert_close(found, expected, rtol=0, atol=0)


@needs_kernels
def test_inputs_that_do_not_lie_in_a_row() -> None:
    lengths = torch.tensor([[2, 3]])
    grid = random_grid(lengths, 2).transpose(1, 2).contiguous().transpose(1, 2)
    assert not grid.is_contiguous()
    _assert_equal(grid, lengths, random_weights(1, 2, 2))


@needs_kernels
def test_hard_gates_count_the_common_subsequence() -> None:
    """Logits of several hundred overflow no exponential; absent reset gates hide nothing."""
    sharp = 60.0 * torch.tensor([[0.0, 0, 1, 1], [0, 1, 0, 0], [1, 0, 0, 0], [0, 0, 0, 0]])
    weights = SpatialWeights(
        reset=None,
        reset_bias=None,
        gate=sharp.view(1, 4, 1, 4),
        gate_bias=torch.tensor([0.0, 0, 0, -1e4]).view(1, 4, 1),
        input=torch.ones(1, 1, 1),
        state=torch.tensor([0.0, 0, 1]).view(1, 1, 3),
        bias=torch.zeros(1, 1),
    )
    weights = weights._make(None if part is None else part.to(DEVICE) for part in weights)
    same = [[float(a == b) for b in "FACGD"] for a in "ABCDE"]
    grid, lengths = torch.tensor(same, device=DEVICE)[None, ..., None], torch.tensor([[5, 5]])
    states = spatial_gru(grid, lengths.to(DEVICE), weights, activation="identity", engine="triton")
    assert states[0, 0, -1, :, 0].tolist() == pytest.approx([0, 1, 2, 2, 3])


@needs_kernels
@pytest.mark.parametrize("size", [1e-6, 1e-3, 0.2, 0.26, 3.0, 60.0])
def test_tanh_is_exact_near_zero_and_far_out(size: float) -> None:
    plain = random_weights(1, 1, 1, resets=False, dtype=torch.float32)
    weights = plain._make(None if part is None else torch.zeros_like(part) for part in plain)
    weights = weights._replace(input=torch.ones(1, 1, 1))
    weights = weights._make(None if part is None else part.to(DEVICE) for part in weights)
    for sign in (1, -1):
        grid = torch.full((1, 1, 1, 1), sign * size, device=DEVICE)
        lengths = torch.tensor([[1, 1]], device=DEVICE)
        state = spatial_gru(grid, lengths, weights, engine="triton").double().item()
        expected = torch.tensor(sign * size, dtype=torch.float64).tanh().item() / 4
        assert state == pytest.approx(expected, rel=1e-6, abs=0)


@needs_kernels
def test_half_precision() -> None:
    half = random_weights(1, 2, 1, dtype=torch.float16)
    half = half._make(None if part is None else part.detach().to(DEVICE) for part in half)
    lengths = torch.tensor([[2, 2]], device=DEVICE)
    grid = random_grid(lengths.cpu(), 1).to(DEVICE, torch.float16)
    states = spatial_gru(grid, lengths, half, engine="triton")
    assert states.dtype == torch.float16
    single = spatial_gru(grid.float(), lengths, half.to(torch.float32), engine="triton")
    torch.testing.assert_close(states, single.half(), rtol=0, atol=0)


@on_a_gpu
@pytest.mark.parametrize("directions", [1, 2])
@pytest.mark.parametrize(
    ("rows", "columns", "units", "channels"),
    [(50, 50, 10, 10), (17, 90, 10, 10), (70, 66, 16, 3), (9, 8, 33, 40), (6, 5, 64, 64)],
)
def test_large_grids(directions: int, rows: int, columns: int, units: int, channels: int) -> None:
    generator = torch.Generator().manual_seed(3)
    lengths = torch.stack(
        [torch.randint(0, size + 1, (7,), generator=generator) for size in (rows, columns)], dim=1
    )
    lengths[0] = torch.tensor([rows, columns])
    weights = random_weights(directions, units, channels)
    weights = weights._make(
        None if part is None else part.detach() / (3 * units + channels) ** 0.5 for part in weights
    )
    _assert_equal(random_grid(lengths, channels), lengths, weights)


@on_a_gpu
def test_equal_inputs_give_equal_gradients() -> None:
    lengths = torch.tensor([[40, 30], [20, 33], [7, 1]])
    weights, grid = random_weights(2, 10, 10), random_grid(lengths, 10)
    first, again = (_on("triton", grid, lengths, weights) for _ in range(2))
    assert all(torch.equal(one, other) for one, other in zip(first, again, strict=True))


def test_cpu_tensors_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(triton_engine, "_INTERPRETED", False)
    lengths, weights = torch.tensor([[2, 2]]), random_weights(dtype=torch.float32)
    with pytest.raises(ConfigError, match=r"'triton' cannot run .* need CUDA tensors, got cpu"):
        spatial_gru(random_grid(lengths).float(), lengths, weights, engine="triton")


@pytest.mark.parametrize("device", ["cuda", "meta"])
def test_where_it_runs(device: str) -> None:
    assert (triton_engine.supports(device, torch.float32) is None) == (device == "cuda")
    assert triton_engine.supports(device, torch.float64) is not None


def test_double_precision_is_refused_in_words() -> None:
    assert triton_engine.supports("cuda", torch.float64) == (
        "its kernels compute in float32, not in torch.float64"
    )
