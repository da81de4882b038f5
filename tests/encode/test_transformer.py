"""Token vectors of a transformer: those of the library, whatever else is in the batch."""

import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest
import torch
import transformers
from hypothesis import given, settings
from hypothesis import strategies as st
from tiny_transformers import TEXTS
from torch import Tensor

import matchwork as mw
from matchwork.encode import TransformerEncoder, load_transformer
from matchwork.matcher import Matcher
from matchwork.models import MODELS
from matchwork.text import PairBatch, Sequences

CLOSE = {"rtol": 1e-11, "atol": 1e-11}
UNITS = ("subword", "word")
KINDS = ("bert", "roberta")
TEXTS_TOO_LONG = (" ".join(TEXTS), " ".join(TEXTS[::-1]))


@pytest.fixture(scope="module")
def folders(bert_folder, roberta_folder):
    return {"bert": bert_folder, "roberta": roberta_folder}


@pytest.fixture(scope="module")
def loaded(folders):
    """Tokenizer and encoder in float64 by kind and unit."""
    made = {}
    for kind in KINDS:
        for unit in UNITS:
            tokenizer, encoder = load_transformer(folders[kind], unit=unit)
            made[kind, unit] = tokenizer, encoder.double().eval()
    return made


def sequences(tokenizer, texts) -> Sequences:
    return tokenizer.encode(texts).gather(np.arange(len(texts)))


def plain_vectors(folder, text: str, layer: int = -1) -> tuple[Tensor, list[int]]:
    """One text by the libraries alone, frame cut off; and the word of every piece."""
    import tokenizers

    pieces = tokenizers.Tokenizer.from_file(str(folder / "tokenizer.json"))
    pieces.no_truncation()
    pieces.no_padding()
    network = transformers.AutoModel.from_pretrained(folder).double().eval()
    encoding = pieces.encode(text)
    with torch.no_grad():
        output = network(torch.tensor([encoding.ids]), output_hidden_states=True)
    return output.hidden_states[layer][0, 1:-1], encoding.word_ids[1:-1]


def average_by_word(vectors: Tensor, words: list[int]) -> Tensor:
    return torch.stack(
        [
            torch.stack([v for v, w in zip(vectors, words, strict=True) if w == word]).mean(dim=0)
            for word in sorted(set(words))
        ]
    )


@pytest.mark.parametrize("kind", KINDS)
def test_vectors_are_those_of_the_library(folders, loaded, kind):
    pieces, words = (loaded[kind, unit] for unit in UNITS)
    by_piece = pieces[1](sequences(pieces[0], TEXTS[:3]))
    by_word = words[1](sequences(words[0], TEXTS[:3]))
    assert by_word.vectors.shape[1] < by_piece.vectors.shape[1]
    for row, text in enumerate(TEXTS[:3]):
        expected, word_of = plain_vectors(folders[kind], text)
        found = by_piece.vectors[row][by_piece.mask[row]]
        torch.testing.assert_close(found, expected, **CLOSE)
        found = by_word.vectors[row][by_word.mask[row]]
        torch.testing.assert_close(found, average_by_word(expected, word_of), **CLOSE)
        assert len(found) == len(words[0].tokens(text))


@pytest.mark.parametrize("unit", UNITS)
@pytest.mark.parametrize("kind", KINDS)
@settings(max_examples=20)
@given(
    texts=st.lists(st.text("abehrow ,é", max_size=14), min_size=1, max_size=4),
    garbage=st.sampled_from([0, 1, 79, 10**12, -5]),
)
def test_batch_mates_and_padding_change_nothing(loaded, kind, unit, texts, garbage):
    tokenizer, encoder = loaded[kind, unit]
    batch = sequences(tokenizer, texts)
    extra = torch.full((len(texts), 2), garbage)
    ids = torch.cat([batch.ids.masked_fill(~batch.mask, garbage), extra], dim=1)
    wider = Sequences(ids, torch.cat([batch.mask, torch.zeros_like(extra).bool()], dim=1))
    together, padded = encoder(batch), encoder(wider)
    for row, text in enumerate(texts):
        alone = encoder(sequences(tokenizer, [text]))
        expected = alone.vectors[0][alone.mask[0]]
        assert len(expected) == len(tokenizer.tokens(text))
        for other in (together, padded):
            torch.testing.assert_close(other.vectors[row][other.mask[row]], expected, **CLOSE)
            assert (other.vectors[row][~other.mask[row]] == 0).all()


