"""What HCAN found: phrases by level, what they weigh, and which part made the score."""

import json
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
from glacier_pair import DOCUMENT, QUERY, labels

from matchwork.encode import WordEmbedding
from matchwork.explain import (
    Explanation,
    Highlight,
    Shares,
    WordWeight,
    contributions,
    explain,
    heat_maps,
    phrase_matches,
    picture,
    save,
    share_bars,
    sum_line,
)
from matchwork.matcher import Matcher
from matchwork.models import HCAN, MODELS
from matchwork.report.drawing import to_svg
from matchwork.text import PairBatch, Token, WordTokenizer

PAIRS = [(QUERY, DOCUMENT), ("glacier ice", "water by ice"), ("caves", "a partly formed cave")]
CASES = [(p, e) for p in ("paper", "code") for e in ("deep", "wide", "contextual")]
Make = Callable[..., Matcher]


def batch(matcher: Matcher, pairs: list[tuple[str, str]]) -> PairBatch:
    sides = [matcher.tokenizer.encode(list(texts)) for texts in zip(*pairs, strict=True)]
    return PairBatch(*(side.gather(np.arange(len(pairs))) for side in sides))


@pytest.fixture
def make_hcan() -> Make:
    """`make_hcan("hcan", learnt=True, **config)`: phrases counted, means learnt from `PAIRS`."""

    def make(name: str = "hcan", learnt: bool = True, **config: Any) -> Matcher:
        torch.manual_seed(0)
        tokenizer = WordTokenizer.fit(text for pair in PAIRS for text in pair)
        encoder = WordEmbedding.from_vocabulary(tokenizer.vocabulary, dim=6)
        settings = {"num_layers": 2, "filters": 4, "hidden": 6, "query_length": 7}
        entry = MODELS[name]
        model = entry.model(
            entry.config({**settings, "phrase_weights": name != "hcan-sm", **config}), encoder
        )
        matcher = Matcher(tokenizer, model.double().eval())
        if learnt:
            model.fit_corpus([tokenizer.encode(list(texts)) for texts in zip(*PAIRS, strict=True)])
            model.fit_feature_means([batch(matcher, PAIRS[:2]), batch(matcher, PAIRS[2:])])
        return matcher

    return make


def trace_of(matcher: Matcher, query: str, document: str) -> Any:
    model, one = matcher.model, batch(matcher, [(query, document)])
    assert isinstance(model, HCAN)
    with torch.no_grad():
        return model.trace(model.encode(one.query), model.encode(one.document))


@pytest.mark.parametrize(("preset", "encoder"), CASES)
def test_phrase_matches_are_the_features_of_the_trace(
    make_hcan: Make, preset: str, encoder: str
) -> None:
    matcher = make_hcan(preset=preset, encoder=encoder)
    found, trace = phrase_matches(explain(matcher, *PAIRS[0])), trace_of(matcher, *PAIRS[0])
    first = 1 if preset == "paper" else 0
    assert [level.level for level in found] == list(range(first, 3))
    for place, level in enumerate(found):
        table = trace.relevance[place].table[0].numpy()
        assert sorted(match.row for match in level.matches) == list(range(len(table)))
        features = [match.feature for match in level.matches]
        assert features == sorted(features, reverse=True)
        for match in level.matches:
            assert match.value == table[match.row].max() == table[match.row, match.column]
            assert match.weight == trace.weights[0, first + place, match.row]
            feature = trace.relevance_features[0, place, match.row]
            np.testing.assert_allclose(match.feature, feature, rtol=1e-12)
    weights = {match.weight for level in found for match in level.matches}
    assert len(weights) > 2  # otherwise leaving them out could not show


