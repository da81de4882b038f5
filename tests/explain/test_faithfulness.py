"""Explanations of a matcher whose important words are known, and of one that lies about them."""

import numpy as np
import pytest
import torch

from matchwork.encode import WordEmbedding
from matchwork.errors import ConfigError, DataError
from matchwork.explain import faithfulness, faithfulness_chart
from matchwork.explain.faithfulness import STEPS, FaithfulnessCurve
from matchwork.interact import Interaction
from matchwork.matcher import Matcher
from matchwork.models import MODELS
from matchwork.models.base import MatchOutput
from matchwork.report.drawing import to_svg
from matchwork.text import WordTokenizer

FILLER = ["stone", "river", "cloud", "paper", "glass", "wheel", "bread", "chair"]


def pairs_with_one_good_word(num: int) -> list[tuple[str, str]]:
    """Every document holds the word of the query among eight that mean nothing to it."""
    random = np.random.default_rng(0)
    return [
        ("fox", " ".join(random.permutation(["fox", *FILLER, *FILLER[: number % 5]])))
        for number in range(num)
    ]


@pytest.fixture
def bag() -> Matcher:
    """The cosine of sums: orthogonal words, of which only "fox" is worth anything to "fox"."""
    tokenizer = WordTokenizer.fit([" ".join(["fox", *FILLER])])
    encoder = WordEmbedding.from_vocabulary(tokenizer.vocabulary, dim=tokenizer.vocab_size)
    with torch.no_grad():
        encoder.table.copy_(torch.eye(tokenizer.vocab_size))
    entry = MODELS["bag"]
    return Matcher(tokenizer, entry.model(entry.config({}), encoder))


def test_the_word_that_matters_goes_first_and_comes_first(bag):
    found = faithfulness(bag, pairs_with_one_good_word(20), seed=1)
    assert found.num_pairs == 20 and found.evidence == "What each word adds to the score"
    for curve in found.curves:
        outcome = found.outcomes[curve.kind]
        assert outcome["ci"][0] > 0 and outcome["p"] < 0.001
        assert outcome["gain"] == pytest.approx(abs(outcome["area"] - outcome["random_area"]))
    deletion, insertion = found.curves
    lost = deletion.explained[:, 1]  # one word of nine, and it is the right one
    np.testing.assert_allclose(lost, deletion.explained.min(axis=1))
    # The good word alone is as good as it gets.
    np.testing.assert_allclose(insertion.explained[:, 0], insertion.explained.max(axis=1))


def test_curves_start_and_end_at_the_whole_document(bag):
    deletion, insertion = faithfulness(bag, pairs_with_one_good_word(6)).curves
    assert deletion.explained.shape == (6, STEPS + 1)
    for values in (deletion.explained, deletion.random):
        np.testing.assert_allclose(values[:, 0], 0, atol=1e-9)
    for values in (insertion.explained, insertion.random):
        np.testing.assert_allclose(values[:, -1], 0, atol=1e-9)


def test_a_matcher_that_names_the_wrong_words_is_found_out(bag, monkeypatch):
    right = bag.model.match

    def turned(query, document):
        output = right(query, document)
        table = output.evidence["contribution"]
        return MatchOutput(output.scores, {"lie": Interaction(-table.values, table.mask)})

    monkeypatch.setattr(bag.model, "match", turned)
    found = faithfulness(bag, pairs_with_one_good_word(20))
    assert all(outcome["ci"][1] < 0 for outcome in found.outcomes.values())


def test_words_of_equal_value_are_as_good_as_random(bag, monkeypatch):
    right = bag.model.match

    def silent(query, document):
        output = right(query, document)
        table = output.evidence["contribution"]
        return MatchOutput(output.scores, {"silence": Interaction(table.values * 0, table.mask)})

    monkeypatch.setattr(bag.model, "match", silent)
    found = faithfulness(bag, pairs_with_one_good_word(60), num_draws=3)
    assert all(o["ci"][0] < 0 < o["ci"][1] and o["p"] > 0.01 for o in found.outcomes.values())


def test_all_texts_are_scored_in_one_call_and_only_words_that_were_read_count(bag, monkeypatch):
    calls = []
    score = bag.score
    monkeypatch.setattr(
        bag, "score", lambda texts, progress: (calls.append(texts), score(texts))[1]
    )
    bag.max_document_length = 3
    faithfulness(bag, [("fox", "stone fox river cloud"), ("fox", "fox paper glass wheel")])
    (texts,) = calls
    assert len(texts) == 2 * 6 * 2 * (STEPS + 1)
    assert not any("cloud" in text or "wheel" in text for _, text in texts)
    assert texts[0] == ("fox", "stone fox river") and all(text.strip() for _, text in texts)


def test_same_seed_same_numbers_and_another_seed_others(bag):
    pairs = pairs_with_one_good_word(8)
    first, again, other = (faithfulness(bag, pairs, seed=seed).to_dict() for seed in (1, 1, 2))
    assert first == again
    assert first["deletion"]["random_curve"] != other["deletion"]["random_curve"]
    assert first["deletion"]["curve"] == pytest.approx(other["deletion"]["curve"])


def test_area_under_a_straight_line_is_half():
    line = np.linspace(0, 1, STEPS + 1)[None]
    explained, random = FaithfulnessCurve("insertion", line, line * 0).areas
    assert (explained.value, random.value) == (pytest.approx(0.5), 0.0)


def test_too_little_to_measure_is_said(bag):
    with pytest.raises(DataError, match="of 2 pairs, 1 have a document of two words or more"):
        faithfulness(bag, [("fox", "fox"), ("fox", "fox stone")])
    with pytest.raises(ConfigError, match="num_draws must be at least 1, got 0"):
        faithfulness(bag, pairs_with_one_good_word(2), num_draws=0)


def test_the_chart_says_what_is_better(bag):
    svg = to_svg(faithfulness_chart(faithfulness(bag, pairs_with_one_good_word(4))))
    for words in ("lower is more faithful", "higher is more faithful", "as explained", "4 pairs"):
        assert words in svg
