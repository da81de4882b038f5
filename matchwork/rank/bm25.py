"""BM25: a lexical scorer, and the first stage of a pipeline.

Robertson et al., Okapi at TREC-3, 1994, with the idf of Lucene, which is never negative; the
search is by bm25s (Lù, 2024, https://arxiv.org/abs/2407.03618). Statistics come from the documents
given to `fit`: other texts are scored with the same idf and mean length, and a word that `fit`
never saw adds nothing.
"""

import json
import re
from array import array
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import count, islice
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import Stemmer
from safetensors import SafetensorError
from safetensors import numpy as tensors
from scipy import sparse

from matchwork.config import build, to_table
from matchwork.errors import ConfigError, DataError, FolderError, UnknownNameError
from matchwork.files import atomic_folder, atomic_write, read_json, write_json
from matchwork.inputs import require_pairs
from matchwork.ordering import order
from matchwork.packages import without_package
from matchwork.rank.ranking import Reranker
from matchwork.rank.runs import Indices, PairScorer
from matchwork.registry import did_you_mean
from matchwork.types import Advance, Run, Scores, TextPair

_WORD = re.compile(r"[^\W_]+")
_WINDOW = 50_000
_FILES = ("config.json", "vocabulary.json", "index.safetensors", "documents.jsonl")
_FORMAT = 1
_NUMBA_PAYS = 1_000_000_000
"""Queries times documents from which numba's double speed pays for its compile time."""


@dataclass(frozen=True, kw_only=True)
class BM25Config:
    """BM25's parameters and how texts are split into words.

    Args:
        k1: How fast repeated words saturate.
        b: How much long documents are penalised, from 0 to 1.
        stemmer: Snowball language, such as "english"; None: words as they are.
        stopwords: Words that are left out.
    """

    k1: float = 1.2
    b: float = 0.75
    stemmer: str | None = None
    stopwords: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if not self.k1 >= 0:
            raise ConfigError(f"k1 must not be negative, got {self.k1}")
        if not 0 <= self.b <= 1:
            raise ConfigError(f"b must lie between 0 and 1, got {self.b}")
        if self.stemmer is not None and self.stemmer not in Stemmer.algorithms():
            hint = did_you_mean(self.stemmer, Stemmer.algorithms())
            raise UnknownNameError(f"no stemmer named {self.stemmer!r}; {hint}")

    def splitter(self) -> Callable[[str], list[str]]:
        """Return a function from a text to its lower-cased words."""
        stem = Stemmer.Stemmer(self.stemmer).stemWords if self.stemmer else None
        stopwords = frozenset(word.lower() for word in self.stopwords)

        def split(text: str) -> list[str]:
            words = _WORD.findall(text.lower())
            if stopwords:
                words = [word for word in words if word not in stopwords]
            return stem(words) if stem else words

        return split


