"""Every kernel equals plain PyTorch, and the switch turns it off."""

from collections.abc import Callable
from typing import Any, NamedTuple

import pytest
import torch
from torch import Tensor

from matchwork.encode import Encoded
from matchwork.errors import ConfigError, UnknownNameError
from matchwork.interact.similarity import cosine_table
from matchwork.kernels import KERNELS, disabled, enabled, kernel
from matchwork.kernels.linear import linear
from matchwork.kernels.lstm import states_of, states_on_gpu
from matchwork.kernels.spatial_gru import SpatialWeights, spatial_gru
from matchwork.kernels.spatial_gru.engines import choose_engine
from matchwork.kernels.transformer import last_hidden_state
from matchwork.kernels.transformer.dropout import dropout
from matchwork.models.iam.word_loss import word_loss
from matchwork.models.iasm.distance import matrix_distance
from matchwork.models.iasm.interactive_layers import Weights, interactive_layers

SHAPES = {
    "ragged": (4, 1, 6, 3),
    "an empty text": (0, 5, 2),
    "one token": (1, 1, 1),
    "a batch of one": (5,),
    "one token alone": (1,),
}
TOLERANCE = {torch.float64: 1e-9, torch.float32: 2e-4}


class Case(NamedTuple):
    """A call of a kernel, the inputs that have gradients, and the real positions of the result."""

    call: Callable[[], Tensor]
    leaves: list[Tensor]
    real: Tensor | None = None


class Inputs:
    """Random inputs for texts of given lengths."""

    def __init__(self, lengths: tuple[int, ...], dtype: torch.dtype) -> None:
        self.lengths, self.dtype = torch.tensor(lengths), dtype
        self.batch, self.length = len(lengths), max(lengths)
        self.mask = torch.arange(self.length) < self.lengths[:, None]
        self.generator = torch.Generator().manual_seed(7)
        self.leaves: list[Tensor] = []

    def normal(self, *shape: int) -> Tensor:
        values = torch.randn(shape, generator=self.generator, dtype=torch.float64) / 2
        self.leaves.append(values.to(self.dtype).requires_grad_())
        return self.leaves[-1]


def linear_case(given: Inputs) -> Case:
    values, weight, bias = given.normal(given.batch, given.length, 5), given.normal(4, 5), None
    if given.batch > 1:
        bias = given.normal(4)
    return Case(lambda: linear(values, weight, bias), given.leaves)


def dropout_case(given: Inputs) -> Case:
    values = given.normal(given.batch, given.length)
    return Case(lambda: dropout(values, 0.0), given.leaves)


def lstm_case(given: Inputs) -> Case:
    gates = given.normal(2, given.batch, given.length, 24)
    recurrent, bias = given.normal(2, 2, 3, 12), given.normal(2, 24)
    return Case(lambda: states_of(gates, given.mask, recurrent, bias), given.leaves)


def lstm_gpu_case(given: Inputs) -> Case:
    vectors, weight = given.normal(2, given.batch, given.length, 5), given.normal(2, 5, 24)
    recurrent, bias = given.normal(2, 2, 3, 12), given.normal(2, 24)
    return Case(lambda: states_on_gpu(vectors, given.mask, weight, recurrent, bias), given.leaves)


def spatial_case(given: Inputs) -> Case:
    lengths = torch.stack([given.lengths, given.lengths.flip(0)], dim=1)
    grid = given.normal(given.batch, given.length, given.length, 2)
    sizes = [(2, 3, 3, 11), (2, 3, 3), (2, 4, 3, 11), (2, 4, 3), (2, 3, 2), (2, 3, 9), (2, 3)]
    weights = SpatialWeights._make(given.normal(*size) for size in sizes)
    return Case(lambda: spatial_gru(grid, lengths, weights), given.leaves)


def transformer_case(given: Inputs) -> Case:
    transformers = pytest.importorskip("transformers")
    torch.manual_seed(0)
    sizes = {"vocab_size": 50, "hidden_size": 8, "intermediate_size": 12, "num_hidden_layers": 2}
    settings = transformers.BertConfig(**sizes, num_attention_heads=2)
    network = transformers.BertModel(settings, add_pooling_layer=False).to(given.dtype).eval()
    ids = torch.randint(1, 50, given.mask.shape, generator=given.generator)
    types = (ids % 2).long()
    real = given.mask.clone()
    real[:, 0] = True
    return Case(
        lambda: last_hidden_state(network, ids, given.mask, {"token_type_ids": types}, 1),
        list(network.parameters()),
        real,
    )


def two_texts(given: Inputs) -> Callable[[], tuple[Encoded, Encoded]]:
    """Two batches of vectors, zero at padding."""
    left, right = (given.normal(given.batch, given.length, 3) for _ in range(2))
    return lambda: (Encoded(left, given.mask), Encoded(right, given.mask.flip(0)))


def cosines_case(given: Inputs) -> Case:
    texts = two_texts(given)
    return Case(lambda: cosine_table(*(text.vectors for text in texts())), given.leaves)


def distance_case(given: Inputs) -> Case:
    texts = two_texts(given)
    return Case(lambda: matrix_distance(*(text.vectors for text in texts())), given.leaves)


