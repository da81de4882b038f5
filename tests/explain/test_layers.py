"""Layer by layer and word by word: what an explanation of IASM adds to its tables."""

import json
from dataclasses import replace

import numpy as np
import pytest
from glacier_pair import DOCUMENT, QUERY, labels, tokens_of

from matchwork.data import toy
from matchwork.encode import WordEmbedding
from matchwork.explain import (
    WordPair,
    WordWeight,
    contribution_bars,
    contributions,
    explain,
    heat_maps,
    layer_strip,
    layer_summaries,
    layer_title,
    outstanding_strip,
    picture,
    save,
    sum_line,
)
from matchwork.matcher import Matcher
from matchwork.models import MODELS
from matchwork.report.drawing import to_svg
from matchwork.text import WordTokenizer
from matchwork.train import train


@pytest.fixture
def layered(handmade):
    """Two layers, the second smoother and all above zero."""
    first = handmade.tables["matching_0"]
    return replace(
        handmade,
        score=-0.9,
        tables={"matching_0": first, "matching_1": 0.5 + first / 10, "other": first},
        weights={
            "document_agreement": WordWeight("document", np.array([0.3, -0.1, 0.25])),
            "document_distance": WordWeight("document", np.array([0.1, 0.6, 0.2])),
        },
    )


def test_summaries_say_mean_spread_and_strongest_pair(layered):
    before, after = layer_summaries(layered)
    assert (before.name, after.name) == ("matching_0", "matching_1")
    assert before.mean == pytest.approx((0.1 - 0.7 + 0.2 + 0.9 + 0.0 + 0.8) / 6)
    assert after.mean == pytest.approx(0.5 + before.mean / 10)
    assert after.spread == pytest.approx(before.spread / 10)
    assert after.strongest == WordPair("fox", "fox", pytest.approx(0.59))
    assert [layer_title(one.name) for one in (before, after)] == ["before", "after 1"]


def test_one_table_or_no_words_make_no_layers(handmade, make_matcher):
    assert layer_summaries(handmade) == []
    assert layer_summaries(explain(make_matcher("iasm-dynamic"), "", DOCUMENT)) == []


def test_layers_share_words_and_one_scale_of_colours(layered):
    panels = layer_strip(layered, max_words=2).to_dict()["concat"]
    scales = [panel["encoding"]["color"]["scale"] for panel in panels]
    assert scales == [{"scheme": "blueorange", "domain": [-0.9, 0.9], "reverse": True}] * 2
    found = labels(to_svg(layer_strip(layered, max_words=2)))
    assert "the 2 of 3 document words with the strongest cells" in found
    assert "mean 0.52, spread 0.053" in found
    assert {"before the first layer", "after the first layer"} <= set(found)


def test_a_smooth_layer_shows_what_stands_out_in_it(layered):
    spec = outstanding_strip(layered).to_dict()
    rows = [spec["datasets"][panel["data"]["name"]] for panel in spec["concat"]]
    values = [[cell["value"] for cell in cells] for cells in rows]
    assert values[0] == pytest.approx(values[1])  # scaled alike, though ten times smoother
    assert np.mean(values[0]) == pytest.approx(0, abs=1e-12)
    assert np.std(values[0]) == pytest.approx(1)


def test_long_texts_put_layers_below_each_other_with_words_at_the_bottom(layered):
    text = " ".join(f"word{i}" for i in range(60))
    tables = {f"matching_{t}": np.linspace(0, 1 / (1 + t), 120).reshape(2, 60) for t in range(3)}
    long = replace(
        layered, document=text, document_tokens=tokens_of(text), tables=tables, weights={}
    )
    spec = layer_strip(long).to_dict()
    assert spec["columns"] == 1
    axes = [panel["encoding"]["x"]["axis"] for panel in spec["concat"]]
    assert axes[:2] == [None, None] and axes[2] is not None
    short = layer_strip(layered).to_dict()
    assert short["columns"] == 2
    assert [panel["encoding"]["y"]["axis"] is None for panel in short["concat"]] == [False, True]


