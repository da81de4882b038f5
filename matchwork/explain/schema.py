"""The JSON form of an explanation: what every entry means.

The classes here are the documentation: `json_schema` makes a JSON Schema of them, which
`matchwork explain --schema` prints and `docs/explanation.schema.json` keeps.
"""

from typing import Annotated, Any, NotRequired

from pydantic import Field, TypeAdapter
from typing_extensions import TypedDict

from matchwork.explain.explanation import VERSION
from matchwork.explain.view import views
from matchwork.types import Side

Start = Annotated[int, Field(ge=0, description="First character, counted in code points.")]
End = Annotated[int, Field(ge=0, description="One after the last character.")]
Share = Annotated[float, Field(ge=0, le=1)]
Table = Annotated[
    list[list[float]], Field(description="A row per query token, a column per document token.")
]


class TokenJson(TypedDict):
    """A token of a text; `start` equals `end` for tokens the text does not contain."""

    text: str
    start: Start
    end: End


class WeightJson(TypedDict):
    """One number per token of one side."""

    side: Side
    values: list[float]


class SpanJson(TypedDict):
    """A stretch of the document that speaks for the match; the strongest has score 1."""

    start: Start
    end: End
    score: Share


class SharesJson(TypedDict):
    """The score with each part of the model held at its mean, and what each part adds."""

    score: float
    relevance: float
    semantic: float
    neither: float
    relevance_effect: float
    semantic_effect: float


class CodesJson(TypedDict):
    """Tokens of one side before and after hashing, cut to the values that differ most."""

    side: Side
    before: list[list[float]]
    codes: list[list[float]]
    after: list[list[float]]
    widths: Annotated[list[int], Field(min_length=2, max_length=2)]


class ExplanationJson(TypedDict):
    """Why two texts got their score; entries that a model has nothing for may be absent."""

    schema_version: Annotated[int, Field(ge=1, le=VERSION)]
    query: str
    document: str
    model: str
    score: Annotated[float, Field(description="Higher is better, on the model's own scale.")]
    probability: Annotated[
        Share | None, Field(description="Calibrated probability of a match, if there is one.")
    ]
    query_tokens: list[TokenJson]
    document_tokens: list[TokenJson]
    tables: dict[str, Table]
    weights: dict[str, WeightJson]
    spans: list[SpanJson]
    phrase_lengths: NotRequired[
        Annotated[dict[str, int], Field(description="Tokens that rows of a table stand for.")]
    ]
    shares: NotRequired[SharesJson]
    codes: NotRequired[CodesJson]
    titles: NotRequired[
        Annotated[dict[str, str], Field(description="Evidence by name -> title for people.")]
    ]


def json_schema() -> dict[str, Any]:
    """Return the JSON Schema of `Explanation.to_dict`, with the entries of all views."""
    entries = {name: view.schema for name, view in views() if view.schema is not None}
    core = TypeAdapter(ExplanationJson).json_schema()
    definitions = core["$defs"]
    for name, schema in entries.items():
        entry = TypeAdapter(schema).json_schema()
        definitions |= entry.pop("$defs", {})
        core["properties"][name] = {"title": name.capitalize(), **entry}
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **core}
