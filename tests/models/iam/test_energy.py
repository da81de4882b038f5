"""The energy of neighbours: exact where it can be, and contrastive divergence against that."""

import itertools
import math
from typing import Any

import numpy as np
import pytest
import torch
from exact_energy import exact_loss, log_partition
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor

from matchwork.encode import Encoded
from matchwork.errors import ConfigError
from matchwork.models.iam.energy import AdjacentEnergy, neighbours
from matchwork.models.iam.supports import SUPPORTS

ALL = ("box", "binary", "gauss")
EXACT: dict[str, Any] = {"rtol": 1e-10, "atol": 1e-10}


def energy(dim: int, support: Any, seed: int = 0, scale: float = 0.8) -> AdjacentEnergy:
    made = AdjacentEnergy(dim, support).double()
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for parameter in made.parameters():
            parameter.uniform_(-scale, scale, generator=generator)
    made.bound()
    return made


def worked_example(support: Any) -> AdjacentEnergy:
    made = AdjacentEnergy(1, support).double()
    with torch.no_grad():
        made.pair.fill_(0.8)
        made.first.fill_(-0.3)
        made.second.fill_(0.5)
    return made


def data(support: str, dim: int, num: int, seed: int = 1) -> tuple[Tensor, Tensor]:
    """Pairs that go together: y leans towards x."""
    random = np.random.default_rng(seed)
    x = random.uniform(-1, 1, (num, dim))
    y = np.clip(0.7 * x + 0.4 * random.uniform(-1, 1, (num, dim)), -1, 1)
    if support == "binary":
        x, y = (np.where(part > 0.1, 1.0, -1.0) for part in (x, y))
    return torch.from_numpy(x), torch.from_numpy(y)


def gradients(made: AdjacentEnergy, loss: Tensor) -> Tensor:
    found = torch.autograd.grad(loss, [made.pair, made.first, made.second])
    return torch.cat([part.flatten() for part in found])


def test_the_worked_example_of_one_entry() -> None:
    made = worked_example("binary")
    signs = torch.tensor([[1.0], [-1.0]]).double()
    x, y = signs.repeat_interleave(2, 0), signs.repeat(2, 1)
    energies = made(x, y).detach()
    np.testing.assert_allclose(energies, [1.0, -1.6, 0.0, 0.6], **EXACT)
    log_z = log_partition(made).item()
    assert math.isclose(log_z, 1.9271239, abs_tol=5e-8)
    product = torch.autograd.grad(log_partition(made), made.pair)[0].item()
    assert math.isclose(-product, -0.7331214, abs_tol=5e-8)  # d log Z / dQ = -E[xy]
    probability = torch.sigmoid(-2 * made.field_on_first(signs[:1])).item()
    assert math.isclose(probability, 0.2689414, abs_tol=5e-8)
    assert math.isclose(log_partition(worked_example("box")).item(), 1.492731, abs_tol=5e-7)


@pytest.mark.parametrize("dim", [1, 2, 3])
def test_binary_is_what_enumeration_gives(dim: int) -> None:
    made = energy(dim, "binary")
    states = torch.tensor(list(itertools.product([-1.0, 1.0], repeat=dim))).double()
    x, y = states.repeat_interleave(len(states), 0), states.repeat(len(states), 1)
    weights = torch.exp(-made(x, y)).detach()
    np.testing.assert_allclose(log_partition(made).item(), weights.sum().log(), **EXACT)
    probability = weights / weights.sum()
    expected = -(x.T @ (probability[:, None] * y))  # d log Z / dQ
    found = torch.autograd.grad(log_partition(made), made.pair)[0]
    np.testing.assert_allclose(found, expected, **EXACT)
    for row, state in enumerate(states):  # the conditionals, from the joint distribution
        given_y = probability.view(len(states), -1)[:, row]
        mean = (given_y[:, None] * states).sum(0) / given_y.sum()
        conditional = made.support.mean(made.field_on_first(state)).detach()
        np.testing.assert_allclose(conditional, mean, **EXACT)
        given_x = probability.view(len(states), -1)[row]
        mean = (given_x[:, None] * states).sum(0) / given_x.sum()
        conditional = made.support.mean(made.field_on_second(state)).detach()
        np.testing.assert_allclose(conditional, mean, **EXACT)


