"""ColBERT against MaxSim with loops."""

import numpy as np
import pytest
import torch

from matchwork.encode import Encoded, WordEmbedding, WordEmbeddingConfig
from matchwork.errors import ConfigError
from matchwork.models import ColBERT, ColBERTConfig
from matchwork.text import PairBatch, Sequences

DIM = 5


def colbert(**settings: object) -> ColBERT:
    torch.manual_seed(0)
    encoder = WordEmbedding(WordEmbeddingConfig(vocab_size=12, dim=DIM, trainable=True))
    return ColBERT(ColBERTConfig(**settings), encoder).double()


def slow_max_sim(query: np.ndarray, document: np.ndarray) -> tuple[float, list[float]]:
    best = []
    for q in query:
        cosines = [q @ d / (np.sqrt(q @ q) * np.sqrt(d @ d)) for d in document]
        best.append(max(cosines) if cosines else -1.0)
    return sum(best), best


@pytest.mark.parametrize("settings", [{}, {"dim": 3}, {"scale": 4.0}], ids=str)
def test_scores(settings: dict) -> None:
    model = colbert(**settings)
    queries, documents = [[2, 3, 4], [5], [], [6, 7]], [[8, 9], [2, 3, 10, 11], [4], []]
    output = model(PairBatch(Sequences.pad(queries), Sequences.pad(documents)))
    table = model.encoder.table.detach().numpy()
    if "dim" in settings:
        table = table @ model.projection.weight.detach().numpy().T
    agreement = output.evidence["query_agreement"].values
    for row, (query, document) in enumerate(zip(queries, documents, strict=True)):
        score, best = slow_max_sim(table[query], table[document])
        factor = model.log_scale.exp().item()
        assert output.scores[row].item() == pytest.approx(factor * score, abs=1e-12)
        np.testing.assert_allclose(agreement[row, : len(query)].tolist(), best, atol=1e-12)


def test_padding_does_not_beat_texts_with_nothing_in_common() -> None:
    """Masked by multiplication, padding (0) would win over a negative cosine."""
    mask = torch.tensor([[True, False]])
    query = Encoded(torch.tensor([[[1.0, 0.0], [9.0, 9.0]]]), mask)
    document = Encoded(torch.tensor([[[-1.0, 0.0], [9.0, 9.0]]]), mask)
    assert colbert().float().match(query, document).scores.item() == pytest.approx(-1.0)


def test_gradients() -> None:
    model = colbert(dim=2)
    batch = PairBatch(Sequences.pad([[2, 3, 4], [5]]), Sequences.pad([[8, 9], [2, 7, 10]]))
    names = [name for name, _ in model.named_parameters()]

    def scores(*values: torch.Tensor) -> torch.Tensor:
        state = dict(zip(names, values, strict=True))
        return torch.func.functional_call(model, state, (batch,)).scores

    assert torch.autograd.gradcheck(
        scores, [value.detach().clone().requires_grad_() for value in model.parameters()]
    )


@pytest.mark.parametrize(("name", "value"), [("dim", 0), ("scale", -1.0)])
def test_bad_settings(name: str, value: float) -> None:
    with pytest.raises(ConfigError, match=f"{name} must be"):
        ColBERTConfig(**{name: value})
