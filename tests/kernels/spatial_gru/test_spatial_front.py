"""The front door: which engine runs, odd tensors that work, wrong ones that are named."""

import logging

import pytest
import torch
from spatial_setup import (
    EXACT,
    FAST_ON_CPU,
    LENGTHS,
    ON_CPU,
    random_grid,
    random_weights,
    values_and_gradients,
)

from matchwork.errors import ConfigError, UnknownNameError
from matchwork.kernels.spatial_gru import ENGINES, SpatialWeights, engines, spatial_gru
from matchwork.kernels.spatial_gru.engines import Engine, choose_engine

each_engine = pytest.mark.parametrize("engine", ON_CPU)


def test_unknown_engine() -> None:
    with pytest.raises(UnknownNameError, match=r"no spatial GRU engine named 'diagnal'; did you"):
        spatial_gru(random_grid(), LENGTHS, random_weights(), engine="diagnal")


def test_unknown_activation() -> None:
    with pytest.raises(ConfigError, match=r"no spatial GRU activation named 'tanx'; did you mean"):
        spatial_gru(random_grid(), LENGTHS, random_weights(), activation="tanx")  # type: ignore[arg-type]


def test_an_engine_that_cannot_run_says_why() -> None:
    with pytest.raises(ConfigError, match=r"'triton' cannot run torch.float64 on cpu: .*diagonal"):
        spatial_gru(random_grid(), LENGTHS, random_weights(), engine="triton")


@pytest.mark.parametrize(("device", "wanted"), [("cpu", "native"), ("cuda", "triton")])
def test_auto_takes_the_fastest_that_runs(
    monkeypatch: pytest.MonkeyPatch, device: str, wanted: str
) -> None:
    monkeypatch.setattr(Engine, "supports", lambda self, device_type, dtype: None)
    assert choose_engine("auto", device, torch.float32) is ENGINES[wanted]


def test_auto_on_other_devices_is_plain_pytorch() -> None:
    assert choose_engine("auto", "mps", torch.float32) is ENGINES["diagonal"]