def test_a_matrix_that_no_layer_changes_is_drawn_once(make_matcher):
    static = explain(make_matcher("iasm-static"), QUERY, DOCUMENT)
    assert len(static.tables) == 4 and len(heat_maps(static)) == 1
    assert len(heat_maps(explain(make_matcher("iasm-dynamic"), QUERY, DOCUMENT))) == 2


def test_tables_that_are_no_layers_keep_a_picture_of_their_own(layered, handmade):
    assert len(heat_maps(layered)) == 3
    assert len(heat_maps(handmade)) == 1


def test_a_word_in_several_places_counts_as_their_sum(layered):
    (found,) = contributions(layered)
    assert (found.side, found.kinds) == ("document", ("agreement", "distance"))
    assert found.labels == ["fox ×2", "and"]
    np.testing.assert_allclose(found.values, [[0.55, 0.3], [-0.1, 0.6]])
    np.testing.assert_allclose(found.totals, [0.45, 0.9])


def test_rows_of_a_table_add_up_whatever_is_shown(layered):
    (found,) = contributions(layered)
    assert [label for label, _ in found.rows(9)] == ["fox ×2", "and", "all 3 words"]
    shown = found.rows(1)
    assert [label for label, _ in shown] == ["fox ×2", "(1 more)", "all 3 words"]
    np.testing.assert_allclose(np.sum([v for _, v in shown[:-1]], axis=0), shown[-1][1])


def test_the_sum_is_named_only_when_it_is_the_score(layered):
    whole = "Distance of all words: 0.9000 (document); the score is its negative."
    assert sum_line(layered) == whole
    assert sum_line(replace(layered, score=0.9)) == whole.replace(" is its negative", "")
    assert sum_line(replace(layered, score=-0.8)) == ""
    assert sum_line(replace(layered, weights={})) == ""


def test_bars_show_the_most_helpful_words(layered, handmade):
    found = labels(to_svg(contribution_bars(layered, max_words=1)))
    assert "fox ×2" in found and "and" not in found
    assert "the first 1 of 2, all together 0.4500" in found
    assert contribution_bars(replace(handmade, weights={})) is None


def test_picture_has_texts_bars_and_every_layer(make_matcher):
    svg = to_svg(picture(explain(make_matcher("iasm-dynamic", calibrated=True), QUERY, DOCUMENT)))
    found = labels(svg)
    for title in ("before the first", "after the first", "after the second", "after the third"):
        assert found.count(f"{title} layer") == 2
    assert found.count("How well each query word is matched") == 2
    assert any("probability of a match" in label for label in found)
    assert "currentColor" in svg


@pytest.mark.parametrize("name", ["iasm-source", "iasm-cnn"])
def test_a_side_without_weights_is_marked_by_its_table(make_matcher, name):
    explanation = explain(make_matcher(name), QUERY, DOCUMENT)
    title, _ = explanation.word_values("document")
    assert title == "Strongest value of each word: word matching before the first layer"
    assert len(contributions(explanation)) == (name == "iasm-source")
    assert len(layer_summaries(explanation)) == 4


def test_a_trained_matcher_saves_all_layers_and_shares_of_its_score(tmp_path):
    data = toy()
    tokenizer = WordTokenizer.fit(data["train"].texts)
    entry = MODELS["iasm-dynamic"]
    encoder = WordEmbedding.from_vocabulary(tokenizer.vocabulary, dim=12)
    matcher = Matcher(tokenizer, entry.model(entry.config({}), encoder))
    train(matcher, data, max_epochs=2, negatives="own", learning_rate=0.01)
    query = next(iter(data["test"].queries.values()))
    document = next(iter(data["test"].documents.values()))
    save(explain(matcher, query, document), tmp_path / "why.json")
    table = json.loads((tmp_path / "why.json").read_text())
    assert list(table["tables"]) == [f"matching_{t}" for t in range(4)]
    shares = [table["weights"][f"{side}_distance"]["values"] for side in ("query", "document")]
    assert sum(map(sum, shares)) == pytest.approx(-table["score"], rel=1e-5)
    assert table["score"] == pytest.approx(matcher.score([(query, document)])[0], rel=1e-5)
