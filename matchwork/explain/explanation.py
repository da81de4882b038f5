"""An explanation: two texts, their score, and the evidence the model computed anyway."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from matchwork.errors import DataError, UnknownNameError
from matchwork.explain.codes import CodeMaps
from matchwork.explain.shares import Shares
from matchwork.explain.spans import Span, ValuedWord, strong_spans, valued_words
from matchwork.explain.titles import GATE, PHRASE_WEIGHT, RELEVANCE, evidence_title
from matchwork.explain.view import MAX_WORDS, VIEWS, view_data
from matchwork.ordering import order
from matchwork.registry import did_you_mean
from matchwork.report.drawing import to_svg
from matchwork.report.highlight import Values
from matchwork.types import Side

if TYPE_CHECKING:  # reports are written without a matcher, hence without waiting for torch
    from matchwork.text import Token

VERSION = 1
"""Version of the JSON form. It rises when an entry changes its meaning or goes, not when an
optional entry is added."""
_PLAIN = ("query", "document", "model", "score", "probability")  # as they are in JSON


class WordPair(NamedTuple):
    """One cell of a table."""

    query: str
    document: str
    value: float


@dataclass(frozen=True, eq=False)
class WordWeight:
    """Weights of the words of one side, shape (words,)."""

    side: Side
    values: Values


@dataclass(frozen=True, eq=False, repr=False)
class Explanation:
    """Two texts, their score, and the model's evidence, cut to the words that are there.

    Args:
        query: The query as it was read.
        document: The document as it was read.
        model: Name of the matcher.
        score: Higher is better, on the model's own scale.
        probability: Calibrated probability of a match; None without a calibration.
        query_tokens: What the model read of the query.
        document_tokens: What it read of the document.
        tables: Name -> array, shape (query tokens, document tokens).
        weights: Name -> one number per word of a side.
        phrase_lengths: Name of a table -> how many words its rows and columns stand for, if many.
        shares: What each part of the model adds, where it has two.
        codes: Words before and after hashing, where the model hashes them.
        titles: Name of evidence -> title for people, where the model gives one.
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
    titles: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._check("score", np.asarray(self.score), ())
        shape = (len(self.query_tokens), len(self.document_tokens))
        for name, table in self.tables.items():
            self._check(name, table, shape)
        for name, weight in self.weights.items():
            self._check(name, weight.values, (len(self.tokens(weight.side)),))

    @property
    def headline(self) -> str:
        """Model, score and probability in one line."""
        return f"{self.model}: score {self.score:.4f}{self.probability_phrase}"

    @property
    def probability_phrase(self) -> str:
        """The calibrated probability as a part of a sentence; empty without a calibration."""
        if self.probability is None:
            return ""
        return f", probability of a match {self.probability:.2f}"

    def text(self, side: Side) -> str:
        """Return the text of one side."""
        return self.query if side == "query" else self.document

    def tokens(self, side: Side) -> tuple["Token", ...]:
        """Return the words of one side, in the order of the tables."""
        return self.query_tokens if side == "query" else self.document_tokens

    def title(self, name: str) -> str:
        """Return the title of a table or of word weights."""
        return self.titles.get(name) or evidence_title(name)

    def phrase_length(self, table: str) -> int:
        """Return how many words a row or column of a table stands for."""
        return self.phrase_lengths.get(table, 1)

    def phrase(self, side: Side, index: int, length: int) -> str:
        """Return the text of `length` words from word `index` on, fewer at the end of the text."""
        words = self.tokens(side)[index : index + length]
        if len(words) == 1:
            return words[0].text  # which may not be part of the text, such as [CLS]
        return self.text(side)[words[0].start : max(word.end for word in words)]

    def table(self, name: str | None = None) -> Values:
        """Return a table by name; without a name the first, which is nearest to the words."""
        if not self.tables:
            raise UnknownNameError(f"{self.model!r} gives no table of word pairs for this pair")
        name = next(iter(self.tables)) if name is None else name
        if name not in self.tables:
            hint = did_you_mean(name, self.tables)
            raise UnknownNameError(f"{self.model!r} gives no table named {name!r}; {hint}")
        return self.tables[name]

    def weighted(self, name: str) -> Values:
        """Return a table as the model uses it: each row times the weight of its phrase, if any."""
        table = self.table(name)
        weight = self.weights.get(PHRASE_WEIGHT + name.removeprefix(RELEVANCE))
        return table if weight is None else table * weight.values[:, None]

    def word_weights(self, side: Side) -> dict[str, Values]:
        """Return the model's weights of the words of a side, without phrase weights and gates."""
        return {
            name: values
            for name, values in self._weights_of(side).items()
            if not name.startswith(PHRASE_WEIGHT) and not name.endswith(GATE)
        }

    def gates(self, side: Side) -> dict[str, Values]:
        """Return how far the gates of each word of a side were open, 0 to 1."""
        return {n: values for n, values in self._weights_of(side).items() if n.endswith(GATE)}

    def _weights_of(self, side: Side) -> dict[str, Values]:
        return {name: one.values for name, one in self.weights.items() if one.side == side}

    def strongest(self, table: str | None = None, top_k: int = 10) -> list[WordPair]:
        """Return the word (or phrase) pairs with the largest values, whatever their sign.

        Two words that meet several times (in any case) count once, at their strongest.

        Args:
            table: Name of a table; the first by default.
            top_k: How many pairs.
        """
        name = next(iter(self.tables), "") if table is None else table
        values, length = self.weighted(name), self.phrase_length(name)
        pairs: dict[tuple[str, str], WordPair] = {}
        for cell in order(np.abs(values).ravel()).tolist():
            if len(pairs) == top_k:
                break
            row, column = divmod(cell, values.shape[1])
            query = self.phrase("query", row, length)
            document = self.phrase("document", column, length)
            pair = WordPair(query, document, float(values[row, column]))
            pairs.setdefault((query.casefold(), document.casefold()), pair)
        return list(pairs.values())

    def word_values(self, side: Side) -> tuple[str, Values] | None:
        """Return a title and one number per word of a side; None without evidence.

        The model's own word weights where it has some. Else from the first table: a word's
        total when the cells sum to the score, so that each is a share of it; otherwise its
        strongest cell.
        """
        for name, values in self.word_weights(side).items():
            return self.title(name), values
        if not self.tables:
            return None
        name = next(iter(self.tables))
        table = self.weighted(name)
        rows = table if side == "query" else table.T
        if not rows.size or np.isclose(table.sum(), self.score, rtol=1e-3):
            return "What each word adds to the score", rows.sum(axis=1)
        strongest = rows[np.arange(len(rows)), np.abs(rows).argmax(axis=1)]
        return f"Strongest value of each word: {self.title(name).lower()}", strongest

    def document_words(self) -> list[ValuedWord]:
        """Return the whole words of the document, each with its value by `word_values`, or 0."""
        titled = self.word_values("document")
        values = np.zeros(len(self.document_tokens)) if titled is None else titled[1]
        return valued_words(self.document, self.document_tokens, values)

    def spans(self, threshold: float = 0.5, max_spans: int | None = None) -> list[Span]:
        """Return stretches of the document that speak for the match.

        Args:
            threshold: Least share of the value of the strongest word, 0 to 1.
            max_spans: How many of the strongest spans to keep.
        """
        return strong_spans(self.document, self.document_words(), threshold, max_spans)

    def to_dict(self) -> dict[str, Any]:
        """Return plain values from which `from_dict` makes an equal explanation.

        Spans and the entries of the views come on top. `json_schema` documents the form.
        """
        optional = {
            "titles": dict(self.titles),
            "phrase_lengths": dict(self.phrase_lengths),
            "shares": self.shares and self.shares.to_dict(),
            "codes": self.codes and self.codes.to_dict(),
            **view_data(self),
        }
        return {
            "schema_version": VERSION,
            **{name: getattr(self, name) for name in _PLAIN},
            "query_tokens": [token._asdict() for token in self.query_tokens],
            "document_tokens": [token._asdict() for token in self.document_tokens],
            "tables": {name: table.tolist() for name, table in self.tables.items()},
            "weights": {
                name: {"side": weight.side, "values": weight.values.tolist()}
                for name, weight in self.weights.items()
            },
            "spans": [span._asdict() for span in self.spans()],
            **{name: value for name, value in optional.items() if value},
        }

    @classmethod
    def from_dict(cls, table: Mapping[str, Any]) -> "Explanation":
        """Read what `to_dict` returned; derived entries are derived again."""
        try:
            # Explanations without a version were written before there was one.
            if table.get("schema_version", VERSION) > VERSION:
                raise DataError(
                    f"an explanation of version {table['schema_version']}, this matchwork reads "
                    f"up to {VERSION}; pip install --upgrade matchwork"
                )
            query, document = _tokens(table["query_tokens"]), _tokens(table["document_tokens"])
            shape = (len(query), len(document))
            return cls(
                **{name: table[name] for name in _PLAIN},
                query_tokens=query,
                document_tokens=document,
                tables={name: _array(rows, shape) for name, rows in table["tables"].items()},
                weights={
                    name: WordWeight(weight["side"], _array(weight["values"], (-1,)))
                    for name, weight in table["weights"].items()
                },
                phrase_lengths=dict(table.get("phrase_lengths", {})),
                shares=Shares.from_dict(table["shares"]) if "shares" in table else None,
                codes=CodeMaps.from_dict(table["codes"]) if "codes" in table else None,
                titles=dict(table.get("titles", {})),
            )
        except KeyError as error:
            raise DataError(f"not an explanation: no entry {error}") from error
        except (TypeError, ValueError, AttributeError) as error:
            raise DataError(f"not an explanation: {error}") from error

    def __repr__(self) -> str:
        shape = f"{len(self.query_tokens)} x {len(self.document_tokens)} words"
        return f"Explanation(model={self.model!r}, score={self.score:.4f}, {shape})"

    def _repr_html_(self) -> str:
        """Return what a notebook shows: the marked texts, then the first heat map."""
        texts = [section.html() for section in VIEWS["texts"].sections(self)]
        charts = VIEWS["tables"].charts(self, MAX_WORDS)[:1]
        return "".join([*texts, *(f"<div>{to_svg(chart)}</div>" for chart in charts)])

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


def _tokens(rows: Sequence[Mapping[str, Any]]) -> tuple["Token", ...]:
    from matchwork.text import Token

    return tuple(Token(**row) for row in rows)


def _array(values: object, shape: tuple[int, ...]) -> Values:
    return np.asarray(values, dtype=np.float64).reshape(shape)
