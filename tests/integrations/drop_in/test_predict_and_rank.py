"""One import swapped: the same numbers, keys and order as the library's own `CrossEncoder`."""

import inspect
import pickle
from copy import deepcopy

import numpy as np
import pytest
import torch
from tiny_sentence_transformers import PAIRS
from torch import nn

from matchwork.errors import ConfigError, DataError
from matchwork.integrations.sentence_transformers import CrossEncoder
from matchwork.matcher import Matcher
from matchwork.rank.calibration import Calibration

sentence_transformers = pytest.importorskip("sentence_transformers")
EQUAL = {"rtol": 0, "atol": 1e-5}
QUERY, DOCUMENTS = PAIRS[0][0], [document for _, document in PAIRS]


@pytest.mark.parametrize("method", ["predict", "rank"])
def test_the_same_arguments_in_the_same_order(method):
    library = inspect.signature(getattr(sentence_transformers.CrossEncoder, method)).parameters
    mine = inspect.signature(getattr(CrossEncoder, method)).parameters
    shared = [name for name in mine if name != "older"]
    assert shared == [name for name in library if name != "kwargs"]
    for name in shared:
        if name != "inputs":
            assert mine[name].default == library[name].default, name


def test_all_that_the_library_is_made_with(folder, ours):
    library = inspect.signature(sentence_transformers.CrossEncoder.__init__).parameters
    mine = inspect.signature(CrossEncoder.__init__).parameters
    ours_alone = ("positional", "precision", "older")
    assert [name for name in mine if name not in ours_alone] == list(library)
    harmless = {name: library[name].default for name in list(library)[2:]}
    harmless |= {"num_labels": 1, "trust_remote_code": True, "local_files_only": True}
    harmless |= {"model_kwargs": {"torch_dtype": torch.float32, "attn_implementation": "eager"}}
    harmless |= {"prompts": {"query": "", "document": ""}, "revision": "main"}
    for options in (harmless, {"automodel_args": None, "default_activation_function": None}):
        found = CrossEncoder(str(folder), **options).predict(PAIRS)
        assert np.array_equal(found, ours.predict(PAIRS))
    assert CrossEncoder(model_name=str(folder)).eval().to("cpu").num_labels == 1


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"num_labels": 3}, "num_labels = 3 is not supported"),
        ({"backend": "onnx"}, "backend = 'onnx' is not supported"),
        ({"model_kwargs": {"dtype": "float16"}}, "model_kwargs = .* is not supported"),
        ({"tokenizer_args": {"use_fast": False}}, "tokenizer_args = .* is not supported"),
        ({"maximal_length": 3}, "no argument 'maximal_length'"),
        ({"max_length": 3}, "max_length = 3 leaves no room for text: 3 tokens are special"),
    ],
)
def test_what_it_is_not_made_with(folder, options, message):
    with pytest.raises(ConfigError, match=message):
        CrossEncoder(folder, **options)
    with pytest.raises(ConfigError, match="needs the name or folder"):
        CrossEncoder()


def test_models_of_the_hub_are_fetched_as_asked(folder, monkeypatch):
    asked = {}

    def fetch(name, **options):
        asked.update(options, name=name)
        return str(folder)

    monkeypatch.setattr("huggingface_hub.snapshot_download", fetch)
    found = CrossEncoder("some/model", revision="v2", cache_folder="here", token="mine")
    assert asked.pop("allow_patterns") and len(found.predict(PAIRS)) == len(PAIRS)
    assert asked == {"name": "some/model", "revision": "v2", "cache_dir": "here", "token": "mine"}


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"batch_size": 3},
        {"activation_fn": nn.Identity()},
        {"activation_fn": torch.tanh, "apply_softmax": True},
        {"activation_fn": lambda scores: scores.double()},
        {"convert_to_tensor": True},
        {"convert_to_numpy": False},
    ],
)
def test_predict(ours, theirs, options):
    found, expected = ours.predict(PAIRS, **options), theirs.predict(PAIRS, **options)
    assert type(found) is type(expected) and len(found) == len(expected)
    assert type(found[0]) is type(expected[0]) and found[0].dtype == expected[0].dtype
    np.testing.assert_allclose(np.stack(list(found)), np.stack(list(expected)), **EQUAL)