class BM25(Reranker):
    """A BM25 index, made by `BM25.fit(texts)` or opened by `matchwork.load(folder)`.

    Attributes:
        config: Parameters and word splitting.
        documents: Indexed texts by id.
        vocabulary: Column of each word.
        weights: What each word (column) adds to the score of each document (row).
        mean_length: Mean number of words of a document.
    """

    name = "BM25"
    never_negative = True

    def __init__(
        self,
        config: BM25Config,
        documents: Mapping[str, str],
        vocabulary: dict[str, int],
        weights: sparse.csc_matrix,
        mean_length: float,
    ) -> None:
        self.config = config
        self.documents = documents
        self.vocabulary = vocabulary
        self.weights = weights
        self.mean_length = mean_length
        self._split = config.splitter()
        self._ids = list(documents)

    @classmethod
    def fit(
        cls,
        texts: Mapping[str, str] | Iterable[str],
        *,
        k1: float = 1.2,
        b: float = 0.75,
        stemmer: str | None = None,
        stopwords: Iterable[str] = (),
    ) -> "BM25":
        """Index texts.

        Args:
            texts: Texts by id, or a list, whose texts are named by their position.
            k1: See `BM25Config`, as for `b`, `stemmer` and `stopwords`.
        """
        config = BM25Config(k1=k1, b=b, stemmer=stemmer, stopwords=tuple(stopwords))
        documents = (
            texts if isinstance(texts, Mapping) else {str(i): text for i, text in enumerate(texts)}
        )
        if not documents:
            raise DataError("BM25 needs at least one document to count words in, got none")
        vocabulary = defaultdict[str, int](count().__next__)  # a new word takes the next column
        counts, lengths = _count(
            documents.values(),
            config.splitter(),
            lambda words: [vocabulary[word] for word in words],
        )
        mean_length = float(lengths.mean()) or 1.0
        weights = _weigh(counts, lengths, _idf(counts.tocsc()), mean_length, config).tocsc()
        return cls(config, documents, dict(vocabulary), weights, mean_length)

    def score(self, pairs: Iterable[TextPair]) -> Scores:
        """Score pairs of a query and a document text, indexed or not; shape (pairs,)."""
        return np.concatenate([np.zeros(0), *self.score_stream(pairs)])

    def score_stream(
        self, pairs: Iterable[TextPair], window: int = _WINDOW, advance: Advance | None = None
    ) -> Iterator[Scores]:
        """Yield the scores of any number of pairs in constant memory, `window` pairs at a time."""
        stream = iter(pairs)
        while chunk := list(islice(stream, window)):
            yield self._score_window(chunk, advance)

    def _score_window(self, pairs: Sequence[TextPair], advance: Advance | None) -> Scores:
        require_pairs(pairs)
        queries = {text: row for row, text in enumerate(dict.fromkeys(q for q, _ in pairs))}
        documents = {text: row for row, text in enumerate(dict.fromkeys(d for _, d in pairs))}
        query_indices = np.array([queries[query] for query, _ in pairs])
        document_indices = np.array([documents[document] for _, document in pairs])
        score = self.prepare(list(queries), list(documents), advance)
        return score(query_indices, document_indices)

    def prepare(
        self, queries: Sequence[str], documents: Sequence[str], advance: Advance | None = None
    ) -> PairScorer:
        """Split each text into words once; see `matchwork.rank.runs.CachingScorer`."""
        query_counts, _ = self._count(queries)
        counts, lengths = self._count(documents)
        weights = _weigh(counts, lengths, self._idf, self.mean_length, self.config)

        def score(query_indices: Indices, document_indices: Indices) -> Scores:
            parts = [np.zeros(0)]
            for start in range(0, len(query_indices), _WINDOW):
                part = slice(start, start + _WINDOW)
                products = query_counts[query_indices[part]].multiply(
                    weights[document_indices[part]]
                )
                parts.append(np.asarray(products.sum(axis=1), dtype=np.float64).reshape(-1))
                if advance is not None:
                    advance(len(parts[-1]))
            return np.concatenate(parts)

        return score

    def search(self, queries: Sequence[str], top_k: int = 100) -> list[dict[str, float]]:
        """Return ids and scores of the best indexed documents for each query, best first.

        Documents without a word of the query are left out; equal scores keep the order of `fit`.
        """
        if top_k < 1:
            raise ConfigError(f"top_k must be at least 1, got {top_k}")
        query_columns = [self._columns(self._split(query)) for query in queries]
        known = [index for index, columns in enumerate(query_columns) if columns]
        results: list[dict[str, float]] = [{} for _ in queries]
        if not known:
            return results
        fast = len(known) * len(self._ids) >= _NUMBA_PAYS
        engine = self._engine("auto" if fast else "numpy")
        # One more than top_k shows whether a tie crosses the cut, where bm25s picks freely.
        positions, scores = engine.retrieve(
            [query_columns[query] for query in known],
            k=min(top_k + 1, len(self._ids)),
            show_progress=False,
            # "auto" takes JAX, and with it a GPU's whole memory, wherever JAX is installed.
            backend_selection="numba" if engine.backend == "numba" else "numpy",
        )
        for query, rows, values in zip(known, positions, scores, strict=True):
            if len(values) > top_k and values[top_k] == values[top_k - 1] > 0:
                all_scores = engine.get_scores_from_ids(query_columns[query])
                rows = np.flatnonzero(all_scores >= values[top_k])
                values = all_scores[rows]
            best = order(values, rows)[:top_k]
            best = best[values[best] > 0]
            names = map(self._ids.__getitem__, rows[best].tolist())
            results[query] = dict(zip(names, values[best].tolist(), strict=True))
        return results

    def retrieve(self, queries: Mapping[str, str], top_k: int = 100) -> Run:
        """Return a run: the best `top_k` documents for each query id."""
        return dict(zip(queries, self.search(list(queries.values()), top_k), strict=True))

    def score_all(self, queries: Sequence[str]) -> Scores:
        """Return the score of every indexed document, shape (queries, documents)."""
        counts, _ = self._count(queries)
        return np.asarray((counts @ self._by_word).toarray(), dtype=np.float64)

    @cached_property
    def _by_word(self) -> sparse.csr_matrix:
        return self.weights.T.tocsr()

    def save(self, folder: str | Path) -> None:
        """Write config, vocabulary, index and documents as JSON and safetensors."""
        with atomic_folder(folder, _FILES) as temporary:
            about = {
                "model": "bm25",
                "format": _FORMAT,
                "config": to_table(self.config),
                "mean_length": self.mean_length,
            }
            write_json(temporary / "config.json", about)
            write_json(temporary / "vocabulary.json", list(self.vocabulary))
            with atomic_write(temporary / "index.safetensors", "wb") as stream:
                stream.write(tensors.save(self._arrays()))
            with atomic_write(temporary / "documents.jsonl") as stream:
                for item in self.documents.items():
                    stream.write(json.dumps(item, ensure_ascii=False) + "\n")

    @classmethod
    def load(cls, folder: str | Path) -> "BM25":
        """Open a folder that `save` wrote; see also `matchwork.load`."""
        folder = Path(folder)
        try:
            about = read_json(folder / "config.json")
            if about["format"] > _FORMAT:
                raise FolderError(
                    f"{folder} is of format {about['format']}, this version reads up to "
                    f"{_FORMAT}; upgrade matchwork"
                )
            config = build(BM25Config, about["config"], f"{folder / 'config.json'}: config")
            words = read_json(folder / "vocabulary.json")
            with (folder / "documents.jsonl").open(encoding="utf-8") as stream:
                documents = dict(json.loads(line) for line in stream)
            index = tensors.load_file(folder / "index.safetensors")
            weights = sparse.csc_matrix(
                (index["data"], index["indices"], index["indptr"]),
                shape=(len(documents), len(words)),
            )
            weights.check_format(full_check=True)
        except (OSError, DataError, KeyError, TypeError, ValueError, SafetensorError) as error:
            raise FolderError(
                f"{folder} is not a complete BM25 folder ({error}); save it again"
            ) from error
        vocabulary = {word: column for column, word in enumerate(words)}
        return cls(config, documents, vocabulary, weights, about["mean_length"])

    def _arrays(self) -> dict[str, npt.NDArray[Any]]:
        return {key: getattr(self.weights, key) for key in ("data", "indices", "indptr")}

    def _columns(self, words: list[str]) -> list[int]:
        """Columns of the words that `fit` saw."""
        return [column for column in map(self.vocabulary.get, words) if column is not None]

    def _count(self, texts: Iterable[str]) -> tuple[sparse.csr_matrix, npt.NDArray[np.float64]]:
        counts, lengths = _count(texts, self._split, self._columns)
        counts.resize(len(lengths), len(self.vocabulary))
        return counts, lengths

    @cached_property
    def _idf(self) -> npt.NDArray[np.float64]:
        return _idf(self.weights)

    def _engine(self, backend: str) -> Any:
        """A bm25s engine over our weights, so that `score` and `search` cannot differ."""
        with without_package("jax"):  # bm25s would load it, and JAX takes all memory of the GPU
            import bm25s  # imports numba: half a second that `score` does not need

        engine = bm25s.BM25(method="lucene", dtype="float64", backend=backend)
        engine.scores = {**self._arrays(), "num_docs": len(self._ids)}
        engine.unique_token_ids_set = range(len(self.vocabulary))
        engine.nonoccurrence_array = None
        return engine


