"""The compiled engine: right in every shape, built once, the same on any number of threads."""

import logging
import os
import signal
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from spatial_setup import EXACT, random_grid, random_weights, values_and_gradients

from matchwork.kernels.spatial_gru import engines, native, spatial_gru

needs_compiler = pytest.mark.skipif(
    native.supports("cpu", torch.float32) is not None, reason="no C++ compiler here"
)
# Stands in for a compiler: notes every call, then fails, or gives what was built before.
STAND_IN = """#!{python}
import shutil, sys, time
with open({log!r}, "a") as log:
    log.write(" ".join(sys.argv[1:]) + "\\n")
if "--version" not in sys.argv:
    time.sleep(0.2)
    if {library!r} is None:
        sys.exit("spatial_gru.cpp:1: error: this compiler is a fake")
    shutil.copy({library!r}, sys.argv[sys.argv.index("-o") + 1])
"""


@pytest.fixture
def fresh() -> Iterator[None]:
    """Forget what this process knows of the kernel, before and after."""
    caches = (native.library, native._build_failure, engines._warn)
    for cached in caches:
        cached.cache_clear()
    yield
    for cached in caches:
        cached.cache_clear()


@pytest.fixture
def compiler(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> Callable[[str | None], Callable[[], list[str]]]:
    """Name a stand-in as the compiler; what it gives back reads the calls that it got."""

    def install(library: str | None) -> Callable[[], list[str]]:
        log, script = tmp_path / "calls", tmp_path / "c++"
        script.write_text(STAND_IN.format(python=sys.executable, log=str(log), library=library))
        script.chmod(0o755)
        monkeypatch.setenv("CXX", str(script))
        return lambda: [line for line in log.read_text().splitlines() if "--version" not in line]

    return install


def batch(size: int, most: int, seed: int = 0) -> torch.Tensor:
    generator = torch.Generator().manual_seed(seed)
    lengths = torch.randint(0, most + 1, (size, 2), generator=generator)
    lengths[:1] = most
    return lengths


@needs_compiler
@pytest.mark.parametrize("dtype", [torch.float64, torch.float32])
@settings(max_examples=40)
@given(
    size=st.integers(1, 40),
    most=st.integers(1, 5),
    directions=st.integers(1, 2),
    units=st.integers(1, 17),
    channels=st.integers(1, 17),
    shared=st.booleans(),
    resets=st.booleans(),
    activation=st.sampled_from(["tanh", "identity"]),
    seed=st.integers(0, 1000),
)
def test_equals_reference(
    dtype: torch.dtype,
    size: int,
    most: int,
    directions: int,
    units: int,
    channels: int,
    shared: bool,
    resets: bool,
    activation: str,
    seed: int,
) -> None:
    """Groups that are full and not full, blocks of every height, both types."""
    lengths = batch(size, most, seed)
    weights = random_weights(
        directions, units, channels, shared=shared, resets=resets, seed=seed, dtype=dtype
    )
    # Weights of size 1 / sqrt(columns): identity states would otherwise grow without bound.
    scale = (3 * units + channels) ** -0.5
    weights = type(weights)(
        *(None if part is None else (scale * part).detach().requires_grad_() for part in weights)
    )
    inputs = random_grid(lengths, channels, padding=(1, 2), seed=seed).to(dtype)
    expected, got = (
        values_and_gradients(inputs, lengths, weights, activation=activation, engine=engine)
        for engine in ("reference", "native")
    )
    tolerance: dict[str, Any] = EXACT if dtype == torch.float64 else {"rtol": 1e-4, "atol": 1e-4}
    for right, value in zip(expected, got, strict=True):
        torch.testing.assert_close(value, right, **tolerance)


@needs_compiler
@pytest.mark.parametrize(("dtype", "tolerance"), [(torch.float32, 3e-7), (torch.float64, 1e-15)])
def test_functions_are_exact_to_rounding(dtype: torch.dtype, tolerance: float) -> None:
    """One cell without neighbours is z(x) tanh(x): small, large and in between."""
    steps = torch.cat((torch.logspace(-6, 2, 4000), -torch.logspace(-6, 2, 4000))).to(dtype)
    weights = random_weights(units=1, channels=1, resets=False, dtype=dtype)
    with torch.no_grad():
        for part in weights:
            if part is not None:
                part.zero_()
        weights.input.fill_(1.0)
        weights.gate[0, 0, 0, 3] = 1.0
        lengths = torch.ones(len(steps), 2, dtype=torch.int64)
        states = spatial_gru(steps[:, None, None, None], lengths, weights, engine="native")
    x = steps.double()
    right = torch.tanh(x) * torch.exp(x.clamp(max=600)) / (torch.exp(x.clamp(max=600)) + 3)
    error = (states.flatten().double() - right).abs()
    assert (error / right.abs()).where(right.abs() > 1e-30, error).max() < tolerance


@needs_compiler
def test_padding_may_hold_anything() -> None:
    lengths = batch(20, 5)
    weights = random_weights(2)
    inputs = random_grid(lengths, padding=(2, 1))
    inside = torch.stack([torch.arange(7) < rows for rows in lengths[:, 0]])[:, :, None]
    inside = inside & torch.stack([torch.arange(6) < columns for columns in lengths[:, 1]])[:, None]
    clean, dirty = (
        values_and_gradients(
            inputs.masked_fill(~inside[..., None], filling), lengths, weights, engine="native"
        )
        for filling in (0.0, float("nan"))
    )
    for one, other in zip(clean, dirty, strict=True):
        assert torch.equal(one, other)


@needs_compiler
def test_a_value_that_is_not_a_number_is_passed_on() -> None:
    inputs = torch.zeros(2, 2, 2, 2, dtype=torch.float64)
    inputs[0, 0, 0, 0] = float("nan")
    states = spatial_gru(inputs, torch.full((2, 2), 2), random_weights(), engine="native")
    assert states[:, 0].isnan().any() and not states[:, 1].isnan().any()


@needs_compiler
@pytest.mark.parametrize("shape", [(0, 3, 4), (3, 0, 4), (3, 4, 0), (3, 4, 5)])
def test_nothing_to_scan(shape: tuple[int, int, int]) -> None:
    """Straight to the engine: no batch, no grid, no words."""
    scans = torch.ones(1, *shape, 2, dtype=torch.float64, requires_grad=True)
    weights = random_weights()
    lengths = torch.zeros(shape[0], 2, dtype=torch.int64)
    states = native.scan(scans, lengths, weights, "tanh")
    states.sum().backward()
    assert states.shape == (1, *shape, 3) and not states.any()
    for part in (scans, *weights):
        assert part is not None and part.grad is not None and not part.grad.any()


@needs_compiler
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_threads_change_no_bit(dtype: torch.dtype) -> None:
    lengths = batch(100, 9)
    weights = random_weights(2, 5, 4, dtype=dtype)
    inputs = random_grid(lengths, 4).to(dtype)
    before = torch.get_num_threads()
    try:
        results = []
        for threads in (1, 2, 3, 64):
            torch.set_num_threads(threads)
            results.append(values_and_gradients(inputs, lengths, weights, engine="native"))
    finally:
        torch.set_num_threads(before)
    for result in results[1:]:
        assert all(map(torch.equal, results[0], result))


@needs_compiler
def test_batch_mates_change_no_bit() -> None:
    lengths = batch(50, 6)
    weights, inputs = random_weights(dtype=torch.float32), random_grid(lengths).float()
    together = spatial_gru(inputs, lengths, weights, engine="native")
    alone = [
        spatial_gru(inputs[i : i + 1], lengths[i : i + 1], weights, engine="native")
        for i in range(len(lengths))
    ]
    assert torch.equal(together, torch.cat(alone, dim=1))


@needs_compiler
def test_strided_inputs_and_gradients() -> None:
    lengths = batch(5, 4)
    inputs, weights = random_grid(lengths), random_weights()
    turned = inputs.permute(3, 2, 1, 0).contiguous().permute(3, 2, 1, 0)
    plain, strided = (
        values_and_gradients(values, lengths, weights, engine="native")
        for values in (inputs, turned)
    )
    assert all(map(torch.equal, plain, strided))
    states = spatial_gru(inputs.requires_grad_(), lengths, weights, engine="native")
    states.sum().backward()  # an expanded gradient: one number with strides of zero
    assert inputs.grad is not None and inputs.grad.isfinite().all()


@needs_compiler
def test_only_states_are_saved_beside_what_was_given() -> None:
    lengths = batch(16, 8)
    weights, inputs = random_weights(dtype=torch.float32), random_grid(lengths).float()
    inputs.requires_grad_()
    sizes: list[int] = []

    def count(tensor: torch.Tensor) -> torch.Tensor:
        sizes.append(tensor.numel())
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(count, lambda tensor: tensor):
        states = spatial_gru(inputs, lengths, weights, engine="native")
    given = inputs.numel() + sum(part.numel() for part in weights if part is not None)
    assert sum(sizes) == states.numel() + given + lengths.numel()


@needs_compiler
def test_works_after_fork() -> None:
    lengths = batch(40, 5)
    weights, inputs = random_weights(), random_grid(lengths)
    before = torch.get_num_threads()
    try:
        torch.set_num_threads(2)
        expected = spatial_gru(inputs, lengths, weights, engine="native").detach()
        torch.set_num_threads(1)
        child = os.fork()
        if child == 0:
            signal.alarm(60)  # waiting for threads of the parent must fail, not last forever
            torch.set_num_threads(2)
            same = torch.equal(spatial_gru(inputs, lengths, weights, engine="native"), expected)
            os._exit(0 if same else 1)
        assert os.waitpid(child, 0)[1] == 0
    finally:
        torch.set_num_threads(before)


def test_says_where_it_does_not_run() -> None:
    assert native.supports("cuda", torch.float32) == "it runs on the CPU only"
    assert native.supports("cpu", torch.float16) == "it computes in float32 or float64"


def test_broken_compiler_falls_back_with_a_warning(
    fresh: None,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    monkeypatch.setenv("CXX", "false")
    lengths = batch(3, 3)
    weights, inputs = random_weights(), random_grid(lengths)
    with caplog.at_level(logging.INFO, logger="matchwork"):
        states = [spatial_gru(inputs, lengths, weights) for _ in range(2)]
    assert torch.equal(states[0], spatial_gru(inputs, lengths, weights, engine="diagonal"))
    (record,) = caplog.records
    assert "compiler 'false' failed (" in record.getMessage()
    assert "\n" not in record.getMessage()


def test_compiler_that_is_not_there(fresh: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CXX", "no-such-compiler -O1")
    with pytest.raises(native.BuildError, match="'no-such-compiler' did not run"):
        native.library()
    monkeypatch.delenv("CXX")
    monkeypatch.setenv("PATH", "")
    with pytest.raises(native.BuildError, match=r"no C\+\+ compiler found .* name it in CXX"):
        native.library()


def test_failed_build_tries_plainer_flags_and_says_the_error(
    fresh: None, compiler: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    calls = compiler(None)
    monkeypatch.setenv(native.CACHE_VARIABLE, str(tmp_path / "cache"))
    reason = native.supports("cpu", torch.float32)
    assert reason is not None
    assert "failed (1): spatial_gru.cpp:1: error: this compiler is a fake" in reason
    assert native.supports("cpu", torch.float64) == reason  # and no second attempt
    tunings = [{"-march=native", "-mcpu=native"}.intersection(call.split()) for call in calls()]
    assert tunings == [{"-march=native"}, {"-mcpu=native"}, set()]
    assert not (tmp_path / "cache").exists()


@needs_compiler
def test_library_is_built_once_and_found_again(
    compiler: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    build = native.library.__wrapped__
    calls = compiler(native.library()._name)
    monkeypatch.setenv(native.CACHE_VARIABLE, str(tmp_path / "cache"))
    with ThreadPoolExecutor(2) as pool:  # both build at once, both work
        both = [pool.submit(build) for _ in range(2)]
        assert all(library.result().forward_float32 for library in both)
    (kept,) = (tmp_path / "cache").iterdir()
    assert len(calls()) == 2
    assert build()._name == str(kept)
    assert len(calls()) == 2


@needs_compiler
def test_damaged_library_is_built_anew(
    compiler: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    calls = compiler(native.library()._name)
    monkeypatch.setenv(native.CACHE_VARIABLE, str(tmp_path))
    name = f"spatial_gru-{native._fingerprint([os.environ['CXX']])}.so"
    (tmp_path / name).write_bytes(b"damaged")
    assert native.library.__wrapped__()._name == str(tmp_path / name)
    assert len(calls()) == 1
    assert (tmp_path / name).stat().st_size > 1000


@needs_compiler
def test_unwritable_cache_costs_only_the_build(
    compiler: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    calls = compiler(native.library()._name)
    (tmp_path / "file").write_text("not a folder")
    monkeypatch.setenv(native.CACHE_VARIABLE, str(tmp_path / "file" / "cache"))
    assert native.library.__wrapped__().forward_float32
    assert len(calls()) == 1


@needs_compiler
def test_another_compiler_or_source_makes_another_library(
    compiler: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    first = native._fingerprint(["c++", "-g"]), native._fingerprint(["c++"])
    monkeypatch.setattr(native, "SOURCES", tmp_path)
    assert len({*first, native._fingerprint(["c++"])}) == 3
