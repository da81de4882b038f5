"""Cross entropy in blocks of rows is cross entropy."""

import pytest
import torch
from torch import Tensor
from torch.nn import functional

from matchwork.models.iam import word_loss as module
from matchwork.models.iam.word_loss import word_loss

ROWS, UNITS, WORDS = 7, 3, 5


def inputs(dtype: torch.dtype = torch.float64) -> tuple[list[Tensor], Tensor]:
    generator = torch.Generator().manual_seed(0)
    shapes = (ROWS, UNITS), (WORDS, UNITS), (WORDS,)
    made = [torch.randn(shape, generator=generator, dtype=dtype) for shape in shapes]
    return [each.requires_grad_() for each in made], torch.arange(ROWS) % WORDS


def plain(states: Tensor, weight: Tensor, bias: Tensor, classes: Tensor) -> Tensor:
    return functional.cross_entropy(
        functional.linear(states, weight, bias), classes, reduction="sum"
    )


@pytest.mark.parametrize("num_rows", [1, 3, ROWS])
def test_values_and_gradients_are_those_of_all_rows_at_once(
    num_rows: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(module._ENTRIES, "cpu", num_rows * WORDS)
    tensors, classes = inputs()
    found, expected = word_loss(*tensors, classes), plain(*tensors, classes)
    torch.testing.assert_close(found, expected, rtol=1e-12, atol=0)
    for ours, theirs in zip(
        torch.autograd.grad(0.3 * found, tensors),
        torch.autograd.grad(0.3 * expected, tensors),
        strict=True,
    ):
        torch.testing.assert_close(ours, theirs, rtol=1e-12, atol=1e-12)
    assert torch.autograd.gradcheck(lambda *given: word_loss(*given, classes), tensors)


def test_more_words_than_fit_a_block(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(module._ENTRIES, "cpu", 1)
    tensors, classes = inputs()
    torch.testing.assert_close(word_loss(*tensors, classes), plain(*tensors, classes))


def test_no_rows_lose_nothing() -> None:
    (states, weight, bias), classes = inputs()
    found = word_loss(states[:0], weight, bias, classes[:0])
    found.backward()
    assert found == 0 and bias.grad is not None and not bias.grad.any()


def test_measuring_makes_no_gradients(monkeypatch: pytest.MonkeyPatch) -> None:
    tensors, classes = inputs()
    made = []
    monkeypatch.setattr(torch, "zeros_like", lambda given: made.append(given))
    with torch.no_grad():
        found = word_loss(*tensors, classes)
    assert found.grad_fn is None and not made
    torch.testing.assert_close(found, plain(*tensors, classes).detach())


def test_under_autocast_it_rounds_as_a_linear_layer_does() -> None:
    tensors, classes = inputs(torch.float32)
    exact = plain(*tensors, classes)
    with torch.autocast("cpu", torch.bfloat16):
        found, usual = word_loss(*tensors, classes), plain(*tensors, classes)
    assert found.dtype == torch.float32 and found != exact
    torch.testing.assert_close(found, exact, rtol=1e-2, atol=0)
    for ours, theirs in zip(
        torch.autograd.grad(found, tensors), torch.autograd.grad(usual, tensors), strict=True
    ):
        torch.testing.assert_close(ours, theirs, rtol=3e-2, atol=3e-2)
