"""What scores go through: as the library's folders say, and after saving."""

import json
import shutil

import numpy as np
import pytest
from tiny_sentence_transformers import PAIRS
from torch import nn

from matchwork.errors import ConfigError, DataError
from matchwork.integrations.sentence_transformers import CrossEncoder
from matchwork.matcher import Matcher

sentence_transformers = pytest.importorskip("sentence_transformers")
EQUAL = {"rtol": 0, "atol": 1e-5}
QUERY, DOCUMENTS = PAIRS[0][0], [document for _, document in PAIRS]


@pytest.mark.parametrize("pairs", [PAIRS[0], PAIRS[:1], PAIRS], ids=["single", "one", "several"])
def test_activations_that_leave_a_column_out(ours, theirs, pairs):
    options = {"activation_fn": lambda column: column.squeeze(-1)}
    found, expected = ours.predict(pairs, **options), theirs.predict(pairs, **options)
    assert np.shape(found) == np.shape(expected)
    np.testing.assert_allclose(found, expected, **EQUAL)
    assert len(ours.rank(QUERY, DOCUMENTS[:1], **options)) == 1


@pytest.mark.parametrize("activation", [nn.Identity(), nn.Tanh()], ids=str)
def test_the_activation_that_was_saved(theirs, tmp_path, activation):
    theirs.activation_fn, kept = activation, theirs.activation_fn
    try:
        theirs.save_pretrained(str(tmp_path / "saved"), create_model_card=False)
        expected = theirs.predict(PAIRS)
    finally:
        theirs.activation_fn = kept
    np.testing.assert_allclose(CrossEncoder(tmp_path / "saved").predict(PAIRS), expected, **EQUAL)


@pytest.mark.parametrize(
    "written",
    [
        {"sbert_ce_default_activation_function": "torch.nn.modules.activation.Tanh"},
        {"sentence_transformers": {"activation_fn": "torch.nn.modules.activation.Tanh"}},
        {
            "sentence_transformers": {"activation_fn": None},
            "sbert_ce_default_activation_function": "torch.nn.Tanh",
        },
        {
            "sentence_transformers": {"version": "3.0"},
            "sbert_ce_default_activation_function": "torch.nn.Tanh",
        },
    ],
    ids=str,
)
def test_the_activation_where_older_versions_wrote_it(folder, tmp_path, written):
    copy = shutil.copytree(folder, tmp_path / "copy")
    (copy / "config_sentence_transformers.json").unlink(missing_ok=True)
    config = json.loads((copy / "config.json").read_text())
    (copy / "config.json").write_text(json.dumps(config | written))
    found = CrossEncoder(copy)
    theirs = sentence_transformers.CrossEncoder(str(copy), device="cpu")
    assert type(found.activation_fn) is type(theirs.activation_fn)
    np.testing.assert_allclose(found.predict(PAIRS), theirs.predict(PAIRS), **EQUAL)


def test_the_activation_where_nothing_lists_its_file(folder, tmp_path):
    """Without `modules.json` the library does not open that file."""
    copy = shutil.copytree(folder, tmp_path / "copy")
    identity = {"activation_fn": "torch.nn.modules.linear.Identity"}
    (copy / "config_sentence_transformers.json").write_text(json.dumps(identity))
    (copy / "modules.json").unlink()
    theirs = sentence_transformers.CrossEncoder(str(copy), device="cpu")
    np.testing.assert_allclose(CrossEncoder(copy).predict(PAIRS), theirs.predict(PAIRS), **EQUAL)


@pytest.mark.parametrize("precision", ["32", "bf16"])
def test_the_activation_stays_with_the_matcher(theirs, tmp_path, precision):
    """Behind a matcher, and when that is saved and opened again."""
    theirs.activation_fn, kept = nn.Identity(), theirs.activation_fn
    try:
        theirs.save_pretrained(str(tmp_path / "saved"), create_model_card=False)
    finally:
        theirs.activation_fn = kept
    matcher = Matcher.load(tmp_path / "saved", precision=precision)
    CrossEncoder(matcher).save_pretrained(tmp_path / "ours")
    expected = matcher.score(PAIRS)
    for found in (
        CrossEncoder(matcher),
        CrossEncoder(tmp_path / "saved", precision=precision),
        CrossEncoder(tmp_path / "ours", precision=precision),
    ):
        np.testing.assert_allclose(found.predict(PAIRS), expected, **EQUAL)
    with pytest.raises(ConfigError, match="a Matcher has its own precision"):
        CrossEncoder(matcher, precision="bf16")


def test_what_the_caller_set_is_saved(folder, tmp_path):
    ours = CrossEncoder(Matcher.load(folder), max_length=12, activation_fn=nn.Tanh())
    ours.save(tmp_path / "ours")
    opened = CrossEncoder(tmp_path / "ours")
    assert isinstance(opened.activation_fn, nn.Tanh) and opened.max_length == 12
    np.testing.assert_allclose(opened.predict(PAIRS), ours.predict(PAIRS), **EQUAL)
    ours.activation_fn = lambda scores: scores + 1
    with pytest.warns(UserWarning, match="activation_fn is not saved; give it again"):
        ours.save_pretrained(tmp_path / "again")
    assert isinstance(CrossEncoder(tmp_path / "again").activation_fn, nn.Sigmoid)


def test_foreign_activations_are_not_run(folder, tmp_path):
    copy = shutil.copytree(folder, tmp_path / "copy")
    path = copy / "config_sentence_transformers.json"
    path.write_text(json.dumps({"activation_fn": "os.system"}))
    with pytest.raises(DataError, match=r"activation 'os\.system' is not one of torch\.nn"):
        CrossEncoder(copy)
