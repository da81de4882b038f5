"""RM3: query expansion with words of the documents that BM25 ranks first.

A relevance model (Lavrenko and Croft, SIGIR 2001) is the mean of the words of the best documents,
each document weighted by its score; RM3 (Abdul-Jaleel et al., TREC 2004) mixes it with the query.
The defaults are Anserini's, and so is the rule that a word of more than a tenth of all documents,
of one letter or of more than twenty does not expand a query; in a collection of fewer than ten
documents that is every word. We depart from Anserini in taking documents whole (it cuts each to
its most frequent words), in one threshold for all data (on tweets it takes a hundredth of its
whole collection, which a pool of candidates does not show), and in reranking the first-stage
documents instead of searching again.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from matchwork.errors import ConfigError, DataError
from matchwork.ordering import order
from matchwork.rank.bm25 import BM25
from matchwork.rank.runs import Pools, id_hashes
from matchwork.types import Run

_MOST_COMMON = 0.1
_LETTERS = range(2, 21)


@dataclass(frozen=True, kw_only=True)
class RM3Config:
    """Settings of the expansion.

    Args:
        num_documents: Best documents that feedback words come from.
        num_words: Number of words added.
        original_weight: Share of the original query, from 0 to 1.
    """

    num_documents: int = 10
    num_words: int = 10
    original_weight: float = 0.5

    def __post_init__(self) -> None:
        for key in ("num_documents", "num_words"):
            if getattr(self, key) < 1:
                raise ConfigError(f"{key} must be at least 1, got {getattr(self, key)}")
        if not 0 <= self.original_weight <= 1:
            raise ConfigError(
                f"original_weight must lie between 0 and 1, got {self.original_weight}"
            )


class RM3:
    """Reranks BM25's documents with the expanded query; all of them must be indexed."""

    name = "BM25+RM3"

    def __init__(self, index: BM25, config: RM3Config | None = None) -> None:
        self.index = index
        self.config = config or RM3Config()
        self._split = index.config.splitter()
        self._weights = index.weights.tocsr()
        self._rows = {text: row for row, text in enumerate(index.documents.values())}

    def rerank_run(
        self, queries: Mapping[str, str], documents: Mapping[str, str], first: Run
    ) -> Run:
        """Return the documents of a first-stage run with new scores."""
        return {
            query: self._rerank(queries[query], documents, scores)
            for query, scores in first.items()
        }

    def expand(self, query: str, feedback: Iterable[tuple[str, float]]) -> dict[str, float]:
        """Return words and shares of the query expanded by texts and scores of documents."""
        original, model = self._shares(query), self._relevance_model(feedback)
        if not model:
            return original
        ours = self.config.original_weight
        return {
            word: ours * original.get(word, 0.0) + (1 - ours) * model.get(word, 0.0)
            for word in {**original, **model}
        }

    def _rerank(
        self, query: str, documents: Mapping[str, str], scores: Mapping[str, float]
    ) -> dict[str, float]:
        names, values = list(scores), list(scores.values())
        texts = [self._text(documents, name) for name in names]
        # Ties fall by hash, here and among words: files may list relevant documents first.
        top = order(values, id_hashes(names))[: self.config.num_documents].tolist()
        expanded = self.expand(query, ((texts[index], values[index]) for index in top))
        expanded_query = np.zeros(len(self.index.vocabulary))
        for word, share in expanded.items():
            expanded_query[self.index.vocabulary[word]] = share
        rows = self._weights[[self._rows[text] for text in texts]]
        return dict(zip(names, (rows @ expanded_query).tolist(), strict=True))

    def _text(self, documents: Mapping[str, str], name: str) -> str:
        text = documents[name]
        if text not in self._rows:
            raise DataError(
                f"document {name!r} is not in the index of {len(self._rows)} texts; "
                "fit BM25 on all documents that are to be ranked"
            )
        return text

    def _relevance_model(self, feedback: Iterable[tuple[str, float]]) -> dict[str, float]:
        """Words of the feedback documents, as shares of 1."""
        model: defaultdict[str, float] = defaultdict(float)
        for text, score in feedback:
            for word, share in self._shares(text).items():
                if score > 0 and self._expands(word):
                    model[word] += share * score
        words = list(model)
        shares = [model[word] for word in words]
        best = order(shares, id_hashes(words))[: self.config.num_words].tolist()
        total = sum(model[words[index]] for index in best)
        return {words[index]: model[words[index]] / total for index in best}

    def _shares(self, text: str) -> dict[str, float]:
        """Share of each indexed word in a text."""
        counts = Counter(word for word in self._split(text) if word in self.index.vocabulary)
        return {word: count / counts.total() for word, count in counts.items()}

    def _expands(self, word: str) -> bool:
        return len(word) in _LETTERS and bool(self._rare[self.index.vocabulary[word]])

    @cached_property
    def _rare(self) -> npt.NDArray[np.bool_]:
        by_word = self.index.weights
        return np.asarray(np.diff(by_word.indptr) <= _MOST_COMMON * by_word.shape[0])


def rm3_run(split: Pools, first: Run) -> Run:
    """Rerank BM25's run of a split, with the word statistics that BM25 used for it."""
    documents = split.documents
    # Distinct texts of candidates, every document of a collection: like BM25's own run.
    distinct = list(dict.fromkeys(documents.values()))
    index = BM25.fit(documents if split.candidates is None else distinct)
    return RM3(index).rerank_run(split.queries, documents, first)
