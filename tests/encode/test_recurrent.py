"""The BiLSTM against torch's own, values and gradients."""

import pytest
import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from matchwork.encode.recurrent import BiLSTM

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
        assert torch.equal(made.read(gates[one].clone(), MASK, one), together[one])


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