@pytest.mark.parametrize("pair", [PAIRS[0], list(PAIRS[0]), np.array(PAIRS[0])], ids=type)
def test_a_single_pair(ours, theirs, pair):
    found, expected = ours.predict(pair), theirs.predict(pair)
    assert np.shape(found) == np.shape(expected) == ()
    assert found == pytest.approx(expected, abs=1e-5)


def test_pairs_of_any_kind(ours):
    for kind in (list, np.array):
        assert np.array_equal(ours.predict([kind(pair) for pair in PAIRS]), ours.predict(PAIRS))


def test_nothing_to_do(ours, theirs):
    assert len(ours.predict([])) == len(theirs.predict([])) == 0
    assert ours.rank(QUERY, []) == []
    options = {"activation_fn": lambda scores: scores - scores.min()}
    assert len(ours.predict([], **options)) == len(theirs.predict([], **options)) == 0


def test_the_names_that_older_code_uses(ours, theirs, folder):
    older = {"activation_fct": nn.Tanh(), "num_workers": 2}
    found = ours.predict(sentences=PAIRS, **older)
    assert np.array_equal(found, ours.predict(PAIRS, activation_fn=nn.Tanh()))
    assert ours.rank(QUERY, DOCUMENTS, **older) == ours.rank(
        QUERY, DOCUMENTS, activation_fn=nn.Tanh()
    )
    for format in ("convert_to_tensor", "convert_to_numpy", "apply_softmax"):
        options = {"top_k": 2, format: True}
        expected = [each["corpus_id"] for each in theirs.rank(QUERY, DOCUMENTS, **options)]
        assert [each["corpus_id"] for each in ours.rank(QUERY, DOCUMENTS, **options)] == expected
    made = CrossEncoder(folder, cache_dir=None, tokenizer_kwargs=None)
    assert type(made.default_activation_function) is type(theirs.activation_fn)
    by_place = CrossEncoder(folder, 1, 12)
    assert by_place.max_length == 12 and by_place.num_labels == 1
    by_place = CrossEncoder(folder, 1, 12, nn.Identity(), "cpu")
    assert isinstance(by_place.activation_fn, nn.Identity) and by_place.max_length == 12
    with pytest.raises(ConfigError, match="num_labels, max_length, activation_fn and device by th"):
        CrossEncoder(folder, 1, 12, None, "cpu", None)


@pytest.mark.parametrize(
    "options",
    [{}, {"top_k": 3}, {"return_documents": True, "batch_size": 2}, {"activation_fn": nn.Tanh()}],
    ids=str,
)
def test_rank(ours, theirs, options):
    found = ours.rank(QUERY, DOCUMENTS, **options)
    expected = theirs.rank(QUERY, DOCUMENTS, **options)
    assert [each["corpus_id"] for each in found] == [each["corpus_id"] for each in expected]
    assert [each.keys() for each in found] == [each.keys() for each in expected]
    assert [each.get("text") for each in found] == [each.get("text") for each in expected]
    scores = [[each["score"] for each in side] for side in (found, expected)]
    np.testing.assert_allclose(*scores, **EQUAL)


def test_equal_scores_keep_the_order_given(ours, theirs):
    documents = [DOCUMENTS[1]] * 5
    found, expected = ours.rank(QUERY, documents), theirs.rank(QUERY, documents)
    assert [each["corpus_id"] for each in found] == [each["corpus_id"] for each in expected]


def test_the_matcher_of_the_caller_stays_as_it_is(folder):
    matcher = Matcher.load(folder)
    before = matcher.score(PAIRS)
    short = CrossEncoder(matcher, max_length=10)
    lowered = short.predict(PAIRS, batch_size=1, activation_fn=nn.Identity())
    expected = CrossEncoder(folder, max_length=10).predict(PAIRS, activation_fn=nn.Identity())
    np.testing.assert_allclose(lowered, expected, **EQUAL)
    assert np.array_equal(matcher.score(PAIRS), before) and matcher.max_pairs is None
    short.max_length = None
    np.testing.assert_allclose(short.predict(PAIRS, activation_fn=nn.Identity()), before, **EQUAL)


def test_it_goes_to_other_processes(ours, tiny_matcher):
    calibrated = tiny_matcher("bag")
    calibrated.calibration = Calibration(2.0, 0.5)
    for model in (ours, CrossEncoder(calibrated)):
        again = pickle.loads(pickle.dumps(model))
        assert np.array_equal(again.predict(PAIRS), model.predict(PAIRS))


