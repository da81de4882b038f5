"""Why a pair got its score: the tables and word weights the model computed anyway."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from matchwork.errors import DataError, UnknownNameError
from matchwork.explain.titles import evidence_title
from matchwork.ordering import order
from matchwork.registry import did_you_mean

if TYPE_CHECKING:  # reports are written without a matcher, hence without waiting for torch
    from matchwork.rank.matcher import Matcher
    from matchwork.text import Token

Side: TypeAlias = Literal["query", "document"]
Values: TypeAlias = npt.NDArray[np.float64]


class WordPair(NamedTuple):
    """One cell of a table."""

    query: str
    document: str
    value: float


@dataclass(frozen=True, eq=False)
class WordWeight:
    """One number per word of one side."""

    side: Side
    values: Values


@dataclass(frozen=True, eq=False)
class Explanation:
    """Two texts, their score, and the model's evidence cut to the words that are there.

    `tables` are query words (rows) by document words (columns). `probability` is None when
    the matcher was not calibrated.
    """

    query: str
    document: str
    model: str
    score: float
    probability: float | None
    query_tokens: tuple["Token", ...]
    document_tokens: tuple["Token", ...]
    tables: Mapping[str, Values]
    weights: Mapping[str, WordWeight]

    def __post_init__(self) -> None:
        self._check("score", np.asarray(self.score), ())
        shape = (len(self.query_tokens), len(self.document_tokens))
        for name, table in self.tables.items():
            self._check(name, table, shape)
        for name, weight in self.weights.items():
            self._check(name, weight.values, (len(self.tokens(weight.side)),))

    def tokens(self, side: Side) -> tuple["Token", ...]:
        """The words of one side, in the order of the tables."""
        return self.query_tokens if side == "query" else self.document_tokens

    def table(self, name: str | None = None) -> Values:
        """A table by name; without a name the first, which is nearest to the words."""
        if not self.tables:
            raise UnknownNameError(f"{self.model!r} gives no table of word pairs for this pair")
        name = next(iter(self.tables)) if name is None else name
        if name not in self.tables:
            hint = did_you_mean(name, self.tables)
            raise UnknownNameError(f"{self.model!r} gives no table named {name!r}; {hint}")
        return self.tables[name]

    def strongest(self, table: str | None = None, top_k: int = 10) -> list[WordPair]:
        """The word pairs with the largest values, whatever their sign.

        Two words that meet in several places (in any case) count once, at their strongest.
        """
        values = self.table(table)
        found: dict[tuple[str, str], WordPair] = {}
        for cell in order(np.abs(values).ravel()).tolist():
            if len(found) == top_k:
                break
            row, column = divmod(cell, values.shape[1])
            query, document = self.query_tokens[row].text, self.document_tokens[column].text
            pair = WordPair(query, document, float(values[row, column]))
            found.setdefault((query.casefold(), document.casefold()), pair)
        return list(found.values())

    def word_values(self, side: Side) -> tuple[str, Values] | None:
        """What the numbers mean, and one per word of a side; None without evidence.

        The model's own word weights where it has some. Else from the first table: a word's
        total when the cells add up to the score, so that each is a share of it; its strongest
        cell when they do not.
        """
        for name, weight in self.weights.items():
            if weight.side == side:
                return evidence_title(name), weight.values
        if not self.tables:
            return None
        name, table = next(iter(self.tables.items()))
        rows = table if side == "query" else table.T
        if not rows.size or np.isclose(table.sum(), self.score, rtol=1e-3):
            return "What each word adds to the score", rows.sum(axis=1)
        strongest = rows[np.arange(len(rows)), np.abs(rows).argmax(axis=1)]
        return f"Strongest value of each word: {evidence_title(name).lower()}", strongest

    def to_json(self) -> dict[str, Any]:
        """Plain values, enough to make an equal explanation; its paths come on top."""
        from matchwork.explain.paths import matching_paths

        paths = [path.to_json(self) for path in matching_paths(self)]
        return {
            "query": self.query,
            "document": self.document,
            "model": self.model,
            "score": self.score,
            "probability": self.probability,
            "query_tokens": [token._asdict() for token in self.query_tokens],
            "document_tokens": [token._asdict() for token in self.document_tokens],
            "tables": {name: table.tolist() for name, table in self.tables.items()},
            "weights": {
                name: {"side": weight.side, "values": weight.values.tolist()}
                for name, weight in self.weights.items()
            },
            **({"paths": paths} if paths else {}),
        }

    @classmethod
    def from_json(cls, table: Mapping[str, Any]) -> "Explanation":
        """The inverse of `to_json`."""
        from matchwork.text import Token

        try:
            query = tuple(Token(**token) for token in table["query_tokens"])
            document = tuple(Token(**token) for token in table["document_tokens"])
            return cls(
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
            )
        except KeyError as error:
            raise DataError(f"not an explanation: no entry {error}") from error
        except (TypeError, ValueError, AttributeError) as error:
            raise DataError(f"not an explanation: {error}") from error

    def _repr_html_(self) -> str:
        from matchwork.explain.highlight import explanation_html

        return explanation_html(self)

    def _check(self, name: str, values: Values, shape: tuple[int, ...]) -> None:
        if values.shape != shape:
            raise ValueError(
                f"{name!r} has shape {values.shape}, but there are {len(self.query_tokens)} query "
                f"words and {len(self.document_tokens)} document words"
            )
        if not np.isfinite(values).all():
            raise DataError(
                f"{name!r} of {self.model!r} holds values that are not finite; "
                "the model's weights are damaged or its training diverged"
            )


def explain(matcher: "Matcher", query: str, document: str) -> Explanation:
    """Score one pair and keep what the model saw in it."""
    from matchwork.interact import WordWeights

    query_tokens, document_tokens = matcher.tokens(query, document)
    num_rows, num_columns = len(query_tokens), len(document_tokens)
    output = matcher.output(query, document)
    score = float(output.scores[0])
    calibration = matcher.calibration
    tables: dict[str, Values] = {}
    weights: dict[str, WordWeight] = {}
    for name, evidence in output.evidence.items():
        values = evidence.values[0].double().cpu().numpy()
        if isinstance(evidence, WordWeights):
            length = num_rows if evidence.side == "query" else num_columns
            weights[name] = WordWeight(evidence.side, values[:length])
        else:
            tables[name] = values[:num_rows, :num_columns]
    return Explanation(
        query=query,
        document=document,
        model=matcher.name,
        score=score,
        probability=None if calibration is None else float(calibration.probability(score)),
        query_tokens=tuple(query_tokens),
        document_tokens=tuple(document_tokens),
        tables=tables,
        weights=weights,
    )


def _array(values: object, shape: tuple[int, ...]) -> Values:
    return np.asarray(values, dtype=np.float64).reshape(shape)
