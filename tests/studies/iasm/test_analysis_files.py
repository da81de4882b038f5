import json

import pytest
from small_worlds import EveryWord, ranked, split_of, tiny_matcher, tokenizer_of

from matchwork.data import toy
from matchwork.errors import ConfigError
from matchwork.studies.iasm import Analysis, out_of_vocabulary, overlap, smoothing


@pytest.fixture(scope="module")
def analysis():
    split = split_of({"a": ("red dog", ["red <dog>"]), "b": ("cat", ["sings"])})
    evaluations = {"mine": ranked(split, ["a"]), "theirs": ranked(split, ["b"])}
    matcher = tiny_matcher("iasm-dynamic", toy()["train"].texts)
    return Analysis(
        "small",
        "test",
        ("mine", "theirs"),
        "raw",
        out_of_vocabulary(split, evaluations, tokenizer_of(["red", "dog"]), tagger=EveryWord()),
        {"mine": smoothing(matcher, [toy()["test"]], seeds=[0, 1])},
        overlap(split, evaluations),
    )


def test_json_holds_all_three(analysis, tmp_path):
    analysis.save(tmp_path / "a.json")
    found = json.loads((tmp_path / "a.json").read_text())
    assert found == analysis.to_dict()
    assert found["out_of_vocabulary"]["tagger"] == "every word"
    assert [g["num_queries"] for g in found["overlap"]["groups"]] == [1, 0, 1] + [0] * 8
    assert found["smoothing"]["mine"]["untrained_seeds"] == [0, 1]


def test_what_was_not_analysed_is_left_out():
    assert Analysis("small", "test", ("mine",)).to_dict() == {
        "dataset": "small",
        "split": "test",
        "systems": ["mine"],
    }


def test_tables_say_what_they_are_over(analysis):
    tables = analysis.tables()
    assert list(tables) == list(analysis.charts())
    unknown, smoother, shared = tables.values()
    assert unknown.header == ["class", "n", "measure", "mine", "theirs", "change", "p"]
    assert "with any such word: IV 0, OOTV 0, OOEV 1, OOBV 1" in unknown.caption
    assert "no pre-trained vectors" in unknown.caption and "tagger: every word" in unknown.caption
    assert list(shared.rows[2]) == [
        *("2", "1", "P@1", "1.000 (1.00–1.00)", "0.000 (0.00–0.00)", "+1.000", "1.0000")
    ]
    assert set(shared.rows[1][2:]) == {"–"}
    assert [row[3] for row in smoother.rows] == ["share", "ratio"]
    assert "mean and range of 2 seeds" in smoother.caption


def test_page_and_pictures(analysis, tmp_path):
    for suffix in ("html", "png", "svg"):
        analysis.save(tmp_path / f"a.{suffix}")
    page, drawing = ((tmp_path / f"a.{suffix}").read_text() for suffix in ("html", "svg"))
    assert page.count("<svg") == 3 and "mine and theirs on small, split test" in page
    for words in ("2 shared words, n = 1", "10+ shared words, n = 0", "OOBV, n = 1", "untrained"):
        assert words in page and words in drawing
    assert (tmp_path / "a.png").read_bytes().startswith(b"\x89PNG")


def test_an_unknown_suffix_names_the_known_ones(analysis, tmp_path):
    with pytest.raises(ConfigError, match=r"suffix '.pdf'; use .vl.json, .json, .html"):
        analysis.save(tmp_path / "a.pdf")
