"""Semantic matching: the factored input of the BiLSTM against all of it concatenated."""

import pytest
import torch
from torch import Tensor

from matchwork.kernels.lstm.gpu import fused_states
from matchwork.models.hcan.semantic import SemanticMatching


def prefix(lengths: tuple[int, ...]) -> Tensor:
    return torch.arange(max(lengths)) < torch.tensor(lengths)[:, None]


def made(**options: object) -> SemanticMatching:
    torch.manual_seed(0)
    chosen = {"salience": "scores", "pooling": "max-mean", "rectify": False} | options
    return SemanticMatching(4, 3, 2, **chosen).double()  # type: ignore[arg-type]


def vectors_at(mask: Tensor) -> Tensor:
    return (torch.randn(2, *mask.shape, 4).double() * mask.unsqueeze(-1)).requires_grad_()


@pytest.mark.parametrize(
    ("query_lengths", "document_lengths"), [((3, 1, 2), (2, 5, 4)), ((3, 3, 3), (5, 5, 5))]
)
def test_factored_products_give_what_concatenation_gives(
    query_lengths: tuple[int, ...],
    document_lengths: tuple[int, ...],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    masks = prefix(query_lengths), prefix(document_lengths)
    matching = made()
    vectors = vectors_at(masks[0]), vectors_at(masks[1])

    def outcome() -> list[Tensor]:
        found = matching(*vectors, *masks, matching.attend(*vectors, *masks))
        return [found, *torch.autograd.grad(found.square().sum(), [*vectors, *weights])]

    weights = list(matching.parameters())
    factored = outcome()
    # The relu of `rectify` is only a way to choose the other branch here.
    monkeypatch.setattr(Tensor, "relu", lambda parts: parts)
    matching.rectify = True
    for one, other in zip(factored, outcome(), strict=True):
        torch.testing.assert_close(one, other, rtol=1e-11, atol=1e-12)


def test_the_fused_lstm_reads_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    masks = prefix((3, 1, 2)), prefix((2, 5, 4))
    matching = made(rectify=True, pooling="last")
    vectors = vectors_at(masks[0]), vectors_at(masks[1])
    attention = matching.attend(*vectors, *masks)
    stepwise = matching(*vectors, *masks, attention)
    lstm = matching.lstm
    own = (lstm.weight, lstm.recurrent, lstm.bias)
    monkeypatch.setattr(lstm, "forward", lambda parts, mask: fused_states(parts, mask, *own))
    fused = matching(*vectors, *masks, attention)
    torch.testing.assert_close(stepwise, fused, rtol=1e-11, atol=1e-12)
