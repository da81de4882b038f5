"""`Matcher.build` makes an untrained matcher from a name, texts and settings."""

import numpy as np
import pytest
import torch

import matchwork as mw
from matchwork.errors import ConfigError, UnknownNameError

TEXTS = ["who wrote hamlet", "shakespeare wrote the play"]
PAIRS = [(TEXTS[0], TEXTS[1]), ("the play", TEXTS[0])]


def test_settings_and_vocabulary():
    matcher = mw.Matcher.build("knrm", TEXTS, dim=7, num_kernels=5)
    assert matcher.name == "knrm" and matcher.model.config.num_kernels == 5
    assert matcher.model.encoder.dim == 7 and matcher.model.encoder.config.trainable
    assert "hamlet" in matcher.tokenizer.vocabulary.words
    assert not mw.Matcher.build("bag", TEXTS, trainable=False).model.encoder.config.trainable


def test_equal_seeds_give_equal_weights_and_leave_the_global_state():
    state = torch.get_rng_state()
    first, again, other = (
        mw.Matcher.build("match-srnn", TEXTS, dim=6, seed=seed).score(PAIRS) for seed in (3, 3, 4)
    )
    assert np.array_equal(first, again) and not np.array_equal(first, other)
    assert torch.equal(torch.get_rng_state(), state)


def test_vectors_of_a_file_or_in_memory(tmp_path):
    path = tmp_path / "vectors.txt"
    path.write_text("hamlet 1 0 2\nplay 0 1 0\n")
    matcher = mw.Matcher.build("bag", TEXTS, vectors=path)
    row = matcher.tokenizer.encode(["hamlet"])[0][0]
    assert matcher.model.encoder.table[row].tolist() == [1.0, 0.0, 2.0]
    same = mw.Matcher.build("bag", TEXTS, vectors=mw.WordVectors.load(path))
    assert np.array_equal(matcher.score(PAIRS), same.score(PAIRS))


def test_on_a_transformer(bert_folder):
    matcher = mw.Matcher.build("colbert", transformer=bert_folder, trainable=False)
    assert matcher.is_transformer and matcher.score(PAIRS).shape == (2,)


def test_what_cannot_be_built(bert_folder):
    with pytest.raises(UnknownNameError, match="no model named 'knrn'; did you mean 'knrm'"):
        mw.Matcher.build("knrn", TEXTS)
    with pytest.raises(ConfigError, match=r"knrm: unknown key 'kernels'"):
        mw.Matcher.build("knrm", TEXTS, kernels=3)
    with pytest.raises(ConfigError, match="needs texts, whose words it will know"):
        mw.Matcher.build("knrm")
    with pytest.raises(ConfigError, match="give vectors or a transformer, not both"):
        mw.Matcher.build("bag", TEXTS, vectors="v.txt", transformer=bert_folder)