def _count(
    texts: Iterable[str],
    split: Callable[[str], list[str]],
    columns_of: Callable[[list[str]], list[int]],
) -> tuple[sparse.csr_matrix, npt.NDArray[np.float64]]:
    """Counts of words (columns) in texts (rows), and the lengths of the texts."""
    columns, ends, lengths = array("i"), [0], []
    for words in map(split, texts):
        columns.extend(columns_of(words))
        ends.append(len(columns))
        lengths.append(len(words))
    indices = np.array(columns, dtype=np.int32)
    counts = sparse.csr_matrix(
        (np.ones(len(indices)), indices, ends),
        shape=(len(lengths), int(indices.max(initial=-1)) + 1),
    )
    counts.sum_duplicates()
    return counts, np.array(lengths, dtype=np.float64)


def _idf(by_word: sparse.csc_matrix) -> npt.NDArray[np.float64]:
    """Lucene's idf, from the number of entries of each column."""
    frequency = np.diff(by_word.indptr)
    return np.asarray(np.log1p((by_word.shape[0] - frequency + 0.5) / (frequency + 0.5)))


def _weigh(
    counts: sparse.csr_matrix,
    lengths: npt.NDArray[np.float64],
    idf: npt.NDArray[np.float64],
    mean_length: float,
    config: BM25Config,
) -> sparse.csr_matrix:
    """Apply the BM25 formula to word counts."""
    saturation = config.k1 * (1 - config.b + config.b * lengths / mean_length)
    rows = np.repeat(np.arange(counts.shape[0]), np.diff(counts.indptr))
    weights = idf[counts.indices] * counts.data / (counts.data + saturation[rows])
    return sparse.csr_matrix((weights, counts.indices, counts.indptr), shape=counts.shape)
