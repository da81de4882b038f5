"""An explanation as plain JSON: what every entry means, and how it is written and read.

The classes here are the documentation: `json_schema` makes a JSON Schema of them, which
`matchwork explain --schema` prints and `docs/explanation.schema.json` keeps.
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any, Literal, NotRequired

import numpy as np
from pydantic import Field, TypeAdapter
from typing_extensions import TypedDict

from matchwork.errors import DataError
from matchwork.explain.codes import CodeMaps
from matchwork.explain.explanation import Explanation, Values, WordWeight
from matchwork.explain.paths import matching_paths
from matchwork.explain.phrases import phrase_matches
from matchwork.explain.shares import Shares

if TYPE_CHECKING:
    from matchwork.text import Token

VERSION = 1
"""Rises when an entry changes its meaning or goes; new entries that may be absent do not count."""

Start = Annotated[int, Field(ge=0, description="First character, counted in code points.")]
End = Annotated[int, Field(ge=0, description="One after the last character.")]
Row = Annotated[int, Field(ge=0, description="Number of the query token, from 0.")]
Column = Annotated[int, Field(ge=0, description="Number of the document token, from 0.")]
Share = Annotated[float, Field(ge=0, le=1)]
Table = Annotated[
    list[list[float]], Field(description="A row per query token, a column per document token.")
]


class TokenJson(TypedDict):
    """What the model read of a text at one place; `start` equals `end` for added tokens."""

    text: str
    start: Start
    end: End


class WeightJson(TypedDict):
    """One number per token of one side."""

    side: Literal["query", "document"]
    values: list[float]


class SpanJson(TypedDict):
    """A stretch of the document that speaks for the match; the strongest has score 1."""

    start: Start
    end: End
    score: Share


class PathCellJson(TypedDict):
    """A cell of a matching path, and how the path left it."""

    row: Row
    column: Column
    move: str
    query: str
    document: str


class PathJson(TypedDict):
    """How a spatial recurrent network walked through the two texts."""

    rule: Literal["gates", "merged"]
    reverse: bool
    cells: list[PathCellJson]


class PhraseMatchJson(TypedDict):
    """A query phrase and the document phrase it matches best; `feature` is value times weight."""

    query: str
    document: str
    row: Row
    column: Column
    value: float
    weight: float
    feature: float


class LevelJson(TypedDict):
    """The matches of all query phrases of one length."""

    level: int
    phrase_length: int
    matches: list[PhraseMatchJson]


class SharesJson(TypedDict):
    """The score with each part of the model held at its mean, and what each part adds."""

    score: float
    relevance: float
    semantic: float
    neither: float
    relevance_effect: float
    semantic_effect: float


class CodesJson(TypedDict):
    """What hashing keeps of each token of one side, cut to the values that differ most."""

    side: Literal["query", "document"]
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
    paths: NotRequired[list[PathJson]]
    phrases: NotRequired[list[LevelJson]]


def json_schema() -> dict[str, Any]:
    """The JSON Schema of `to_json`."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        **TypeAdapter(ExplanationJson).json_schema(),
    }


def to_json(explanation: Explanation) -> dict[str, Any]:
    """Plain values, enough to make an equal explanation; spans, paths and phrases come on top."""
    shares, codes = explanation.shares, explanation.codes
    extra = {
        "phrase_lengths": dict(explanation.phrase_lengths),
        "shares": None if shares is None else shares.to_json(),
        "codes": None if codes is None else codes.to_json(),
        "paths": [path.to_json(explanation) for path in matching_paths(explanation)],
        "phrases": [level.to_json() for level in phrase_matches(explanation)],
    }
    return {
        "schema_version": VERSION,
        "query": explanation.query,
        "document": explanation.document,
        "model": explanation.model,
        "score": explanation.score,
        "probability": explanation.probability,
        "query_tokens": [token._asdict() for token in explanation.query_tokens],
        "document_tokens": [token._asdict() for token in explanation.document_tokens],
        "tables": {name: table.tolist() for name, table in explanation.tables.items()},
        "weights": {
            name: {"side": weight.side, "values": weight.values.tolist()}
            for name, weight in explanation.weights.items()
        },
        "spans": [span._asdict() for span in explanation.spans()],
        **{name: value for name, value in extra.items() if value},
    }


def from_json(table: Mapping[str, Any]) -> Explanation:
    """The inverse of `to_json`; what it derived is derived again."""
    try:
        # Explanations without a version were written before there was one.
        if table.get("schema_version", VERSION) > VERSION:
            raise DataError(
                f"an explanation of version {table['schema_version']}, this matchwork reads up to "
                f"{VERSION}; pip install --upgrade matchwork"
            )
        query, document = _tokens(table["query_tokens"]), _tokens(table["document_tokens"])
        return Explanation(
            query=table["query"],
            document=table["document"],
            model=table["model"],
            score=table["score"],
            probability=table["probability"],
            query_tokens=query,
            document_tokens=document,
            tables={
                name: _array(rows, (len(query), len(document)))
                for name, rows in table["tables"].items()
            },
            weights={
                name: WordWeight(weight["side"], _array(weight["values"], (-1,)))
                for name, weight in table["weights"].items()
            },
            phrase_lengths=dict(table.get("phrase_lengths", {})),
            shares=Shares.from_json(table["shares"]) if "shares" in table else None,
            codes=CodeMaps.from_json(table["codes"]) if "codes" in table else None,
        )
    except KeyError as error:
        raise DataError(f"not an explanation: no entry {error}") from error
    except (TypeError, ValueError, AttributeError) as error:
        raise DataError(f"not an explanation: {error}") from error


def _tokens(rows: list[dict[str, Any]]) -> tuple["Token", ...]:
    from matchwork.text import Token

    return tuple(Token(**row) for row in rows)


def _array(values: object, shape: tuple[int, ...]) -> Values:
    return np.asarray(values, dtype=np.float64).reshape(shape)