@pytest.mark.parametrize("support", ["box", "gauss"])
def test_others_are_what_a_fine_grid_gives(support: str) -> None:
    made, reach = energy(1, support), 1.0 if support == "box" else 12.0
    nodes, weights = np.polynomial.legendre.leggauss(200)
    grid, area = torch.from_numpy(nodes * reach)[:, None], torch.from_numpy(weights * reach)
    x, y = grid.repeat_interleave(len(grid), 0), grid.repeat(len(grid), 1)
    terms = torch.exp(-made(x, y)).detach().view(len(grid), -1)
    expected = (area[:, None] * terms * area).sum().log()
    np.testing.assert_allclose(log_partition(made).item(), expected, rtol=1e-9)


def test_gauss_has_the_covariance_of_its_precision() -> None:
    made = energy(2, "gauss")
    precision = torch.eye(4).double()
    precision[:2, 2:], precision[2:, :2] = made.pair.detach(), made.pair.detach().T
    linear = torch.cat([made.first, made.second]).detach()
    mean = -torch.linalg.solve(precision, linear)
    second = torch.linalg.inv(precision) + torch.outer(mean, mean)
    grads = torch.autograd.grad(log_partition(made), [made.pair, made.first])
    np.testing.assert_allclose(grads[0], -second[:2, 2:], **EXACT)
    np.testing.assert_allclose(grads[1], -mean[:2], **EXACT)


def test_what_is_too_large_to_enumerate_says_so() -> None:
    with pytest.raises(
        ConfigError, match=r"of 4 entries with support 'box' is too large .* most 3"
    ):
        log_partition(AdjacentEnergy(4, "box"))


@pytest.mark.parametrize("support", ALL)
def test_derivatives_of_the_energy(support: str) -> None:
    made = energy(3, support)
    x, y = (row[:1] for row in data(support, 3, 1))
    grads = torch.autograd.grad(made(x, y).sum(), [made.pair, made.first, made.second])
    for found, expected in zip(grads, (torch.outer(x[0], y[0]), x[0], y[0]), strict=True):
        np.testing.assert_allclose(found, expected, **EXACT)


@pytest.mark.parametrize("support", ALL)
def test_many_steps_give_the_exact_gradient(support: str) -> None:
    dim = 2 if support == "box" else 3
    made = energy(dim, support, scale=0.5)
    x, y = data(support, dim, 40)
    exact = gradients(made, exact_loss(made, x, y))
    torch.manual_seed(0)
    many = [part.repeat(1500, 1) for part in (x, y)]
    found = {
        steps: gradients(made, made.contrastive_loss(many[0], many[1], steps)) for steps in (1, 20)
    }
    assert (found[20] - exact).abs().max() < 0.025  # 60,000 draws: 4 deviations of 0.006
    assert (found[20] - exact).norm() < (found[1] - exact).norm()


@pytest.mark.parametrize("support", ALL)
def test_the_exact_likelihood_rises(support: str) -> None:
    """The sign: the paper's would lower it."""
    dim = 2 if support == "box" else 3
    made = energy(dim, support, scale=0.05)
    x, y = data(support, dim, 500)
    torch.manual_seed(0)
    optimizer = torch.optim.SGD(made.parameters(), lr=0.1)
    losses = [exact_loss(made, x, y).item()]
    for _ in range(30):
        optimizer.zero_grad()
        made.contrastive_loss(x, y, steps=5).backward()
        optimizer.step()
        made.bound()
        losses.append(exact_loss(made, x, y).item())
    assert losses[1] < losses[0]
    assert losses[-1] < losses[0] - 0.1
    assert sum(after < before for before, after in itertools.pairwise(losses)) >= 24


