"""The BiLSTM against torch's own, values and gradients."""

import pytest
import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from matchwork.kernels.lstm import steps as lstm_steps
from matchwork.kernels.lstm.gpu import fused_states
from matchwork.models.hcan.recurrent import BiLSTM, project, project_words

LENGTHS = torch.tensor([4, 1, 6, 3])
MASK = torch.arange(6) < LENGTHS[:, None]


def peers(made: BiLSTM) -> list[nn.LSTM]:
    """Torch's LSTMs with the same weights, one for each stack."""
    found = []
    for weight, recurrent, bias in zip(made.weight, made.recurrent, made.bias, strict=True):
        lstm = nn.LSTM(len(weight), recurrent.shape[1], batch_first=True, bidirectional=True)
        lstm.double()
        with torch.no_grad():
            for direction, suffix in enumerate(("", "_reverse")):
                getattr(lstm, f"weight_ih_l0{suffix}").copy_(weight.chunk(2, 1)[direction].T)
                getattr(lstm, f"weight_hh_l0{suffix}").copy_(recurrent[direction].T)
                getattr(lstm, f"bias_ih_l0{suffix}").copy_(bias.chunk(2)[direction])
                getattr(lstm, f"bias_hh_l0{suffix}").zero_()
        found.append(lstm)
    return found


def packed_states(lstm: nn.LSTM, vectors: Tensor) -> Tensor:
    packed = pack_padded_sequence(vectors, LENGTHS, batch_first=True, enforce_sorted=False)
    states: Tensor = pad_packed_sequence(lstm(packed)[0], batch_first=True, total_length=6)[0]
    return states


@pytest.mark.parametrize("stacks", [1, 3])
def test_states_and_gradients_are_those_of_torch(stacks: int) -> None:
    torch.manual_seed(stacks)
    made = BiLSTM(5, 3, stacks).double()
    with torch.no_grad():
        made.bias.uniform_(-1, 1)
    ours, theirs = (torch.randn(stacks, 4, 6, 5).double().requires_grad_() for _ in range(2))
    theirs.data.copy_(ours.data)
    outer = torch.randn(stacks, 4, 6, 6).double()
    states = made(ours, MASK)
    others = peers(made)
    expected = torch.stack([packed_states(*both) for both in zip(others, theirs, strict=True)])
    torch.testing.assert_close(states, expected, rtol=1e-12, atol=1e-12)
    (states * outer).sum().backward()
    (expected * outer).sum().backward()
    torch.testing.assert_close(ours.grad, theirs.grad, rtol=1e-11, atol=1e-12)
    for stack, lstm in enumerate(others):
        for direction, suffix in enumerate(("", "_reverse")):
            gradients = {
                "weight_ih_l0": made.weight.grad[stack].chunk(2, 1)[direction].T,  # type: ignore[index]
                "weight_hh_l0": made.recurrent.grad[stack, direction].T,  # type: ignore[index]
                "bias_ih_l0": made.bias.grad[stack].chunk(2)[direction],  # type: ignore[index]
            }
            for name, found in gradients.items():
                torch.testing.assert_close(found, getattr(lstm, name + suffix).grad)


def test_some_stacks_alone_give_what_all_give() -> None:
    made = BiLSTM(5, 3, 3).double()
    gates = torch.randn(3, 4, 6, 24).double()
    together = made.read(gates.clone(), MASK)
    for stack in range(3):
        one = slice(stack, stack + 1)
        alone = made.read(gates[one].clone(), MASK, one)
        torch.testing.assert_close(alone, together[one], rtol=1e-12, atol=1e-12)


def test_an_empty_text_has_no_states_and_no_gradient() -> None:
    made = BiLSTM(5, 3).double()
    vectors = torch.randn(1, 2, 3, 5).double().requires_grad_()
    mask = torch.tensor([[False] * 3, [True, True, False]])
    states = made(vectors, mask)
    assert not states[:, 0].any() and not states[:, 1, 2].any() and states[:, 1, :2].all()
    states.sum().backward()
    assert vectors.grad is not None
    assert not vectors.grad[:, 0].any() and not vectors.grad[:, 1, 2].any()


