"""Every model on a transformer that reads both texts as one."""

import pytest
import torch
from tiny_transformers import tiny_encoder

from matchwork.encode import WordEmbedding, WordEmbeddingConfig, load_transformer
from matchwork.errors import ConfigError
from matchwork.matcher import Matcher
from matchwork.models import MODELS, MatchModel, bi_encoded
from matchwork.text import PairBatch, Sequences

QUERIES, DOCUMENTS = [[2, 3, 4], [5], [6, 7]], [[8, 9], [2, 3, 10, 11], [4]]
MATCH_MODELS = [name for name in MODELS if issubclass(MODELS[name].model, MatchModel)]


def made(name: str, cross_encode: bool = True) -> MatchModel:
    torch.manual_seed(0)
    entry = MODELS[name]
    return entry.model(entry.config({}), tiny_encoder(20, 8, cross_encode)).double().eval()


def scores(model: MatchModel, queries: list[list[int]], documents: list[list[int]]) -> list[float]:
    return model(PairBatch(Sequences.pad(queries), Sequences.pad(documents))).scores.tolist()


@pytest.mark.parametrize("name", MATCH_MODELS)
@torch.no_grad()
def test_every_pair_is_read_together_and_then_matched(name: str) -> None:
    model = made(name)
    together = scores(model, QUERIES, DOCUMENTS)
    for score, query, document in zip(together, QUERIES, DOCUMENTS, strict=True):
        assert scores(model, [query], [document]) == pytest.approx([score], abs=1e-10)
        sides = Sequences.pad([query]), Sequences.pad([document])
        joined = model.encoder.encode_pair(*sides)
        texts = (joined.query, sides[0]), (joined.document, sides[1])
        matched = model.match(*(model.post_encode(*text) for text in texts))
        assert matched.scores.item() == pytest.approx(score, abs=1e-10)
    assert together != pytest.approx(
        scores(made(name, cross_encode=False), QUERIES, DOCUMENTS), abs=1e-9
    )


@pytest.mark.parametrize("name", ["iasm-dynamic", "addax"])
def test_it_is_saved_with_the_matcher(name, bert_folder, tmp_path, pairs) -> None:
    torch.manual_seed(0)
    tokenizer, encoder = load_transformer(bert_folder, cross_encode=True)
    entry = MODELS[name]
    matcher = Matcher(tokenizer, entry.model(entry.config({}), encoder), name=name)
    matcher.save(tmp_path / "matcher")
    opened = Matcher.load(tmp_path / "matcher", device="cpu")
    assert opened.model.encoder.cross_encode and not bi_encoded(opened.model)
    assert opened.score(pairs) == pytest.approx(matcher.score(pairs))
    with pytest.raises(ConfigError, match="reads a document together with its query"):
        opened.index(["text"])


def test_what_cannot_be_read_together(bert_folder) -> None:
    words = WordEmbedding(WordEmbeddingConfig(vocab_size=20, dim=8))
    text = Sequences.pad(QUERIES)
    with pytest.raises(ConfigError, match="reads one text at a time; use a transformer"):
        words.encode_pair(text, text)
    with pytest.raises(ConfigError, match=r"one \[CLS\] stands before both, so leave "):
        load_transformer(bert_folder, special_tokens="token", cross_encode=True)
