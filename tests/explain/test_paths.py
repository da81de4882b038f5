"""Matching paths in explanations: found, told, drawn and written."""

import json
from dataclasses import replace

import numpy as np
import pytest
from glacier_pair import DOCUMENT, QUERY, labels, tokens_of

from matchwork.explain import (
    Explanation,
    explain,
    heat_map,
    heat_maps,
    matching_paths,
    save,
)
from matchwork.explain.views.tables import FORWARD, REVERSE
from matchwork.models import MODELS
from matchwork.report.drawing import to_png, to_svg

SHAPE = (2, 3)
TITLES = MODELS["match-srnn"].model.evidence_titles


def gates(left: float, top: float, diagonal: float, new: float, suffix: str = "") -> dict:
    values = {"left": left, "top": top, "diagonal": diagonal, "input": new}
    return {f"gate_{name}{suffix}": np.full(SHAPE, value) for name, value in values.items()}


def explained(**tables: np.ndarray) -> Explanation:
    query, document = "red fox", "a red fox"
    return Explanation(
        query=query,
        document=document,
        model="hand",
        score=0.5,
        probability=None,
        query_tokens=tokens_of(query),
        document_tokens=tokens_of(document),
        tables={"interaction": np.array([[0.1, 1.0, 0.2], [0.0, 0.3, 1.0]]), **tables},
        weights={},
        titles=TITLES,
    )


def places(path) -> list[tuple[int, int]]:
    return path.positions


def test_a_path_in_the_order_of_the_texts_and_the_words_it_aligns():
    explanation = explained(**gates(0.1, 0.2, 0.6, 0.1))
    (path,) = matching_paths(explanation)  # both rules agree: one path
    assert (path.rule, path.reverse) == ("gates", False)
    assert places(path) == [(0, 1), (1, 2)]
    assert path.aligned(explanation) == [("red", "red", 1.0), ("fox", "fox", 1.0)]


def test_both_rules_where_they_differ():
    plain, merged = matching_paths(explained(**gates(0.4, 0.1, 0.2, 0.3)))
    assert (plain.rule, places(plain)) == ("gates", [(1, 0), (1, 1), (1, 2)])
    assert (merged.rule, places(merged)) == ("merged", [(0, 1), (1, 2)])
    assert plain.title == "Matching path"
    assert merged.title == "Matching path, new matches counted as diagonal"


def test_a_reverse_scan_walks_from_the_first_words_to_the_last():
    tables = gates(0.1, 0.2, 0.6, 0.1) | gates(0.1, 0.1, 0.7, 0.1, "_reverse")
    forward, reverse = matching_paths(explained(**tables))
    assert (reverse.reverse, places(reverse)) == (True, [(0, 0), (1, 1)])
    assert places(forward) == [(0, 1), (1, 2)]
    assert "read backwards" in reverse.title


def test_the_reverse_gates_of_a_cell_are_those_of_the_text():
    tables = gates(0.1, 0.1, 0.7, 0.1, "_reverse")
    tables["gate_left_reverse"][0, 0] = 0.9  # from the first cell to the next document word
    (reverse,) = matching_paths(explained(**tables))
    assert places(reverse) == [(0, 0), (0, 1), (1, 2)]


def test_no_gates_no_path(handmade):
    assert matching_paths(handmade) == []
    assert "paths" not in handmade.to_dict()
    lone = {name: table for name, table in gates(1, 0, 0, 0).items() if name != "gate_top"}
    assert matching_paths(explained(**lone)) == []


def test_json_lists_cells_and_words_and_can_be_read_back():
    explanation = explained(**gates(0.1, 0.2, 0.6, 0.1))
    table = json.loads(json.dumps(explanation.to_dict()))
    assert table["paths"] == [
        {
            "rule": "gates",
            "reverse": False,
            "cells": [
                {"row": 0, "column": 1, "move": "diagonal", "query": "red", "document": "red"},
                {"row": 1, "column": 2, "move": "diagonal", "query": "fox", "document": "fox"},
            ],
        }
    ]
    again = Explanation.from_dict(table)
    assert matching_paths(again) == matching_paths(explanation)


