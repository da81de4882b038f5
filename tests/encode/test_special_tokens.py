"""[CLS] as a token of the text, or set before it: what the transformer reads and models match."""

import numpy as np
import pytest
import tokenizers
import torch
import transformers
from tiny_transformers import bert_tokenizer

import matchwork as mw
from matchwork.encode import load_transformer
from matchwork.errors import ConfigError
from matchwork.matcher import Matcher
from matchwork.models import MODELS
from matchwork.text import SubwordTokenizer, SubwordTokenizerConfig

CLOSE = {"rtol": 1e-11, "atol": 1e-11}
TEXTS = ["who wrote hamlet, unbelievably", "bamboo", ""]


def load(folder, **options):
    tokenizer, encoder = load_transformer(folder, **options)
    return tokenizer, encoder.double().eval()


@pytest.mark.parametrize(("folder_name", "cls"), [("bert_folder", 2), ("roberta_folder", 0)])
@pytest.mark.parametrize("special_tokens", ["token", "before"])
def test_vectors_are_those_of_the_library(request, folder_name, cls, special_tokens):
    folder = request.getfixturevalue(folder_name)
    tokenizer, encoder = load(folder, special_tokens=special_tokens)
    network = transformers.AutoModel.from_pretrained(folder).double().eval()
    plain = tokenizers.Tokenizer.from_file(str(folder / "tokenizer.json"))
    plain.no_truncation()
    plain.no_padding()
    found = encoder(tokenizer.encode(TEXTS).gather(np.arange(len(TEXTS))))
    for row, text in enumerate(TEXTS):
        pieces = [cls, *plain.encode(text, add_special_tokens=False).ids]
        with torch.no_grad():
            expected = network(torch.tensor([pieces])).last_hidden_state[0]
        expected = expected if special_tokens == "token" else expected[1:]
        length = int(found.mask[row].sum())
        assert length == len(expected)
        torch.testing.assert_close(found.vectors[row, :length], expected, **CLOSE)


def test_the_first_token_stands_nowhere_in_the_text(bert_folder):
    tokenizer, _ = load(bert_folder, special_tokens="token", unit="word")
    tokens = tokenizer.tokens("who wrote", 2)
    assert [tuple(token) for token in tokens] == [("[CLS]", 0, 0), ("who", 0, 3)]
    assert [token.text for token in tokenizer.tokens("")] == ["[CLS]"]
    table = tokenizer.encode(["who wrote hamlet"], 2)
    assert len(tokens) == (table[0] < tokenizer.vocab_size).sum() and table.num_cut_texts == 1


@pytest.mark.parametrize("special_tokens", ["around", "before", "token"])
def test_no_text_is_longer_than_the_positions(special_tokens):
    config = SubwordTokenizerConfig(max_positions=8, special_tokens=special_tokens)
    tokenizer = SubwordTokenizer(bert_tokenizer(), config)
    ids = tokenizer.encode(["bamboo " * 20])[0]
    assert len(ids) + sum(map(len, tokenizer.special_ids)) == 8
    assert (ids[0] == 2) == (special_tokens == "token")
    again = SubwordTokenizer.from_dict(tokenizer.to_dict())
    assert again.config == config and again.special_ids == tokenizer.special_ids


def test_a_tokenizer_without_special_pieces():
    pieces = bert_tokenizer()
    pieces.post_processor = tokenizers.processors.Sequence([])
    SubwordTokenizer(pieces)
    message = r'special_tokens = "token" needs a special token such as \[CLS\] before a text'
    with pytest.raises(ConfigError, match=message):
        SubwordTokenizer(pieces, SubwordTokenizerConfig(special_tokens="token"))


@pytest.mark.parametrize("name", ["addax", "addax-attention"])
def test_addax_reads_cuts_saves_and_explains_it(bert_folder, tmp_path, name):
    tokenizer, encoder = load_transformer(bert_folder, special_tokens="token", trainable=True)
    torch.manual_seed(0)
    config = MODELS[name].config({"query_length": 4, "document_length": 6, "hash_dim": 5})
    matcher = Matcher(tokenizer, MODELS[name].model(config, encoder))
    pairs = [("who wrote hamlet and where is it", "the play was written by shakespeare"), ("", "")]
    scores = matcher.score(pairs)
    assert np.isfinite(scores).all() and matcher.reader.read(pairs).truncation.texts == 2
    why = mw.explain(matcher, *pairs[0])
    assert [len(why.query_tokens), len(why.document_tokens)] == [4, 6]
    assert why.query_tokens[0].text == why.document_tokens[0].text == "[CLS]"
    assert why.tables["alignment"].sum() == pytest.approx(why.score, rel=1e-5)
    assert "[CLS]" in {pair.query for pair in why.strongest("cosine", top_k=24)}
    matcher.save(tmp_path / "saved")
    again = Matcher.load(tmp_path / "saved")
    assert (again.max_query_length, again.max_document_length) == (4, 6)
    assert np.array_equal(again.score(pairs), scores)