def test_evaluators_of_the_library_take_it(ours, theirs):
    from sentence_transformers.cross_encoder.evaluation import (
        CrossEncoderClassificationEvaluator,
        CrossEncoderCorrelationEvaluator,
        CrossEncoderRerankingEvaluator,
    )

    labels = [number % 2 for number in range(len(PAIRS))]
    samples = [{"query": QUERY, "positive": DOCUMENTS[:2], "negative": DOCUMENTS[2:]}]
    for evaluator in (
        CrossEncoderClassificationEvaluator(PAIRS, labels, show_progress_bar=False),
        CrossEncoderCorrelationEvaluator(PAIRS, labels, show_progress_bar=False),
        CrossEncoderRerankingEvaluator(samples, show_progress_bar=False),
    ):
        assert evaluator(ours) == pytest.approx(evaluator(theirs), abs=1e-4)


def test_what_it_has_not_is_named(ours):
    with pytest.raises(AttributeError, match=r"has no 'tokenizer'; .* `matcher\.tokenizer`"):
        ours.tokenizer  # noqa: B018
    assert not hasattr(ours, "fit") and ours.cpu() is ours
    assert np.array_equal(deepcopy(ours).predict(PAIRS), ours.predict(PAIRS))


def test_our_own_matchers(tiny_matcher, tmp_path, pairs):
    matcher = tiny_matcher("bag")
    matcher.save(tmp_path / "bag")
    found = CrossEncoder(tmp_path / "bag", device="cpu")
    np.testing.assert_allclose(found.predict(pairs), matcher.score(pairs), **EQUAL)
    best = found.rank(pairs[0][0], [document for _, document in pairs], top_k=1)[0]
    expected = matcher.rerank(pairs[0][0], [document for _, document in pairs])[0]
    assert str(best["corpus_id"]) == expected.document.id
    matcher.calibration = Calibration(2.0, 0.5)
    probability = CrossEncoder(matcher).predict(pairs)
    np.testing.assert_allclose(probability, matcher.probability(pairs), **EQUAL)


def test_a_cross_encoder_of_ours(tiny_matcher, pairs):
    matcher = tiny_matcher("cross-encoder")
    assert isinstance(matcher, Matcher)
    expected = 1 / (1 + np.exp(-matcher.score(pairs)))
    np.testing.assert_allclose(CrossEncoder(matcher).predict(pairs), expected, **EQUAL)


def test_a_bar_only_on_request(ours, capfd):
    ours.predict(PAIRS)
    assert capfd.readouterr() == ("", "")
    ours.predict(PAIRS, show_progress_bar=True)
    shown = capfd.readouterr()
    assert "Scoring" in shown.err and not shown.out  # which may be piped somewhere


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda it: it.predict(PAIRS, prompt="query: "), ConfigError, "prompt = 'query: ' is not"),
        (lambda it: it.predict(PAIRS, batch_size=0), ConfigError, "batch_size must be at least 1"),
        (lambda it: it.predict(PAIRS, batch_size="8"), ConfigError, "at least 1, got '8'"),
        (lambda it: setattr(it, "max_length", 12.5), ConfigError, "number of tokens, got 12.5"),
        (lambda it: setattr(it, "max_length", "12"), ConfigError, "number of tokens, got '12'"),
        (lambda it: it.predict(PAIRS, device=["cpu"]), ConfigError, "device = .* not supported"),
        (lambda it: it.predict(PAIRS, speed={"a": 1}), ConfigError, "speed = .* is not"),
        (lambda it: it.predict([None]), DataError, r"pairs\[0\] is not two texts: None"),
        (lambda it: it.predict(), ConfigError, "predict needs pairs of texts, got none"),
        (lambda it: it.predict("ab"), DataError, r"pairs\[0\] is not two texts: \['ab'\]"),
        (lambda it: it.predict([("a", "b", "c")]), DataError, r"pairs\[0\] is not two texts"),
        (lambda it: it.predict([("a", "b"), ("a", 3)]), DataError, r"pairs\[1\] .* \('a', 3\)"),
    ],
)
def test_what_is_wrong_is_said(ours, call, error, message):
    with pytest.raises(error, match=message):
        call(ours)