@pytest.mark.parametrize("kind", KINDS)
def test_a_text_longer_than_the_positions_is_cut_and_counted(loaded, kind):
    """RoBERTa's 60 rows of positions are 58 places: two are kept for padding."""
    tokenizer, encoder = loaded[kind, "subword"]
    table = tokenizer.encode([" ".join(TEXTS)])
    assert table.lengths.tolist() == [{"bert": 58, "roberta": 56}[kind]]
    assert table.num_cut_texts == 1 and table.num_cut_tokens > 20
    vectors = encoder(table.gather(np.zeros(1, np.int64))).vectors
    assert torch.isfinite(vectors).all()


@pytest.mark.parametrize(("layer", "same"), [(-1, 2), (2, 2), (1, -2), (-3, 0)])
def test_layers(bert_folder, layer, same):
    tokenizer, encoder = load_transformer(bert_folder, layer=layer)
    found = encoder.double()(sequences(tokenizer, TEXTS[:1])).vectors[0]
    torch.testing.assert_close(found, plain_vectors(bert_folder, TEXTS[0], same)[0], **CLOSE)
    kept = {name.split(".")[3] for name in encoder.state_dict() if ".layer." in name}
    assert len(kept) == same % 3  # layers above are not there to be saved or trained


def test_frozen_means_frozen(bert_folder, pairs):
    tokenizer, encoder = load_transformer(bert_folder)
    model = MODELS["iasm-dynamic"].model(MODELS["iasm-dynamic"].config({}), encoder).train()
    assert model.training and not encoder.transformer.training
    batch = PairBatch(*(sequences(tokenizer, list(side)) for side in zip(*pairs, strict=True)))
    scores = model(batch).scores
    assert torch.equal(model(batch).scores, scores)  # nothing was dropped out
    scores.sum().backward()
    assert all(parameter.grad is None for parameter in encoder.parameters())
    assert not any(parameter.requires_grad for parameter in encoder.parameters())
    assert encoder.frozen_names() == set(encoder.state_dict())


@pytest.mark.parametrize("unit", UNITS)
def test_trainable_means_every_weight(bert_folder, pairs, unit):
    tokenizer, encoder = load_transformer(bert_folder, trainable=True, unit=unit)
    model = MODELS["iasm-dynamic"].model(MODELS["iasm-dynamic"].config({}), encoder).train()
    batch = PairBatch(*(sequences(tokenizer, list(side)) for side in zip(*pairs, strict=True)))
    scores = model(batch).scores
    assert not torch.equal(model(batch).scores, scores)  # dropout
    (scores * torch.arange(1, len(scores) + 1)).sum().backward()
    for name, parameter in encoder.named_parameters():
        assert parameter.grad is not None and torch.isfinite(parameter.grad).all(), name
        if not name.endswith("key.bias"):  # softmax does not see it
            assert parameter.grad.abs().max() > 0, name
    assert encoder.frozen_names() == set()


