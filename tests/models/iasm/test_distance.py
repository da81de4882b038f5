"""Distances between matrices with their own backward pass against the plain formula."""

from typing import Literal

import pytest
import torch
from torch import Tensor

from matchwork.models.iasm.distance import matrix_distance, row_agreements, row_distances

EXACT = {"rtol": 1e-11, "atol": 1e-11}
Norm = Literal["matrix", "row"]
NORMS: list[Norm] = ["matrix", "row"]


def unit(rows: Tensor, norm: Norm) -> Tensor:
    axes = (-1,) if norm == "row" else (-2, -1)
    return rows / rows.square().sum(axes, keepdim=True).sqrt().clamp_min(1e-8)


def plain(left: Tensor, right: Tensor, norm: Norm) -> Tensor:
    """The definition, differentiated by autograd."""
    return (unit(left, norm) - unit(right, norm)).square().sum((1, 2)).sqrt()


def matrices(*shape: int, seed: int = 0, dtype: torch.dtype = torch.float64) -> Tensor:
    made = torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)
    return made.to(dtype).requires_grad_()


def gradients(distance: Tensor, *leaves: Tensor) -> tuple[Tensor, ...]:
    return torch.autograd.grad((distance * torch.arange(1.0, len(distance) + 1)).sum(), leaves)


@pytest.mark.parametrize("norm", NORMS)
@pytest.mark.parametrize("shape", [(3, 4, 5), (1, 1, 2), (2, 7, 1)])
def test_values_and_gradients_of_the_formula(norm: Norm, shape: tuple[int, ...]) -> None:
    left, right = matrices(*shape), matrices(*shape, seed=1)
    found, expected = matrix_distance(left, right, norm), plain(left, right, norm)
    torch.testing.assert_close(found, expected, **EXACT)
    if shape[-1] > 1 or norm == "matrix":  # a number of unit length has no slope
        assert torch.autograd.gradcheck(lambda a, b: matrix_distance(a, b, norm), (left, right))
    for ours, theirs in zip(
        gradients(found, left, right), gradients(expected, left, right), strict=True
    ):
        torch.testing.assert_close(ours, theirs, **EXACT)


def test_only_the_gradient_that_is_asked_for() -> None:
    left, right = matrices(2, 3, 4), matrices(2, 3, 4, seed=1)
    both = gradients(plain(left, right, "matrix"), left, right)
    only_left = gradients(matrix_distance(left, right.detach()), left)[0]
    only_right = gradients(matrix_distance(left.detach(), right), right)[0]
    torch.testing.assert_close(only_left, both[0], **EXACT)
    torch.testing.assert_close(only_right, both[1], **EXACT)


@pytest.mark.parametrize("norm", NORMS)
def test_memory_layout_changes_nothing(norm: Norm) -> None:
    left, right = matrices(5, 4, 2), matrices(2, 4, 10, seed=1)
    views = left.transpose(0, 2), right[:, :, ::2]
    distance = matrix_distance(*views, norm)
    expected = plain(*views, norm)
    torch.testing.assert_close(distance, expected, **EXACT)
    for ours, theirs in zip(
        gradients(distance, left, right), gradients(expected, left, right), strict=True
    ):
        torch.testing.assert_close(ours, theirs, **EXACT)


@pytest.mark.parametrize("norm", NORMS)
def test_equal_matrices_are_at_no_distance_and_pull_nowhere(norm: Norm) -> None:
    left = matrices(2, 3, 4)
    right = left.detach().clone().requires_grad_()
    distance = matrix_distance(left, right, norm)
    assert distance.tolist() == [0.0, 0.0]
    for found in gradients(distance, left, right):
        assert not found.any()
    scaled = matrix_distance(left, 3.0 * right, norm)
    torch.testing.assert_close(scaled, torch.zeros_like(scaled), rtol=0, atol=1e-15)
    assert all(torch.isfinite(found).all() for found in gradients(scaled, left, right))


@pytest.mark.parametrize("norm", NORMS)
def test_zero_matrices(norm: Norm) -> None:
    """One is a unit away from any other ("matrix"), two are equal; none gets a gradient."""
    some = matrices(1, 3, 4).detach()
    zero = torch.zeros_like(some)
    left = torch.cat([some, zero, zero]).requires_grad_()
    right = torch.cat([zero, some, zero]).requires_grad_()
    distance = matrix_distance(left, right, norm)
    apart = 1.0 if norm == "matrix" else 3**0.5
    assert distance.tolist() == pytest.approx([apart, apart, 0.0], abs=1e-12)
    found = gradients(distance, left, right)
    assert all(torch.isfinite(gradient).all() for gradient in found)
    if norm == "matrix":  # the length does not matter, and zero has no direction
        assert all(gradient.abs().max() < 1e-15 for gradient in found)


def test_padding_rows_are_neutral() -> None:
    left, right = matrices(2, 3, 4), matrices(2, 3, 4, seed=1)
    more = torch.zeros(2, 5, 4, dtype=torch.float64)
    wide = [torch.cat([side.detach(), more], 1).requires_grad_() for side in (left, right)]
    for norm in NORMS:
        distance = matrix_distance(*wide, norm)
        torch.testing.assert_close(distance, matrix_distance(left, right, norm), **EXACT)
        assert all(not found[:, 3:].any() for found in gradients(distance, *wide))


@pytest.mark.parametrize("norm", NORMS)
def test_parts_of_the_rows_add_up(norm: Norm) -> None:
    left, right = matrices(3, 4, 5).detach(), matrices(3, 4, 5, seed=1).detach()
    distance = matrix_distance(left, right, norm)
    squares, agreements = row_distances(left, right, norm), row_agreements(left, right, norm)
    torch.testing.assert_close(squares.sum(1), distance.square(), **EXACT)
    size = 1.0 if norm == "matrix" else 4.0  # the squared length of either side
    torch.testing.assert_close(agreements.sum(1), size - distance.square() / 2, **EXACT)
    expected = (unit(left, norm) * unit(right, norm)).sum(-1)
    torch.testing.assert_close(agreements, expected, **EXACT)


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
@pytest.mark.parametrize("norm", NORMS)
@pytest.mark.parametrize("inside", [True, False])
def test_mixed_precision_stays_close(dtype: torch.dtype, norm: Norm, inside: bool) -> None:
    """A text of 32 bits against a product of 16 bits, either way round."""
    left, right = (matrices(2, 5, 16, seed=n, dtype=torch.float32) for n in (0, 1))
    turn = matrices(16, 16, seed=3, dtype=torch.float32).detach() / 4
    for swapped in (False, True):

        def distance(turned: Tensor, swapped: bool = swapped) -> Tensor:
            return matrix_distance(*((turned, left) if swapped else (left, turned)), norm)

        expected = distance(right @ turn)
        with torch.autocast("cpu", dtype=dtype):
            found = distance(right @ turn)
            ours = gradients(found, left, right) if inside else ()
        ours = ours or gradients(found, left, right)
        assert found.dtype == torch.float32
        torch.testing.assert_close(found, expected, rtol=0.02, atol=0.02)
        for our, their in zip(ours, gradients(expected, left, right), strict=True):
            torch.testing.assert_close(our, their, rtol=0.05, atol=0.02)