def test_auto_falls_back_with_one_warning(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setitem(engines._FASTEST, "cpu", "absent")
    monkeypatch.setitem(ENGINES._entries, "absent", Engine("absent"))
    with caplog.at_level(logging.INFO, logger="matchwork"):
        for _ in range(3):
            assert choose_engine("auto", "cpu", torch.float32) is ENGINES["diagonal"]
    (record,) = caplog.records
    assert record.name == "matchwork"
    assert "using engine 'diagonal', because 'absent' cannot run: it cannot be" in record.message
    assert "\n" not in record.message
    with pytest.raises(ConfigError, match=r"'absent' cannot run .* cannot be imported"):
        choose_engine("absent", "cpu", torch.float32)


@each_engine
@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_half_precision_is_computed_in_single(engine: str, dtype: torch.dtype) -> None:
    half = random_weights(2, dtype=dtype)
    single = SpatialWeights._make(
        None if part is None else part.detach().float().requires_grad_() for part in half
    )
    grid = random_grid().to(dtype)
    found = values_and_gradients(grid, LENGTHS, half, engine=engine)
    states = spatial_gru(grid.float(), LENGTHS, single, engine=engine)
    assert all(part.dtype == dtype for part in found)
    assert torch.equal(found[0], states.to(dtype))


def test_half_inputs_beside_single_weights() -> None:
    states = spatial_gru(random_grid().half(), LENGTHS, random_weights(dtype=torch.float32))
    assert states.dtype == torch.float16


@pytest.mark.parametrize("engine", FAST_ON_CPU)
def test_autocast_does_not_coarsen(engine: str) -> None:
    weights, grid = random_weights(2, dtype=torch.float32), random_grid().float()
    expected = values_and_gradients(grid, LENGTHS, weights, engine=engine)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        found = values_and_gradients(grid, LENGTHS, weights, engine=engine)
    for ours, theirs in zip(found, expected, strict=True):
        torch.testing.assert_close(ours, theirs, rtol=1e-5, atol=1e-5)


@each_engine
def test_non_contiguous_tensors(engine: str) -> None:
    weights, grid = random_weights(2), random_grid()
    expected = values_and_gradients(grid, LENGTHS, weights, engine=engine)
    strided = SpatialWeights._make(
        None if part is None else part.detach().mT.contiguous().mT.requires_grad_()
        for part in weights
    )
    scattered = grid.permute(3, 1, 0, 2).contiguous().permute(2, 1, 3, 0)
    lengths = LENGTHS.t().contiguous().t()
    assert not (scattered.is_contiguous() or lengths.is_contiguous())
    found = values_and_gradients(scattered, lengths, strided, engine=engine)
    for ours, theirs in zip(found, expected, strict=True):
        torch.testing.assert_close(ours, theirs, **EXACT)


@each_engine
@pytest.mark.parametrize("shape", [(1, 4, 5), (3, 1, 5), (3, 4, 1), (1, 1, 1)])
def test_thin_grids(engine: str, shape: tuple[int, int, int]) -> None:
    lengths = torch.tensor([shape[1:]] * shape[0])
    weights, grid = random_weights(2), random_grid(lengths)
    expected = values_and_gradients(grid, lengths, weights, engine="reference")
    found = values_and_gradients(grid, lengths, weights, engine=engine)
    for ours, theirs in zip(found, expected, strict=True):
        torch.testing.assert_close(ours, theirs, **EXACT)


@each_engine
@pytest.mark.parametrize("shape", [(0, 4, 5), (3, 0, 5), (3, 4, 0), (0, 0, 0)])
def test_grids_without_cells(engine: str, shape: tuple[int, int, int]) -> None:
    lengths = torch.zeros(shape[0], 2, dtype=torch.int32)
    inputs = torch.zeros(*shape, 2, dtype=torch.float64, requires_grad=True)
    states = spatial_gru(inputs, lengths, random_weights(2), engine=engine)
    assert states.shape == (2, *shape, 3)
    states.sum().backward()  # type: ignore[no-untyped-call]
    assert inputs.grad is not None


@each_engine
def test_a_batch_of_empty_texts(engine: str) -> None:
    lengths = torch.zeros(2, 2, dtype=torch.int64)
    grid = torch.ones(2, 3, 3, 2, dtype=torch.float64)
    for found in values_and_gradients(grid, lengths, random_weights(2), engine=engine):
        assert (found == 0).all()


@pytest.mark.parametrize(
    ("shape", "message"),
    [
        ((6, 4, 5), r"inputs must be \(batch, rows, columns, 2 channels\), got \(6, 4, 5\)"),
        ((6, 4, 5, 3), r"2 channels\), got \(6, 4, 5, 3\)"),
        ((5, 4, 5, 2), r"lengths must be \(5, 2\), got \(6, 2\)"),
    ],
)
def test_wrong_shapes(shape: tuple[int, ...], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        spatial_gru(torch.zeros(shape, dtype=torch.float64), LENGTHS, random_weights())


@pytest.mark.parametrize("wrong", [(5, 5), (4, 6), (-1, 2)])
def test_lengths_outside_the_grid(wrong: tuple[int, int]) -> None:
    lengths = LENGTHS.clone()
    lengths[3] = torch.tensor(wrong)
    message = rf"lengths of item 3 are \({wrong[0]}, {wrong[1]}\), outside its grid of 4 rows and 5"
    with pytest.raises(ValueError, match=message):
        spatial_gru(random_grid(), lengths, random_weights())


def test_lengths_are_integers() -> None:
    with pytest.raises(ValueError, match=r"lengths must be integers, got torch.float32"):
        spatial_gru(random_grid(), LENGTHS.float(), random_weights())


@pytest.mark.parametrize("name", ["reset", "reset_bias", "gate", "gate_bias", "state", "bias"])
def test_wrong_weight_shapes(name: str) -> None:
    weights = random_weights()
    wrong = weights._replace(**{name: getattr(weights, name)[..., :-1]})
    with pytest.raises(ValueError, match=rf"{name} weights must be \(1, .*\), got \(1, "):
        spatial_gru(random_grid(), LENGTHS, wrong)


def test_wrong_input_weights() -> None:
    wrong = random_weights()._replace(input=torch.zeros(3, 3, 2))
    with pytest.raises(ValueError, match=r"1 or 2 directions, units, channels\), got \(3, 3, 2\)"):
        spatial_gru(random_grid(), LENGTHS, wrong)


def test_half_a_reset_gate() -> None:
    with pytest.raises(ValueError, match=r"reset and reset_bias go together"):
        spatial_gru(random_grid(), LENGTHS, random_weights()._replace(reset_bias=None))


def test_mixed_types() -> None:
    with pytest.raises(ValueError, match=r"inputs are torch.float32, weights torch.float64"):
        spatial_gru(random_grid().float(), LENGTHS, random_weights())
    with pytest.raises(ValueError, match=r"inputs are torch.int64, weights torch.float32"):
        spatial_gru(random_grid().long(), LENGTHS, random_weights(dtype=torch.float32))
    mixed = random_weights()._replace(bias=torch.zeros(1, 3))
    with pytest.raises(ValueError, match=r"bias weights are torch.float32 on cpu, input weights"):
        spatial_gru(random_grid(), LENGTHS, mixed)
    whole = random_weights().to(torch.int64)
    with pytest.raises(ValueError, match=r"weights must be of a floating type, got torch.int64"):
        spatial_gru(random_grid(), LENGTHS, whole)


def test_mixed_devices() -> None:
    with pytest.raises(ValueError, match=r"inputs are on meta, weights on cpu: use one device"):
        spatial_gru(random_grid().to("meta"), LENGTHS, random_weights())
    with pytest.raises(ValueError, match=r"lengths are on meta, inputs on cpu: use one device"):
        spatial_gru(random_grid(), LENGTHS.to("meta"), random_weights())