def test_one_word() -> None:
    made = BiLSTM(2, 1).double()
    states = made(torch.randn(1, 3, 1, 2).double().requires_grad_(), torch.ones(3, 1).bool())
    states.sum().backward()
    assert made.recurrent.grad is not None and not made.recurrent.grad.any()


@pytest.mark.parametrize("lengths", [(4, 1, 6, 3), (6, 6, 6, 6), (0, 2, 0, 5), (0, 0, 0, 0)])
def test_the_fused_lstm_gives_the_same(lengths: tuple[int, ...]) -> None:
    torch.manual_seed(1)
    made = BiLSTM(5, 3, 2).double()
    mask = torch.arange(6) < torch.tensor(lengths)[:, None]
    vectors = torch.randn(2, 4, 6, 5).double().requires_grad_()
    own = (made.weight, made.recurrent, made.bias)
    outer = torch.randn(2, 4, 6, 6).double()
    results = []
    for states in (made(vectors, mask), fused_states(vectors, mask, *own)):
        results.append([states, *torch.autograd.grad((states * outer).sum(), [vectors, *own])])
    for one, other in zip(*results, strict=True):
        torch.testing.assert_close(one, other, rtol=1e-11, atol=1e-12)


def test_the_gradient_is_right() -> None:
    torch.manual_seed(2)
    made = BiLSTM(2, 2, 2).double()
    mask = torch.arange(3) < torch.tensor([2, 3, 0])[:, None]

    def states(gates: Tensor, recurrent: Tensor, bias: Tensor) -> Tensor:
        return lstm_steps.states_of(gates, mask, recurrent, bias)

    gates = torch.randn(2, 3, 3, 16).double().requires_grad_()
    assert torch.autograd.gradcheck(states, (gates, made.recurrent, made.bias))


def test_reading_without_gradients_gives_the_same() -> None:
    made = BiLSTM(5, 3, 2).double()
    vectors = torch.randn(2, 4, 6, 5).double()
    with torch.no_grad():
        quiet = made(vectors, MASK)
    assert torch.equal(quiet, made(vectors, MASK))


def test_products_leave_out_padding() -> None:
    vectors, weight = torch.randn(2, 4, 6, 5).double(), torch.randn(2, 5, 3).double()
    vectors[:, ~MASK] = torch.nan
    expected = project(vectors, weight).masked_fill(~MASK.unsqueeze(-1), 0.0)
    torch.testing.assert_close(project_words(vectors, weight, MASK), expected)


on_a_gpu = pytest.mark.skipif(not torch.cuda.is_available(), reason="no GPU")


@on_a_gpu
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("units", [3, 128])
def test_a_gpu_gives_what_the_processor_gives(
    dtype: torch.dtype, units: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(torch.backends.cudnn, "allow_tf32", False)
    torch.manual_seed(3)
    made = BiLSTM(7, units, 2).double()
    vectors = torch.randn(2, 4, 6, 7).double()
    mask = torch.arange(6) < torch.tensor([4, 0, 6, 1])[:, None]
    outer = torch.randn(2, 4, 6, 2 * units).double()
    results = []
    for device, kind in (("cpu", torch.float64), ("cuda", dtype), ("cuda", dtype)):
        made = made.to(device, kind)
        given = vectors.to(device, kind).requires_grad_()
        states = made(given, mask.to(device))
        loss = (states * outer.to(device, kind)).sum()
        found = [states, *torch.autograd.grad(loss, [given, *made.parameters()])]
        results.append([part.detach().double().cpu() for part in found])
    close = 1e-10 if dtype == torch.float64 else 2e-4
    for expected, once, again in zip(*results, strict=True):
        torch.testing.assert_close(once, expected, rtol=close, atol=close)
        assert torch.equal(once, again)


@on_a_gpu
@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_a_gpu_reads_under_autocast(dtype: torch.dtype) -> None:
    made = BiLSTM(7, 4, 2).cuda()
    vectors, mask = torch.randn(2, 4, 6, 7).cuda(), MASK.cuda()
    expected = made(vectors, mask)
    with torch.autocast("cuda", dtype):
        states = made(vectors.to(dtype), mask)
    assert states.dtype == torch.float32
    torch.testing.assert_close(states, expected, rtol=0.05, atol=0.05)
    states.sum().backward()
    assert all(part.grad is not None and part.grad.isfinite().all() for part in made.parameters())