def test_the_path_is_drawn_over_the_interaction_only():
    tables = gates(0.4, 0.1, 0.2, 0.3) | gates(0.1, 0.1, 0.7, 0.1, "_reverse")
    explanation = explained(state=np.ones(SHAPE), **tables)
    drawing = to_svg(heat_map(explanation))
    assert FORWARD in drawing and REVERSE in drawing
    assert any("dashed red line" in label for label in labels(drawing))
    assert any("solid green line" in label for label in labels(drawing))
    assert FORWARD not in to_svg(heat_map(explanation, "state"))
    assert to_png(heat_map(explanation)).startswith(b"\x89PNG")


def test_a_path_without_a_second_rule_has_no_dashes():
    drawing = to_svg(heat_map(explained(**gates(0.1, 0.2, 0.6, 0.1))))
    assert not any("dashed" in label for label in labels(drawing))


def test_gates_are_drawn_together_and_only_once():
    tables = gates(0.4, 0.1, 0.2, 0.3) | gates(0.1, 0.1, 0.7, 0.1, "_reverse")
    charts = heat_maps(explained(state=np.ones(SHAPE), **tables))
    assert len(charts) == 4  # interaction, state, gates forward and backward
    written = labels(to_svg(charts[2]))
    assert written.count("Gate from the left") == 1
    assert "Where each state comes from" in written


def test_words_left_out_of_the_picture_are_left_out_of_its_path():
    words = " ".join(f"w{number}" for number in range(9))
    size = (9, 9)
    tables = {f"gate_{name}": np.zeros(size) for name in ("left", "top", "input")}
    tables |= {"gate_diagonal": np.ones(size), "interaction": np.diag(np.arange(9.0))}
    explanation = replace(
        explained(),
        query=words,
        document=words,
        query_tokens=tokens_of(words),
        document_tokens=tokens_of(words),
        tables=tables,
    )
    chart = heat_map(explanation, "interaction", max_words=4).to_dict(validate=False)
    points = chart["datasets"][chart["layer"][1]["data"]["name"]]
    assert [(point["q"], point["d"]) for point in points] == [(i, i) for i in range(4)]


def test_the_page_and_the_titles(tmp_path):
    save(explained(**gates(0.1, 0.2, 0.6, 0.1)), tmp_path / "why.html")
    page = (tmp_path / "why.html").read_text()
    assert "Which words the matching path aligns" in page
    assert "<td>fox</td><td>fox</td><td class=number>1.0000</td>" in page
    assert TITLES["gate_top"] == "Gate from the top"
    assert TITLES["state_reverse"].endswith(", read backwards")


@pytest.mark.parametrize(("name", "scans"), [("match-srnn", [False]), ("bi-match-srnn", [0, 1])])
def test_match_srnn_gives_paths_that_cross_the_texts(make_matcher, name, scans):
    explanation = explain(make_matcher(name), QUERY, DOCUMENT)
    paths = matching_paths(explanation)
    assert sorted({path.reverse for path in paths}) == scans
    last = len(explanation.query_tokens) - 1, len(explanation.document_tokens) - 1
    for path in paths:
        assert places(path)[0 if path.reverse else -1] == ((0, 0) if path.reverse else last)
        assert all(0 <= row <= last[0] and 0 <= column <= last[1] for row, column in places(path))


@pytest.mark.parametrize(("query", "document"), [("", "some words"), ("words", ""), ("", "")])
def test_an_empty_text_has_no_path(make_matcher, tmp_path, query, document):
    explanation = explain(make_matcher("match-srnn"), query, document)
    assert matching_paths(explanation) == []
    save(explanation, tmp_path / "why.html")
    save(explanation, tmp_path / "why.png")
