"""One documented form for the explanations of all models."""

import json
from pathlib import Path

import jsonschema
import pytest
from glacier_pair import DOCUMENT, QUERY

from matchwork.errors import DataError
from matchwork.explain import Explanation, explain, json_schema
from matchwork.models import MODELS

SCHEMA = Path(__file__).parents[2] / "docs/explanation.schema.json"


def as_json(explanation: Explanation) -> dict:
    return json.loads(json.dumps(explanation.to_dict(), allow_nan=False))


@pytest.mark.parametrize("pair", [(QUERY, DOCUMENT), ("", DOCUMENT), (QUERY, "")])
@pytest.mark.parametrize("name", list(MODELS))
def test_every_model_keeps_to_the_schema_and_comes_back_equal(make_matcher, name, pair):
    explanation = explain(make_matcher(name, calibrated=True), *pair)
    table = as_json(explanation)
    jsonschema.validate(table, json_schema())
    assert as_json(Explanation.from_dict(table)) == table


def test_the_kept_schema_is_that_of_today():
    assert json.loads(SCHEMA.read_text()) == json_schema(), (
        "run matchwork explain --schema > docs/explanation.schema.json"
    )


def test_the_schema_describes_every_entry_and_refuses_what_it_must():
    schema = json_schema()
    properties = schema["properties"]
    assert {"schema_version", "tables", "weights", "spans", "shares", "paths"} <= set(properties)
    assert "paths" not in schema["required"] and "spans" in schema["required"]
    assert all("description" in part for part in schema["$defs"].values())


@pytest.mark.parametrize(
    ("entry", "value"),
    [("score", "high"), ("probability", 1.5), ("schema_version", 2), ("query_tokens", [{}])],
)
def test_damage_is_seen_by_the_schema(handmade, entry, value):
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(as_json(handmade) | {entry: value}, json_schema())


def test_older_files_are_read_and_newer_ones_refused(handmade):
    table = as_json(handmade)
    newer = table | {"schema_version": 2}
    del table["schema_version"]
    assert Explanation.from_dict(table).to_dict() == handmade.to_dict()
    with pytest.raises(DataError, match="of version 2, this matchwork reads up to 1; pip install"):
        Explanation.from_dict(newer)
    with pytest.raises(DataError, match="not an explanation"):
        Explanation.from_dict(table | {"schema_version": "two"})


def test_a_notebook_shows_marked_texts_and_a_heat_map(make_matcher):
    explanation = explain(make_matcher("match-srnn"), QUERY, DOCUMENT)
    page = explanation._repr_html_()
    assert page.count("<svg") == 1 and "line: matching path" in page
    assert "<b>" not in page and "<script" not in page
    assert repr(explanation).startswith("Explanation(model='match-srnn', score=")
    assert len(repr(explanation)) < 100, "no tables in a line of text"
