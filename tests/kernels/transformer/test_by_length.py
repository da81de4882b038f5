"""Rows in several passes: nothing is lost, padding is saved."""

from pathlib import Path
from unittest.mock import Mock

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from tiny_transformers import save_transformer
from torch import Tensor

from matchwork.encode import TransformerConfig, TransformerEncoder, load_transformer
from matchwork.kernels.transformer import forward, ragged_forward
from matchwork.kernels.transformer.by_length import distinct_rows, in_passes, pass_ends
from matchwork.text import Sequences

_LENGTHS = st.lists(st.integers(0, 60), min_size=1, max_size=40)


def _padded(lengths: list[int], ends: list[int]) -> int:
    starts = [0, *ends[:-1]]
    return sum((end - start) * lengths[end - 1] for start, end in zip(starts, ends, strict=True))


@given(_LENGTHS, st.integers(0, 100))
def test_every_cut_saves_what_it_must(lengths: list[int], worth: int) -> None:
    lengths = sorted(lengths)
    ends = pass_ends(lengths, worth)
    assert ends == sorted(set(ends)) and ends[-1] == len(lengths)
    whole = len(lengths) * lengths[-1]
    assert whole - _padded(lengths, ends) >= (len(ends) - 1) * max(1, worth)


def test_no_more_cuts_than_lengths() -> None:
    assert pass_ends([5] * 9, min_saving=0) == [9]
    assert pass_ends([2, 2, 7, 7], min_saving=1) == [2, 4]
    assert pass_ends([], min_saving=1) == [0]


@given(_LENGTHS)
def test_passes_give_what_one_would(lengths: list[int]) -> None:
    width = max(1, *lengths)
    rows = torch.arange(float(len(lengths) * width)).view(len(lengths), width, 1) + 1
    mask = torch.arange(width) < torch.tensor(lengths)[:, None]
    widths = []

    def run(chosen: Tensor, longest: int) -> Tensor:
        widths.append(len(chosen) * longest)
        return rows[chosen, :longest]

    found = in_passes(run, torch.tensor(lengths), min_saving=1)
    real = mask[:, : found.shape[1], None]
    assert (mask.sum() == real.sum()) and torch.equal(
        found * real, rows[:, : found.shape[1]] * real
    )
    assert sum(widths) <= len(lengths) * width


def test_a_transformer_reads_unequal_rows_as_it_reads_each_alone(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(forward._PASS_WORK, "cpu", 0)  # so small a network is never split
    monkeypatch.setattr(ragged_forward, "can_run", lambda _: False)  # as on a GPU
    torch.manual_seed(0)
    encoder = _tiny().double().train()  # no dropout in it
    lengths = torch.tensor([40, 2, 3, 39, 1, 0, 2])
    mask = torch.arange(40) < lengths[:, None]
    texts = Sequences(torch.randint(4, 50, mask.shape), mask)

    def gradients(vectors: Tensor) -> list[Tensor]:
        weights = [w for w in encoder.parameters() if w.requires_grad]
        found = torch.autograd.grad(vectors.square().sum(), weights, allow_unused=True)
        return [gradient for gradient in found if gradient is not None]

    passes = Mock(wraps=encoder.transformer.forward)
    monkeypatch.setattr(encoder.transformer, "forward", passes)
    together = encoder(texts).vectors * mask[..., None]
    assert passes.call_count > 1
    rows = [Sequences(texts.ids[[row]], mask[[row]]) for row in range(len(texts))]
    alone = torch.cat([encoder(row).vectors for row in rows]) * mask[..., None]
    torch.testing.assert_close(together, alone)
    for ours, theirs in zip(gradients(together), gradients(alone), strict=True):
        torch.testing.assert_close(ours, theirs)


@pytest.mark.parametrize("kind", ["convbert", "fnet", "mobilebert", "nystromformer", "yoso"])
def test_networks_that_heed_padding_see_none(kind: str, tmp_path: Path) -> None:
    """Their own code lets padding into the vectors of tokens."""
    _, encoder = load_transformer(save_transformer(tmp_path / kind, kind))
    ids = torch.randint(4, 50, (4, 9), generator=torch.Generator().manual_seed(0))
    texts = Sequences(ids, torch.arange(9) < torch.tensor([[9], [3], [5], [3]]))
    with torch.no_grad():
        together = encoder(texts).vectors
        for row, length in enumerate(texts.lengths.tolist()):
            alone = encoder(Sequences(ids[[row], :length], texts.mask[[row], :length]))
            torch.testing.assert_close(together[[row], :length], alone.vectors)


@given(st.lists(st.integers(0, 3), min_size=1, max_size=12))
def test_rows_are_found_among_the_distinct_ones(kinds: list[int]) -> None:
    ids = torch.tensor(kinds)[:, None].expand(-1, 3)
    mask = torch.ones_like(ids, dtype=torch.bool)
    first, same = distinct_rows(ids, mask)
    assert len(first) == len(set(kinds))
    assert torch.equal(ids[first][same], ids)


def test_a_shorter_text_is_another_even_where_padding_is_a_word() -> None:
    ids, mask = torch.tensor([[7, 0], [7, 0]]), torch.tensor([[True, True], [True, False]])
    assert len(distinct_rows(ids, mask)[0]) == 2


def test_a_transformer_reads_equal_texts_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ragged_forward, "can_run", lambda _: False)  # as on a GPU
    torch.manual_seed(0)
    encoder = _tiny().train()
    ids = torch.randint(4, 50, (2, 6))[[0, 1, 0, 0, 1]]
    texts = Sequences(ids, torch.ones_like(ids, dtype=torch.bool))
    passes = Mock(wraps=encoder.transformer.forward)
    monkeypatch.setattr(encoder.transformer, "forward", passes)
    vectors = encoder(texts).vectors
    assert [len(call.kwargs["input_ids"]) for call in passes.call_args_list] == [2]
    assert torch.equal(vectors, vectors[[0, 1]][[0, 1, 0, 0, 1]])
    assert not torch.equal(vectors[0], vectors[1])


def _tiny() -> TransformerEncoder:
    architecture = {
        "model_type": "mpnet",
        "vocab_size": 50,
        "num_hidden_layers": 2,
        "hidden_size": 8,
        "intermediate_size": 16,
        "num_attention_heads": 2,
        "hidden_dropout_prob": 0.0,
        "attention_probs_dropout_prob": 0.0,
    }
    return TransformerEncoder(
        TransformerConfig(
            architecture=architecture, vocab_size=50, before=(2,), after=(3,), trainable=True
        )
    )