@pytest.mark.parametrize(
    ("encoder", "kernel", "lengths"),
    [
        ("deep", 2, (1, 2, 3)),
        ("deep", 3, (1, 3, 5)),
        ("wide", 2, (1, 2, 3)),
        ("wide", 3, (1, 3, 4)),
        ("contextual", 2, (1, 1, 1)),
    ],
)
def test_phrases_are_the_words_behind_a_position(
    make_hcan: Make, encoder: str, kernel: int, lengths: tuple[int, ...]
) -> None:
    explanation = explain(make_hcan(encoder=encoder, kernel=kernel), "caves are formed", DOCUMENT)
    found = phrase_matches(explanation)
    assert tuple(level.phrase_length for level in found) == lengths
    words = [token.text for token in explanation.document_tokens]
    for level in found:
        phrases = {match.row: match.query for match in level.matches}
        expected = [["caves", "are", "formed"][i : i + level.phrase_length] for i in range(3)]
        assert [phrases[row].split() for row in range(3)] == expected
        for match in level.matches:
            covered = words[match.column : match.column + level.phrase_length]
            assert match.document.startswith(covered[0]) and match.document.endswith(covered[-1])
            assert all(word in match.document for word in covered)


def test_phrases_are_cut_from_the_text_as_written() -> None:
    text = "Ice, or  water!"
    tokens = (Token("Ice", 0, 3), Token("or", 5, 7), Token("water", 9, 14), Token("!", 14, 15))
    made = Explanation(
        query=text,
        document=text,
        model="hand",
        score=0.0,
        probability=None,
        query_tokens=tokens,
        document_tokens=tokens[:1],
        tables={"relevance_1": np.array([[0.2], [0.4], [0.4], [0.3]])},
        weights={"phrase_weight_1": WordWeight("query", np.array([1.0, 0.0, 0.5, 1.0]))},
        phrase_lengths={"relevance_1": 2},
    )
    (level,) = phrase_matches(made)
    assert level.title == "Level 1: phrases of 2 words"
    assert level.rows(3) == [
        ("!", "Ice", 0.3, 1.0, 0.3),
        ("Ice, or", "Ice", 0.2, 1.0, 0.2),
        ("water!", "Ice", 0.4, 0.5, 0.2),
    ]
    last = level.matches[-1]  # weighs nothing, and still says what
    assert (last.query, last.document) == ("or  water", "Ice")
    assert made.strongest(top_k=1) == [("!", "Ice", 0.3)]
    title, values = made.word_values("query") or ("", np.zeros(0))
    assert title == "Strongest value of each word: relevance 1"
    np.testing.assert_allclose(values, [0.2, 0.0, 0.2, 0.3])


def head_by_hand(model: HCAN, features: Any) -> float:
    """The classifier in NumPy, its log odds of class 1."""
    *hidden, last = [part for part in model.head if isinstance(part, torch.nn.Linear)]
    for layer in hidden:
        features = np.maximum(layer.weight.detach().numpy() @ features + layer.bias.tolist(), 0)
    logits = last.weight.detach().numpy() @ features + last.bias.tolist()
    others = np.delete(logits, 1)
    return float(logits[1] - np.log(np.exp(others).sum()))


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("preset", ["paper", "code"])
def test_shares_by_hand(make_hcan: Make, preset: str, classes: int) -> None:
    matcher = make_hcan(preset=preset, num_classes=classes)
    traces = [trace_of(matcher, *pair) for pair in PAIRS]
    relevance, semantic = (
        np.stack([getattr(trace, f"{part}_features")[0].numpy() for trace in traces])
        for part in ("relevance", "semantic")
    )

    def score(r: Any, s: Any) -> float:
        joined = np.concatenate([r, s], axis=1).ravel() if preset == "paper" else None
        flat = np.concatenate([r.ravel(), s.ravel()]) if joined is None else joined
        return head_by_hand(matcher.model, flat)

    r, s = relevance[0], semantic[0]
    mean_r, mean_s = relevance.mean(axis=0), semantic.mean(axis=0)
    found = explain(matcher, *PAIRS[0]).shares
    assert found is not None
    expected = [score(r, s), score(r, mean_s), score(mean_r, s), score(mean_r, mean_s)]
    np.testing.assert_allclose([value for _, value in found.rows()], expected, rtol=1e-9)
    assert len({round(value, 9) for value in expected}) == 4
    moved = found.relevance_effect + found.semantic_effect
    np.testing.assert_allclose(found.neither + moved, found.score, rtol=1e-9)


def test_effects_average_both_orders() -> None:
    shares = Shares(score=5.0, relevance=2.0, semantic=1.0, neither=0.5)
    assert (shares.relevance_effect, shares.semantic_effect) == (2.75, 1.75)
    assert "relevance moves the score by +2.7500 and semantics by +1.7500" in shares.in_words()
    assert "from 0.5000, both at their mean, to 5.0000" in labels(to_svg(share_bars(shares)))


