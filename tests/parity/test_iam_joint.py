"""IAM on a transformer that reads both texts at once."""

from dataclasses import replace

import pytest
import torch
from tiny_transformers import tiny_encoder

from matchwork.encode import WordEmbedding, WordEmbeddingConfig
from matchwork.errors import ConfigError
from matchwork.models import IAM, IAMConfig
from matchwork.rank import Matcher
from matchwork.text import PairBatch, Sequences

QUERIES, DOCUMENTS = [[2, 3, 4], [5], [6, 7]], [[8, 9], [2, 3, 10, 11], [4]]


def iam(joint: bool = True) -> IAM:
    torch.manual_seed(0)
    return IAM(IAMConfig(units=4, hidden=5, joint=joint), tiny_encoder(20, 8)).double().eval()


def scores(model: IAM, queries: list[list[int]], documents: list[list[int]]) -> list[float]:
    output = model(PairBatch(Sequences.pad(queries), Sequences.pad(documents)))
    return output.scores.tolist()


def test_every_pair_is_read_together_and_then_matched() -> None:
    model = iam()
    together = scores(model, QUERIES, DOCUMENTS)
    for score, query, document in zip(together, QUERIES, DOCUMENTS, strict=True):
        assert scores(model, [query], [document]) == pytest.approx([score], abs=1e-12)
        joined = model.encoder.join(Sequences.pad([query]), Sequences.pad([document]))
        texts = [
            replace(text, ids=torch.tensor([ids]))
            for text, ids in ((joined.query, query), (joined.document, document))
        ]
        assert model.match(*texts).scores.item() == pytest.approx(score, abs=1e-12)
    assert together != pytest.approx(scores(iam(joint=False), QUERIES, DOCUMENTS), abs=1e-6)


def test_stages_read_one_text_alone() -> None:
    text = Sequences.pad(DOCUMENTS)
    ours, apart = iam().encode(text), iam(joint=False).encode(text)
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


def test_what_cannot_be_done_together(tokenizer) -> None:
    words = WordEmbedding(WordEmbeddingConfig(vocab_size=20, dim=8))
    with pytest.raises(ConfigError, match="joint = true lets two texts see each other, which 'wor"):
        IAM(IAMConfig(joint=True), words)
    model = IAM(IAMConfig(units=4, joint=True), tiny_encoder(tokenizer.vocab_size, 8))
    with pytest.raises(ConfigError, match="reads a document together with its query"):
        Matcher(tokenizer, model, name="iam").index(["text"])