def layers_case(given: Inputs) -> Case:
    texts, table = two_texts(given), given.normal(given.batch, given.length, given.length)
    weights = Weights._make(given.normal(*size) for size in [(3, 3, 3)] * 2 + [(3, 3)] * 2)

    def call() -> Tensor:
        query, document = texts()
        real = query.mask.unsqueeze(2) & document.mask.unsqueeze(1)
        layers = interactive_layers(table * real, query, document, weights, 0.6, 0.4)
        return torch.cat([part.flatten() for parts in layers for part in parts])

    return Case(call, given.leaves)


def word_loss_case(given: Inputs) -> Case:
    states, weight, bias = given.normal(given.batch, 4), given.normal(7, 4), given.normal(7)
    classes = given.lengths % 7
    return Case(lambda: word_loss(states, weight, bias, classes), given.leaves)


CASES: dict[str, Callable[[Inputs], Case]] = {
    "cosines": cosines_case,
    "dropout": dropout_case,
    "interactive-layers": layers_case,
    "linear": linear_case,
    "lstm": lstm_case,
    "lstm-gpu": lstm_gpu_case,
    "matrix-distance": distance_case,
    "spatial-gru": spatial_case,
    "transformer": transformer_case,
    "word-loss": word_loss_case,
}
each_kernel = pytest.mark.parametrize("name", CASES)


def test_every_kernel_has_a_case() -> None:
    assert sorted(CASES) == list(KERNELS)


def outcome(case: Case) -> list[Tensor]:
    """The values at real positions, and the gradients of all leaves."""

    def real(values: Tensor) -> Tensor:
        return values if case.real is None else values[case.real]

    with torch.no_grad():
        frozen = real(case.call())
    values = real(case.call())
    outer = torch.linspace(-1, 1, values.numel(), dtype=values.dtype).view_as(values)
    found = torch.autograd.grad((values * outer).sum(), case.leaves, allow_unused=True)
    gradients = [gradient for gradient in found if gradient is not None]
    return [frozen, values.detach(), *gradients]


@each_kernel
@pytest.mark.parametrize("dtype", TOLERANCE, ids=str)
@pytest.mark.parametrize("shape", SHAPES)
def test_values_and_gradients_equal_plain_pytorch(
    name: str, dtype: torch.dtype, shape: str
) -> None:
    case = CASES[name](Inputs(SHAPES[shape], dtype))
    found = outcome(case)
    with disabled():
        expected = outcome(case)
    close = TOLERANCE[dtype]
    for ours, theirs in zip(found, expected, strict=True):
        torch.testing.assert_close(ours, theirs, rtol=close, atol=close)


HAND_WRITTEN = {
    "cosines": ["matchwork.interact.similarity._CosineTable.apply"],
    "dropout": ["matchwork.kernels.transformer.dropout.torch.empty"],
    "interactive-layers": ["matchwork.models.iasm.interactive_layers._Stack.apply"],
    "linear": ["torch.ops.mkldnn._linear_pointwise"],
    "lstm": ["matchwork.kernels.lstm.steps._Scan.apply"],
    "lstm-gpu": ["matchwork.kernels.lstm.gpu.fused_states"],
    "matrix-distance": ["matchwork.models.iasm.distance._UnitDistance.apply"],
    "spatial-gru": [
        "matchwork.kernels.spatial_gru.native._call",
        "matchwork.kernels.spatial_gru.diagonal._Sweep.apply",
    ],
    "transformer": [
        "matchwork.kernels.transformer.ragged_forward.run",
        "matchwork.kernels.transformer.forward.in_passes",
    ],
    "word-loss": ["matchwork.models.iam.word_loss._WordLoss.apply"],
}


@each_kernel
def test_the_switch_keeps_hand_written_code_from_running(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    case = CASES[name](Inputs(SHAPES["ragged"], torch.float32))

    def forbidden(*_: Any, **__: Any) -> None:
        raise AssertionError(f"{name} ran a hand-written kernel")

    for target in HAND_WRITTEN[name]:
        monkeypatch.setattr(target, forbidden)
    with disabled():
        outcome(case)
    monkeypatch.setenv("MATCHWORK_KERNELS", "off")
    outcome(case)


def test_the_switch_chooses_between_two_functions(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(KERNELS, "_entries", {})

    @kernel("double", plain=lambda number: number + number)
    def double(number: float) -> float:
        return 2.5 * number

    assert double(4) == KERNELS["double"].fast(4) == 10
    with disabled():
        assert double(4) == KERNELS["double"].plain(4) == 8


def test_the_switch_is_on_again_afterwards() -> None:
    assert enabled()
    with pytest.raises(RuntimeError), disabled():
        assert not enabled()
        raise RuntimeError
    assert enabled()


def test_the_environment_variable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MATCHWORK_KERNELS", "off")
    assert not enabled()
    monkeypatch.setenv("MATCHWORK_KERNELS", "no")
    with pytest.raises(ConfigError, match='must be "on" or "off", got \'no\''):
        enabled()


def test_an_unknown_spatial_engine_is_an_error_with_kernels_off() -> None:
    with disabled(), pytest.raises(UnknownNameError, match="diagnal"):
        choose_engine("diagnal", "cpu", torch.float64)