@pytest.mark.parametrize("support", ALL)
def test_pseudo_likelihood_is_that_of_the_conditionals(support: str) -> None:
    made = energy(1, support)
    x, y = data(support, 1, 5)
    nodes, weights = np.polynomial.legendre.leggauss(200)
    reach = {"box": 1.0, "gauss": 15.0}.get(support, 1.0)
    grid, area = torch.from_numpy(nodes * reach)[:, None], torch.from_numpy(weights * reach)
    if support == "binary":
        grid, area = torch.tensor([[-1.0], [1.0]]).double(), torch.ones(2).double()
    found = made.pseudo_loss(x, y).detach()
    for row in range(len(x)):
        terms = made(x[row], y[row])
        over_x = (area * torch.exp(-made(grid, y[row].expand_as(grid)))).sum().log()
        over_y = (area * torch.exp(-made(x[row].expand_as(grid), grid))).sum().log()
        np.testing.assert_allclose(found[row], (2 * terms + over_x + over_y).item(), rtol=1e-8)


@given(st.floats(-30, 30))
def test_draws_from_the_box(field: float) -> None:
    torch.manual_seed(1)
    box = SUPPORTS["box"]
    fields = torch.full((4000,), field, dtype=torch.float64)
    draws = box.sample(fields)
    assert draws.abs().max() <= 1
    mean = box.mean(fields)[0].item()
    exact = -(1 / math.tanh(field) - 1 / field) if abs(field) > 1e-3 else -field / 3
    assert math.isclose(mean, exact, rel_tol=1e-9, abs_tol=1e-9)
    assert abs(draws.mean().item() - mean) < 5 * draws.std().item() / math.sqrt(len(draws)) + 1e-9


@pytest.mark.parametrize("support", ALL)
@pytest.mark.parametrize("value", [-400.0, -3.0, -0.1, -1e-8, 0.0, 1e-8, 0.1, 0.2, 3.0, 400.0])
def test_the_mean_is_the_slope_of_the_normaliser(support: Any, value: float) -> None:
    field = torch.tensor([value]).double().requires_grad_()
    normaliser = SUPPORTS[support].log_normaliser(field)
    assert torch.isfinite(normaliser).all()
    slope = torch.autograd.grad(normaliser.sum(), field)[0]
    torch.testing.assert_close(SUPPORTS[support].mean(field.detach()), -slope, **EXACT)
    assert torch.isfinite(SUPPORTS[support].sample(field.detach().float())).all()


def test_gauss_is_put_back_to_where_it_exists() -> None:
    made = AdjacentEnergy(4, "gauss").double()
    with torch.no_grad():
        made.pair.fill_(3.0)
    assert torch.isnan(log_partition(made)) or log_partition(made) == torch.inf
    made.bound()
    assert torch.linalg.matrix_norm(made.pair, ord=2) < 1
    assert torch.isfinite(log_partition(made))


def test_jumps_of_a_ragged_batch() -> None:
    made = energy(2, "box", scale=2.0)
    made.reference.fill_(0.4)
    vectors = torch.randn(3, 4, 2, dtype=torch.float64).clamp(-1, 1)
    mask = torch.arange(4) < torch.tensor([[4], [1], [3]])
    states = Encoded(vectors, mask)
    jumps = made.jumps(states).detach()
    assert (jumps[1] == 0).all() and (jumps[0, 3], jumps[2, 2], jumps[2, 3]) == (0, 0, 0)
    expected = torch.exp(0.4 - made(vectors[2, 1], vectors[2, 2])).item()
    assert math.isclose(jumps[2, 1].item(), expected, rel_tol=1e-12)
    x, y = neighbours(states)
    assert torch.equal(x, torch.cat([vectors[0, :3], vectors[2, :2]]))
    assert torch.equal(y, torch.cat([vectors[0, 1:], vectors[2, 1:3]]))


def test_a_jump_never_overflows() -> None:
    made = AdjacentEnergy(1, "box")
    states = Encoded(torch.ones(1, 3, 1), torch.ones(1, 3, dtype=torch.bool))
    for weight, expected in ((-1e6, math.exp(10)), (1e6, math.exp(-10))):
        with torch.no_grad():
            made.pair.fill_(weight)
        torch.testing.assert_close(made.jumps(states)[0, 0].item(), expected, rtol=1e-5, atol=0)
