"""IAM on a transformer that reads both texts at once."""

import torch
from tiny_transformers import tiny_encoder

from matchwork.models import IAM, IAMConfig
from matchwork.text import PairBatch, Sequences

QUERIES, DOCUMENTS = [[2, 3, 4], [5], [6, 7]], [[8, 9], [2, 3, 10, 11], [4]]


def iam(cross_encode: bool = True) -> IAM:
    torch.manual_seed(0)
    return IAM(IAMConfig(units=4, hidden=5), tiny_encoder(20, 8, cross_encode)).double().eval()


def test_stages_read_one_text_alone() -> None:
    text = Sequences.pad(DOCUMENTS)
    ours, apart = iam().encode(text), iam(cross_encode=False).encode(text)
    assert torch.equal(ours.vectors, apart.vectors) and torch.equal(ours.ids, apart.ids)


def test_gradients_reach_the_transformer_through_frozen_readers() -> None:
    model = iam().train()
    model.encoder.transformer.requires_grad_(True)
    with torch.enable_grad():
        output = model(PairBatch(Sequences.pad(QUERIES), Sequences.pad(DOCUMENTS)))
        output.scores.sum().backward()
    layer = model.encoder.layers()[0]
    assert all(parameter.grad.abs().sum() > 0 for parameter in layer.parameters())
    assert all(parameter.grad is None for parameter in model.document_reader.parameters())