def test_json_round_trip(make_hcan: Make) -> None:
    explanation = explain(make_hcan(), *PAIRS[0])
    table = json.loads(json.dumps(explanation.to_dict()))
    assert [level["phrase_length"] for level in table["phrases"]] == [1, 2, 3]
    assert len(table["phrases"][1]["matches"]) == len(explanation.query_tokens)
    match = table["phrases"][1]["matches"][0]
    assert match["feature"] == match["value"] * match["weight"]
    again = Explanation.from_dict(table)
    assert again.to_dict() == table
    assert again.shares == explanation.shares
    assert phrase_matches(again) == phrase_matches(explanation)
    old = {k: v for k, v in table.items() if k not in ("phrase_lengths", "shares", "phrases")}
    assert Explanation.from_dict(old).shares is None


def test_means_travel_with_the_matcher(make_hcan: Make, tmp_path: Any) -> None:
    matcher = make_hcan()
    matcher.save(tmp_path / "matcher")
    again = Matcher.load(tmp_path / "matcher")
    assert explain(again, *PAIRS[0]).to_dict() == explain(matcher, *PAIRS[0]).to_dict()


def test_each_part_shows_what_it_has(make_hcan: Make) -> None:
    names = {name: explain(make_hcan(name), *PAIRS[0]) for name in ("hcan", "hcan-rm", "hcan-sm")}
    kinds = {
        name: {key.rpartition("_")[0] for key in (*made.tables, *made.weights)}
        for name, made in names.items()
    }
    assert kinds["hcan-rm"] == {"relevance", "phrase_weight"}
    assert kinds["hcan-sm"] == {"attention", "document_salience"}
    assert kinds["hcan"] == kinds["hcan-rm"] | kinds["hcan-sm"]
    assert [bool(phrase_matches(made)) for made in names.values()] == [True, True, False]
    assert [made.shares is None for made in names.values()] == [False, True, True]
    assert [len(heat_maps(made)) for made in names.values()] == [2, 1, 1]
    assert "phrases" not in names["hcan-sm"].to_dict()
    assert explain(make_hcan(learnt=False), *PAIRS[0]).shares is None


def test_salience_weighs_document_words_and_is_no_part_of_the_score(make_hcan: Make) -> None:
    matcher = make_hcan()
    explanation, trace = explain(matcher, *PAIRS[0]), trace_of(matcher, *PAIRS[0])
    (side,) = contributions(explanation)
    assert (side.side, side.kinds) == ("document", ("salience_1", "salience_2"))
    for level, salience in enumerate(trace.attention.salience[:, 0].numpy(), start=1):
        shown = explanation.weights[f"document_salience_{level}"].values
        np.testing.assert_allclose(shown, salience, rtol=1e-12)
    np.testing.assert_allclose(side.totals, [1.0, 1.0])
    by_chance = Explanation.from_dict({**explanation.to_dict(), "score": 1.0})
    assert sum_line(by_chance) == ""
    assert explanation.title("document_salience_2").endswith("summary of level 2")


def test_pictures_and_pages(make_hcan: Make, tmp_path: Any) -> None:
    explanation = explain(make_hcan(), *PAIRS[0])
    drawn = labels(to_svg(picture(explanation)))
    assert "Relevance at level 2" in drawn and "Co-attention at level 1" in drawn
    assert "phrases of 3 words, by their first" in drawn
    assert "What relevance and semantics add to the score" in drawn
    save(explanation, tmp_path / "why.html")
    page = (tmp_path / "why.html").read_text()
    for text in ("Which phrases were found", "Level 2: phrases of 3 words", "semantics alone"):
        assert text in page
    assert "<td>caves formed</td>" in page
    assert "relevance at level 0" in Highlight(explanation).html()


def test_empty_texts_have_no_phrases(make_hcan: Make, tmp_path: Any) -> None:
    for pair in (("", DOCUMENT), (QUERY, ""), ("", "")):
        explanation = explain(make_hcan(), *pair)
        assert phrase_matches(explanation) == [] and explanation.shares is not None
        save(explanation, tmp_path / "why.html")
        save(explanation, tmp_path / "why.png")
