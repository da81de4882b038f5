"""The hashing auto-encoder: precision, reductions, and what its errors are of."""

import pytest
import torch

from matchwork.models.addax.hashing import HashingDenoiser

MASK = torch.tensor([[True, True, False], [True, False, False]])


def denoiser(**options) -> HashingDenoiser:
    torch.manual_seed(0)
    settings = {"alpha": 5.0, "tied": True, "reduction": "sum", **options}
    made = HashingDenoiser(6, 4, **settings)
    with torch.no_grad():
        for parameter in made.parameters():
            parameter.uniform_(-1, 1)
    return made


def vectors() -> torch.Tensor:
    return torch.randn(2, 3, 6, generator=torch.Generator().manual_seed(1))


def test_mean_errors_are_sums_per_token_and_value():
    total, mean = denoiser()(vectors(), MASK), denoiser(reduction="mean")(vectors(), MASK)
    tokens = MASK.sum(1)
    torch.testing.assert_close(mean.code_error, total.code_error / (tokens * 4))
    torch.testing.assert_close(mean.restored_error, total.restored_error / (tokens * 6))


@pytest.mark.parametrize("reduction", ["sum", "mean"])
def test_a_text_without_tokens_has_no_error(reduction):
    hashed = denoiser(reduction=reduction)(vectors(), torch.zeros(2, 3, dtype=torch.bool))
    assert (hashed.code_error == 0).all() and (hashed.restored_error == 0).all()


def test_the_code_in_its_error_is_a_constant():
    made = denoiser()
    hashed = made(vectors(), MASK)
    assert not hashed.hard.requires_grad
    hashed.code_error.sum().backward()
    assert made.encoder[0].weight.grad.abs().max() > 0
    assert all(bias.grad is None for bias in made.biases)


def test_the_error_of_what_is_restored_moves_both_sides():
    made, given = denoiser(), vectors().requires_grad_()
    hashed = made(given, MASK)
    hashed.restored_error.sum().backward()
    fixed = vectors().requires_grad_()
    restored = made(fixed, MASK).restored
    detached = ((restored - fixed.detach()) ** 2 * MASK.unsqueeze(-1)).sum()
    detached.backward()
    assert not torch.allclose(given.grad, fixed.grad)


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_signs_are_decided_in_full_precision(dtype):
    made = denoiser()
    with torch.autocast("cpu", dtype=dtype):
        hashed = made(vectors().to(dtype), MASK)
    assert hashed.soft.dtype == hashed.restored_error.dtype == torch.float32
    assert torch.equal(hashed.hard, made(vectors().to(dtype).float(), MASK).hard)


def test_untied_decoder_has_weights_of_its_own():
    shapes = [tuple(weight.shape) for weight in denoiser(tied=False).weights]
    assert shapes == [(3, 4), (3, 3), (6, 3)]


def test_a_linear_start_restores_as_well_without_ties():
    errors = []
    for tied in (True, False):
        made = HashingDenoiser(6, 4, alpha=5.0, tied=tied, reduction="sum")
        torch.manual_seed(0)
        made.start_linear()
        errors.append(made(vectors(), MASK).restored_error)
    torch.testing.assert_close(errors[0], errors[1])


def test_what_is_no_number_has_no_code():
    """It would be scored as if nothing were wrong."""
    broken = vectors()
    broken[0, 1, 2] = torch.nan
    hard = denoiser()(broken, MASK).hard
    assert hard[0, 1].isnan().any() and not hard[0, 0].isnan().any() and not hard[1].isnan().any()


@pytest.mark.parametrize("tied", [True, False])
def test_the_decoder_learns_over_codes_that_do_not(tied):
    made = denoiser(tied=tied)
    made.encoder.requires_grad_(False)
    hashed = made(vectors(), MASK)
    with torch.no_grad():
        expected = hashed.restored  # a look at it takes nothing away from learning
    hashed.restored_error.sum().backward()
    assert all(bias.grad is not None for bias in made.biases)
    torch.testing.assert_close(hashed.restored.detach(), expected)


@pytest.mark.parametrize("mode", [torch.no_grad, torch.inference_mode])
def test_what_was_not_learnt_from_has_no_gradients_later(mode):
    with mode():
        hashed = denoiser()(vectors(), MASK)
    assert not hashed.restored.requires_grad
