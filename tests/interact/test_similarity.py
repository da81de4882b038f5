"""The cosine table with its own backward pass against the plain formula."""

from collections.abc import Callable

import pytest
import torch
from torch import Tensor

from matchwork.interact import cosine_table, row_lengths

EXACT = {"rtol": 1e-11, "atol": 1e-11}


def plain(left: Tensor, right: Tensor) -> Tensor:
    """The definition, differentiated by autograd."""
    scale = left.norm(dim=-1).unsqueeze(-1) * right.norm(dim=-1).unsqueeze(-2)
    return (left @ right.transpose(-1, -2)) / scale.clamp_min(1e-8)


def rows(*shape: int, seed: int = 0, dtype: torch.dtype = torch.float64) -> Tensor:
    made = torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)
    return made.to(dtype).requires_grad_()


def results(function: Callable[[Tensor, Tensor], Tensor], *sides: Tensor) -> list[Tensor]:
    """The table and the gradients of a mixed sum of its cells."""
    leaves = [side.detach().requires_grad_() for side in sides]
    table = function(*leaves)
    weights = torch.linspace(-1, 2, table.numel(), dtype=table.dtype).view(table.shape)
    return [table, *torch.autograd.grad((table * weights).sum(), leaves)]


@pytest.mark.parametrize(
    "shapes", [((3, 4, 5), (3, 6, 5)), ((4, 5), (6, 5)), ((1, 1, 1), (1, 2, 1)), ((2, 0, 3),) * 2]
)
def test_values_and_gradients_of_the_formula(shapes: tuple[tuple[int, ...], ...]) -> None:
    left, right = (rows(*shape, seed=seed) for seed, shape in enumerate(shapes))
    torch.testing.assert_close(
        results(cosine_table, left, right), results(plain, left, right), **EXACT
    )
    assert torch.autograd.gradcheck(cosine_table, (left, right))


def test_only_the_gradient_that_is_asked_for() -> None:
    left, right = rows(2, 3, 4), rows(2, 5, 4, seed=1)
    expected = results(plain, left, right)
    weights = torch.linspace(-1, 2, 30, dtype=torch.float64).view(2, 3, 5)
    for position, leaf in enumerate((left, right)):
        inputs = [side.detach() for side in (left, right)]
        inputs[position] = leaf
        found = torch.autograd.grad((cosine_table(*inputs) * weights).sum(), leaf)[0]
        torch.testing.assert_close(found, expected[1 + position], **EXACT)
    assert not cosine_table(left.detach(), right.detach()).requires_grad


def test_the_same_text_on_both_sides_gets_both_gradients() -> None:
    text = rows(2, 3, 4)
    found = torch.autograd.grad(cosine_table(text, text)[:, 0].sum(), text)[0]
    expected = torch.autograd.grad(plain(text, text)[:, 0].sum(), text)[0]
    torch.testing.assert_close(found, expected, **EXACT)


def test_memory_layout_changes_nothing() -> None:
    left, right = rows(5, 4, 3).transpose(0, 2), rows(3, 6, 10, seed=1)[:, :, ::2]
    assert not left.is_contiguous() and not right.is_contiguous()
    straight = results(cosine_table, left.contiguous(), right.contiguous())
    leaves = [rows(5, 4, 3), rows(3, 6, 10, seed=1)]
    table = cosine_table(leaves[0].transpose(0, 2), leaves[1][:, :, ::2])
    weights = torch.linspace(-1, 2, table.numel(), dtype=table.dtype).view(table.shape)
    turned, cut = torch.autograd.grad((table * weights).sum(), leaves)
    torch.testing.assert_close(table, straight[0], **EXACT)
    torch.testing.assert_close(turned.transpose(0, 2), straight[1], **EXACT)
    torch.testing.assert_close(cut[:, :, ::2], straight[2], **EXACT)
    # A gradient that is one number spread over the table, as `sum` gives.
    assert torch.autograd.gradcheck(lambda a, b: cosine_table(a, b).sum(), (left, right))