@pytest.mark.parametrize("trainable", [False, True])
@pytest.mark.parametrize("name", list(MODELS))
def test_every_model_scores_and_learns(bert_folder, pairs, name, trainable):
    tokenizer, encoder = load_transformer(bert_folder, unit="word", trainable=trainable)
    model = MODELS[name].model(MODELS[name].config({}), encoder)
    matcher = Matcher(tokenizer, model)
    before = matcher.score([*pairs, ("", "x"), ("who", " ")])
    assert np.isfinite(before).all() and len(set(before[:5])) == 5
    explanation = mw.explain(matcher, *pairs[0])
    assert [token.text for token in explanation.query_tokens] == pairs[0][0].split()

    frozen = {key: value.clone() for key, value in encoder.state_dict().items()}
    optimizer = torch.optim.SGD([p for p in model.parameters() if p.requires_grad], lr=0.01)
    batch = PairBatch(*(sequences(tokenizer, list(side)) for side in zip(*pairs, strict=True)))
    model.train()(batch).scores[0].backward()
    optimizer.step()
    assert not np.array_equal(matcher.score(pairs), before[:5])
    same = [torch.equal(value, frozen[key]) for key, value in encoder.state_dict().items()]
    assert all(same) is not trainable


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("trainable", [False, True])
def test_save_and_load_is_equal_to_the_last_bit(folders, pairs, tmp_path, kind, trainable):
    tokenizer, encoder = load_transformer(folders[kind], unit="word", trainable=trainable)
    entry = MODELS["iasm-dynamic"]
    matcher = Matcher(tokenizer, entry.model(entry.config({}), encoder))
    matcher.save(tmp_path / "matcher")
    again = Matcher.load(tmp_path / "matcher")
    assert np.array_equal(again.score(pairs), matcher.score(pairs))
    assert again.tokens(*pairs[0]) == matcher.tokens(*pairs[0])
    assert isinstance(again.model.encoder, TransformerEncoder)
    assert again.model.encoder.config == encoder.config
    assert again.model.encoder.frozen_names() == encoder.frozen_names()
    assert any(p.requires_grad for p in again.model.encoder.parameters()) is trainable
    assert str(folders[kind]) not in (tmp_path / "matcher" / "config.json").read_text()


def test_an_empty_text_without_a_frame_leaves_gradients_finite(bert_folder):
    """A transformer without [CLS] and [SEP] would attend to nothing at all."""
    from dataclasses import replace

    tokenizer, encoder = load_transformer(bert_folder, trainable=True)
    bare = TransformerEncoder(replace(encoder.config, before=(), after=()), encoder.transformer)
    encoded = bare(sequences(tokenizer, ["", "who wrote"]))
    assert torch.isfinite(encoded.vectors).all() and not encoded.mask[0].any()
    encoded.vectors.sum().backward()
    assert all(torch.isfinite(p.grad).all() for p in bare.parameters() if p.grad is not None)


def test_word_vectors_do_without_the_library():
    code = (
        "import sys; sys.modules['transformers'] = None\n"
        "import matchwork as mw\n"
        "from matchwork.errors import MissingExtraError\n"
        "tokenizer = mw.WordTokenizer.fit(['who wrote hamlet'])\n"
        "encoder = mw.WordEmbedding.from_vocabulary(tokenizer.vocabulary, dim=4)\n"
        "model = mw.MODELS['bag'].model(mw.MODELS['bag'].config({}), encoder)\n"
        "assert len(mw.Matcher(tokenizer, model).score([('who', 'hamlet')])) == 1\n"
        "from matchwork.encode import load_transformer\n"
        "try: load_transformer('x')\n"
        "except MissingExtraError as error: print(error)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    expected = "a transformer encoder needs an extra: pip install 'matchwork[transformers]'"
    assert done.stdout.strip() == expected


def test_words_that_were_cut_off_are_no_words(bert_folder):
    """Two texts that are too long together: what was not read has no vector to be matched."""
    tokenizer, encoder = load_transformer(bert_folder, unit="word", cross_encode=True)
    encoder.config = replace(encoder.config, max_positions=20)
    query, document = (tokenizer.encode([text]).gather(np.arange(1)) for text in TEXTS_TOO_LONG)
    joined = encoder.encode_pair(query, document)
    for text in (joined.query, joined.document):
        read = text.vectors[text.mask]
        assert len(read) and (read != 0).any(dim=1).all()
    whole = (query.ids < tokenizer.vocab_size) & query.mask
    assert joined.query.mask.sum() < whole.sum()
