"""Why a pair got its score: the tables and word weights the model computed anyway."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from matchwork.errors import DataError, UnknownNameError
from matchwork.explain.codes import CodeMaps
from matchwork.explain.shares import Shares
from matchwork.explain.titles import GATE, PHRASE_WEIGHT, RELEVANCE, evidence_title
from matchwork.ordering import order
from matchwork.registry import did_you_mean

if TYPE_CHECKING:  # reports are written without a matcher, hence without waiting for torch
    from matchwork.explain.spans import Span
    from matchwork.matcher.matcher import Matcher
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


@dataclass(frozen=True, eq=False, repr=False)
class Explanation:
    """Two texts, their score, and the model's evidence cut to the words that are there.

    `tables` are query words (rows) by document words (columns); those whose rows and columns
    stand for longer phrases are named in `phrase_lengths`. `probability` is None when the
    matcher was not calibrated, `shares` where the model has no two parts, `codes` where it
    hashes no words.
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
    phrase_lengths: Mapping[str, int] = field(default_factory=dict)
    shares: Shares | None = None
    codes: CodeMaps | None = None

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

    def phrase_length(self, table: str) -> int:
        """How many words a row or column of a table stands for."""
        return self.phrase_lengths.get(table, 1)

    def phrase(self, side: Side, place: int, length: int) -> str:
        """The stretch of text of `length` words from one on; the end of the text cuts it off."""
        words = self.tokens(side)[place : place + length]
        if len(words) == 1:
            return words[0].text  # which may stand nowhere in the text, as [CLS] does
        text = self.query if side == "query" else self.document
        return text[words[0].start : max(word.end for word in words)]

    def table(self, name: str | None = None) -> Values:
        """A table by name; without a name the first, which is nearest to the words."""
        if not self.tables:
            raise UnknownNameError(f"{self.model!r} gives no table of word pairs for this pair")
        name = next(iter(self.tables)) if name is None else name
        if name not in self.tables:
            hint = did_you_mean(name, self.tables)
            raise UnknownNameError(f"{self.model!r} gives no table named {name!r}; {hint}")
        return self.tables[name]

    def weighted(self, name: str) -> Values:
        """A table as the model uses it: rows times the weights of their phrases, if they have."""
        table = self.table(name)
        weight = self.weights.get(PHRASE_WEIGHT + name.removeprefix(RELEVANCE))
        return table if weight is None else table * weight.values[:, None]

    def word_weights(self, side: Side) -> dict[str, Values]:
        """The model's weights of the words of a side, without those of phrases and gates."""
        return {
            name: weight.values
            for name, weight in self.weights.items()
            if weight.side == side and not name.startswith(PHRASE_WEIGHT)
            if not name.endswith(GATE)
        }

    def gates(self, side: Side) -> dict[str, Values]:
        """How far the gates of each word of a side were open, 0 to 1, where the model has some."""
        return {
            name: weight.values
            for name, weight in self.weights.items()
            if weight.side == side and name.endswith(GATE)
        }

    def strongest(self, table: str | None = None, top_k: int = 10) -> list[WordPair]:
        """The word pairs with the largest values, whatever their sign; phrases where it has some.

        Two words that meet in several places (in any case) count once, at their strongest.
        """
        name = next(iter(self.tables), "") if table is None else table
        values, length = self.weighted(name), self.phrase_length(name)
        found: dict[tuple[str, str], WordPair] = {}
        for cell in order(np.abs(values).ravel()).tolist():
            if len(found) == top_k:
                break
            row, column = divmod(cell, values.shape[1])
            query = self.phrase("query", row, length)
            document = self.phrase("document", column, length)
            pair = WordPair(query, document, float(values[row, column]))
            found.setdefault((query.casefold(), document.casefold()), pair)
        return list(found.values())

    def word_values(self, side: Side) -> tuple[str, Values] | None:
        """What the numbers mean, and one per word of a side; None without evidence.

        The model's own word weights where it has some. Else from the first table: a word's
        total when the cells add up to the score, so that each is a share of it; its strongest
        cell when they do not.
        """
        for name, values in self.word_weights(side).items():
            return evidence_title(name), values
        if not self.tables:
            return None
        name = next(iter(self.tables))
        table = self.weighted(name)
        rows = table if side == "query" else table.T
        if not rows.size or np.isclose(table.sum(), self.score, rtol=1e-3):
            return "What each word adds to the score", rows.sum(axis=1)
        strongest = rows[np.arange(len(rows)), np.abs(rows).argmax(axis=1)]
        return f"Strongest value of each word: {evidence_title(name).lower()}", strongest

    def spans(self, threshold: float = 0.5, max_spans: int | None = None) -> "list[Span]":
        """Stretches of the document that speak for the match: see `matchwork.explain.spans`."""
        from matchwork.explain.spans import spans

        return spans(self, threshold, max_spans)

    def to_json(self) -> dict[str, Any]:
        """Plain values in the form that `matchwork.explain.schema` documents."""
        from matchwork.explain.schema import to_json

        return to_json(self)

    @classmethod
    def from_json(cls, table: Mapping[str, Any]) -> "Explanation":
        """The inverse of `to_json`."""
        from matchwork.explain.schema import from_json

        return from_json(table)

    def __repr__(self) -> str:
        shape = f"{len(self.query_tokens)} x {len(self.document_tokens)} words"
        return f"Explanation(model={self.model!r}, score={self.score:.4f}, {shape})"

    def _repr_html_(self) -> str:
        """What a notebook shows: the marked texts, then the first of the heat maps."""
        from matchwork.explain.heat_maps import heat_maps
        from matchwork.explain.highlight import explanation_html
        from matchwork.report.drawing import to_svg

        drawings = [f"<div>{to_svg(chart)}</div>" for chart in heat_maps(self)[:1]]
        return "".join([explanation_html(self), *drawings])

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
    from matchwork.interact import Codes, WordWeights
    from matchwork.text.raw import readable

    query, document = readable(query), readable(document)
    query_tokens, document_tokens = matcher.tokens(query, document)
    num_rows, num_columns = len(query_tokens), len(document_tokens)
    output = matcher.output(query, document)
    score = float(output.scores[0])
    calibration = matcher.calibration
    tables: dict[str, Values] = {}
    weights: dict[str, WordWeight] = {}
    lengths: dict[str, int] = {}
    codes: CodeMaps | None = None
    for name, evidence in output.evidence.items():
        if isinstance(evidence, Codes):
            codes = CodeMaps.of(evidence, num_rows if evidence.side == "query" else num_columns)
            continue
        values = evidence.values[0].double().cpu().numpy()
        if isinstance(evidence, WordWeights):
            length = num_rows if evidence.side == "query" else num_columns
            weights[name] = WordWeight(evidence.side, values[:length])
        else:
            tables[name] = values[:num_rows, :num_columns]
            if evidence.phrase_length > 1:
                lengths[name] = evidence.phrase_length
    parts = {name: float(scores[0]) for name, scores in output.parts.items()}
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
        phrase_lengths=lengths,
        shares=Shares(score, **parts) if parts else None,
        codes=codes,
    )