def test_a_zero_row_is_like_nothing_and_gives_its_neighbours_no_gradient() -> None:
    left, right = rows(1, 3, 4).detach(), rows(1, 2, 4, seed=1).detach()
    left[0, 1] = 0.0
    table, left_gradient, right_gradient = results(cosine_table, left, right)
    assert not table[0, 1].any()
    assert torch.isfinite(left_gradient).all() and torch.isfinite(right_gradient).all()
    without = results(plain, left[:, [0, 2]], right)[0]
    torch.testing.assert_close(table[:, [0, 2]], without, **EXACT)
    leaves = [side.clone().requires_grad_() for side in (left, right)]
    from_zero = torch.autograd.grad(cosine_table(*leaves)[0, 1].sum(), leaves[1])[0]
    assert not from_zero.any()
    zeros = torch.zeros(2, 3, 4, dtype=torch.float64)
    assert all(not found.any() for found in results(cosine_table, zeros, zeros))


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_the_constant_vector_of_unknown_words_is_like_itself(dtype: torch.dtype) -> None:
    """100 times 1e-5: the product of two lengths is 1e-8, exactly the floor of the division."""
    constant = torch.full((1, 2, 100), 1e-5, dtype=dtype)
    table, *gradients = results(cosine_table, constant, constant)
    torch.testing.assert_close(table, torch.ones_like(table), rtol=1e-5, atol=1e-5)
    assert all(torch.isfinite(gradient).all() for gradient in gradients)


def test_below_the_floor_the_table_is_a_plain_product() -> None:
    left, right = (1e-6 * rows(1, 2, 3, seed=seed).detach() for seed in (0, 1))
    torch.testing.assert_close(
        results(cosine_table, left, right), results(plain, left, right), rtol=1e-9, atol=1e-12
    )


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
@pytest.mark.parametrize("inside", [True, False])
def test_mixed_precision_stays_close(dtype: torch.dtype, inside: bool) -> None:
    """A text of 32 bits against a product of 16 bits; backward inside autocast or after it."""
    left, right = (rows(2, n, 16, seed=n, dtype=torch.float32) for n in (5, 7))
    turn = rows(16, 16, seed=3, dtype=torch.float32).detach() / 4
    weights = torch.linspace(-1, 2, 70).view(2, 5, 7)

    def value() -> Tensor:
        return (cosine_table(left, right @ turn) * weights).sum()

    expected = torch.autograd.grad(value(), (left, right))
    with torch.autocast("cpu", dtype=dtype):
        table = cosine_table(left, right @ turn)
        loss = (table.float() * weights).sum()
        if inside:
            found = torch.autograd.grad(loss, (left, right))
    if not inside:
        found = torch.autograd.grad(loss, (left, right))
    tolerance = {"rtol": 0.05, "atol": 0.05}
    torch.testing.assert_close(table.float(), cosine_table(left, right @ turn), **tolerance)
    for ours, theirs in zip(found, expected, strict=True):
        torch.testing.assert_close(ours, theirs, **tolerance)


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_texts_of_16_bits_keep_their_type_in_the_gradient(dtype: torch.dtype) -> None:
    left, right = (rows(2, n, 16, seed=n, dtype=dtype) for n in (5, 7))
    table, *gradients = results(cosine_table, left, right)
    exact = results(plain, left.double(), right.double())
    assert all(gradient.dtype == dtype for gradient in gradients)
    for ours, theirs in zip([table, *gradients], exact, strict=True):
        torch.testing.assert_close(ours.double(), theirs, rtol=0.05, atol=0.05)


def test_lengths_do_not_overflow_16_bits() -> None:
    lengths = row_lengths(torch.full((1, 1, 100), 300.0, dtype=torch.float16))
    assert lengths.dtype == torch.float32 and lengths.item() == pytest.approx(3000)
