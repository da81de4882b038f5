"""Tokenizer + model = a `Scorer`: text in, scores out."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import NamedTuple

import numpy as np
import torch

from matchwork.encode import TransformerEncoder
from matchwork.errors import ConfigError
from matchwork.models import MatchModel, MatchOutput, ModelConfig
from matchwork.rank import folder
from matchwork.rank.calibration import AnyCalibration, Calibration
from matchwork.rank.distinct import batches_by_document, encode_distinct, reads_once
from matchwork.rank.index import MAX_BYTES, DocumentIndex
from matchwork.rank.precision import Precision, reduce_precision, require_cpu
from matchwork.rank.ranking import RowScores, rank
from matchwork.rank.threads import in_threads
from matchwork.text import CorpusStatistics, PairBatch, Token, Tokenizer, batches_by_length
from matchwork.text.batch import DeviceTokens, Ids, TokenTable
from matchwork.types import Document, Ranked, Scores, TextPair

Progress = Callable[[int], None]
Tokens = TokenTable | DeviceTokens
WINDOW = 20_000  # pairs in memory at once when scoring a stream
# Padded tokens and pairs per batch: what stays in a core's cache, what keeps a GPU busy.
CPU_BATCH = (8_192, 256)
TRANSFORMER_TOKENS = 1_024  # on a CPU: its layers are many times wider than a token's vector
GPU_BATCH = (8_192, 256)  # for every GiB of its memory, up to
BUSY_GIB = 16  # beyond which nothing gets faster, and others may need the rest


class Truncation(NamedTuple):
    """How much text the length limits cut off."""

    texts: int = 0
    tokens: int = 0


class Matcher:
    """A trained (or untrained) model that reads text."""

    def __init__(
        self,
        tokenizer: Tokenizer,
        model: MatchModel,
        *,
        name: str | None = None,
        statistics: CorpusStatistics | None = None,
        calibration: AnyCalibration | None = None,
        max_query_length: int | None = None,
        max_document_length: int | None = None,
    ) -> None:
        _require_same_words(tokenizer, model)
        self.tokenizer = tokenizer
        self.model = model
        self._name = name
        self.statistics = statistics
        self.calibration = calibration
        limits = length_limits(model.config, max_query_length, max_document_length)
        self.max_query_length, self.max_document_length = limits
        self.max_tokens: int | None = None  # padded tokens per batch; None: as suits the device
        self.max_pairs: int | None = None
        self.precision: Precision = "32"
        self.truncation = Truncation()  # adds up over calls; set it anew to count again

    @property
    def name(self) -> str:
        """What tables and run files call it."""
        return self._name or folder.registered_name(self.model)

    @property
    def device(self) -> torch.device:
        """Where the weights are, hence where scoring happens."""
        return next(self.model.parameters()).device

    @property
    def num_classes(self) -> int:
        """Classes that it tells apart: two, match or not, unless the model was made for more."""
        return self.model.config.num_classes

    @property
    def _is_transformer(self) -> bool:
        return isinstance(self.model.encoder, TransformerEncoder)

    def to(
        self, device: torch.device | str | None = None, *, precision: Precision | None = None
    ) -> "Matcher":
        """Move the weights; or score with fewer bits, "bf16" or "int8".

        int8 is for transformers on the CPU, and such a matcher can no longer be trained.
        """
        if device is not None:
            if self.precision == "int8":
                require_cpu(device)
            self.model.to(device)
        if precision is not None:
            reduce_precision(self, precision)
        return self

    def score(self, pairs: Iterable[TextPair], progress: Progress | None = None) -> Scores:
        """One score per (query, document) pair, in the order given; higher is better."""
        return self._score_window(list(pairs), progress)

    def score_stream(
        self, pairs: Iterable[TextPair], window: int = WINDOW, progress: Progress | None = None
    ) -> Iterator[Scores]:
        """Scores of any number of pairs in constant memory, `window` pairs at a time."""
        for chunk in _windows(pairs, window):
            yield self._score_window(chunk, progress)

    def rank(
        self, query: str, documents: Sequence[str | Document], top_k: int | None = None
    ) -> list[Ranked]:
        """The documents from best to worst."""
        return rank(self, query, documents, top_k)

    def index(
        self, documents: Sequence[str | Document], max_bytes: int = MAX_BYTES
    ) -> DocumentIndex:
        """These documents encoded once, to rank them for many queries.

        Their vectors stay in memory; more of them than `max_bytes` are refused.
        """
        return DocumentIndex(self, documents, max_bytes)

    def probability(self, pairs: Iterable[TextPair]) -> Scores:
        """Scores as calibrated probabilities of a match."""
        return (self.calibration or Calibration()).probability(self.score(pairs))

    def classify(self, pairs: Iterable[TextPair], progress: Progress | None = None) -> Scores:
        """Probabilities of the classes, shape (pairs, classes); of two, [1 - `probability`, it]."""
        return self._classify_window(list(pairs), progress)[1]

    def classify_stream(
        self, pairs: Iterable[TextPair], window: int = WINDOW, progress: Progress | None = None
    ) -> Iterator[tuple[Scores, Scores]]:
        """Scores and class probabilities of any number of pairs, `window` pairs at a time."""
        for chunk in _windows(pairs, window):
            yield self._classify_window(chunk, progress)

    def tokens(self, query: str, document: str) -> tuple[list[Token], list[Token]]:
        """The tokens that the model sees of a pair."""
        return (
            self.tokenizer.tokens(query, self.max_query_length),
            self.tokenizer.tokens(document, self.max_document_length),
        )

    def output(self, query: str, document: str) -> MatchOutput:
        """The model's whole output for one pair, evidence included."""
        queries = self.tokenizer.encode([query], self.max_query_length)
        documents = self.tokenizer.encode([document], self.max_document_length)
        return self._forward(queries, documents, np.zeros(1, np.int64), np.zeros(1, np.int64))

    def outputs(self, pairs: Sequence[TextPair]) -> Iterator[tuple[Ids, MatchOutput]]:
        """The model's whole output batch by batch, each with the positions of its pairs.

        Pairs of similar length go together, longest first.
        """
        query_rows, queries = self.tokenize([q for q, _ in pairs], self.max_query_length)
        document_rows, documents = self.tokenize([d for _, d in pairs], self.max_document_length)
        yield from self._outputs(queries, documents, query_rows, document_rows)

    def by_row(self, queries: Sequence[str], documents: Sequence[str]) -> RowScores:
        """Scores pairs of these texts by their numbers; every distinct text is tokenised once."""
        query_rows, query_tokens = self.tokenize(queries, self.max_query_length)
        document_rows, document_tokens = self.tokenize(documents, self.max_document_length)

        def score(query_numbers: Ids, document_numbers: Ids) -> Scores:
            rows = query_rows[query_numbers], document_rows[document_numbers]
            return self.score_rows(query_tokens, document_tokens, *rows)

        return score

    def batch_limits(self) -> tuple[int, int]:
        """Most padded tokens and most pairs that are scored together."""
        tokens, pairs = CPU_BATCH
        if self._is_transformer:
            tokens = TRANSFORMER_TOKENS
        if self.device.type == "cuda":
            size = torch.cuda.get_device_properties(self.device).total_memory
            tokens, pairs = (limit * min(max(1, size >> 30), BUSY_GIB) for limit in GPU_BATCH)
        return self.max_tokens or tokens, self.max_pairs or pairs

    def save(self, path: str | Path, card: str | None = None) -> None:
        """Write a folder of JSON and safetensors; `card` is the text of its README."""
        folder.save(self, path, card)

    @staticmethod
    def load(path: str | Path, *, precision: Precision = "32") -> "Matcher":
        """Open a saved matcher."""
        return folder.load(path).to(precision=precision)

    @staticmethod
    def pretrained(name: str | Path, *, precision: Precision = "32") -> "Matcher":
        """A matcher that needs no training; see `matchwork.rank.pretrained.pretrained`."""
        from matchwork.rank.pretrained import pretrained

        return pretrained(name).to(precision=precision)

    @contextmanager
    def scoring(self) -> Iterator[None]:
        """The model as it is when used: without dropout, without gradients."""
        was_training = self.model.training
        self.model.eval()
        try:
            bf16 = self.precision == "bf16"
            with torch.inference_mode(), torch.autocast(self.device.type, torch.bfloat16, bf16):
                yield
        finally:
            self.model.train(was_training)

    def tokenize(self, texts: Sequence[str], max_length: int | None) -> tuple[Ids, Tokens]:
        """Every distinct text once: for each text its row, and the table of rows."""
        rows: dict[str, int] = {}
        row_of = [rows.setdefault(text, len(rows)) for text in texts]
        table = self.tokenizer.encode(list(rows), max_length)
        self._count_cuts(table.num_cut_texts, table.num_cut_tokens)
        return np.array(row_of, dtype=np.int64), table.to(self.device)

    def _count_cuts(self, texts: int, tokens: int) -> None:
        self.truncation = Truncation(self.truncation.texts + texts, self.truncation.tokens + tokens)

    def _score_window(self, pairs: Sequence[TextPair], progress: Progress | None) -> Scores:
        query_rows, queries = self.tokenize([q for q, _ in pairs], self.max_query_length)
        document_rows, documents = self.tokenize([d for _, d in pairs], self.max_document_length)
        return self.score_rows(queries, documents, query_rows, document_rows, progress)

    def score_rows(
        self,
        queries: Tokens,
        documents: Tokens,
        query_rows: Ids,
        document_rows: Ids,
        progress: Progress | None = None,
    ) -> Scores:
        """Scores of rows that `tokenize` gave; every distinct pair once, wherever it occurs."""
        keys = query_rows * len(documents.lengths) + document_rows
        _, first, place = np.unique(keys, return_index=True, return_inverse=True)
        repeated = len(first) < len(keys)
        rows = (
            (query_rows[first], document_rows[first]) if repeated else (query_rows, document_rows)
        )
        with self.scoring():  # once for all threads
            scores = self._collect(self._scores(queries, documents, *rows), progress)
        if not repeated:
            return scores
        if progress:
            progress(len(keys) - len(first))
        return scores[place]

    def _classify_window(
        self, pairs: Sequence[TextPair], progress: Progress | None
    ) -> tuple[Scores, Scores]:
        if self.num_classes == 2:
            scores = self._score_window(pairs, progress)
            match = (self.calibration or Calibration()).probability(scores)
            return scores, np.stack([1 - match, match], axis=1)
        table = self._collect(self.outputs(pairs), progress, _score_and_classes)
        table = table.reshape(-1, 1 + self.num_classes)
        return table[:, 0], table[:, 1:]

    def _outputs(
        self,
        queries: Tokens,
        documents: Tokens,
        query_rows: Ids,
        document_rows: Ids,
        run: Callable[[PairBatch], MatchOutput] | None = None,
    ) -> Iterator[tuple[Ids, MatchOutput]]:
        """As `run` gives them, which is the whole model unless said otherwise."""
        lengths = queries.lengths[query_rows], documents.lengths[document_rows]
        if self.model.pair_room is not None:
            beyond = np.maximum(sum(lengths) - self.model.pair_room, 0)
            self._count_cuts(int((beyond > 0).sum()), int(beyond.sum()))
        batches = batches_by_length(*lengths, *self.batch_limits())

        def forward(batch: Ids) -> tuple[Ids, MatchOutput]:
            rows = query_rows[batch], document_rows[batch]
            return batch, self._forward(queries, documents, *rows, run)

        # Whole outputs are large: none is computed before it is asked for.
        yield from map(forward, batches) if run is None else self._side_by_side(forward, batches)

    def _side_by_side(
        self, forward: Callable[[Ids], tuple[Ids, MatchOutput]], batches: Sequence[Ids]
    ) -> Iterator[tuple[Ids, MatchOutput]]:
        """On a CPU, a transformer's batches run one per thread."""
        threads = self._is_transformer and self.device.type == "cpu"
        return in_threads(forward, batches) if threads else map(forward, batches)

    @staticmethod
    def _collect(
        outputs: Iterable[tuple[Ids, MatchOutput]],
        progress: Progress | None = None,
        read: Callable[[MatchOutput], torch.Tensor] = lambda output: output.scores,
    ) -> Scores:
        """What is read, in the order of the pairs; it leaves the device once, at the end."""
        positions: list[Ids] = []
        parts: list[torch.Tensor] = []
        for batch, output in outputs:
            positions.append(batch)
            parts.append(read(output).double())
            if progress:
                progress(len(batch))
        if not parts:
            return np.empty(0)
        found = torch.cat(parts).cpu().numpy()
        ordered = np.empty_like(found)
        ordered[np.concatenate(positions)] = found
        return ordered

    def _forward(
        self,
        queries: Tokens,
        documents: Tokens,
        query_rows: Ids,
        document_rows: Ids,
        run: Callable[[PairBatch], MatchOutput] | None = None,
    ) -> MatchOutput:
        batch = PairBatch(queries.gather(query_rows), documents.gather(document_rows))
        with self.scoring():
            return (run or self.model)(batch.to(self.device))

    def _scores(
        self, queries: Tokens, documents: Tokens, query_rows: Ids, document_rows: Ids
    ) -> Iterator[tuple[Ids, MatchOutput]]:
        """Scores without evidence; of a transformer that reads texts apart, each text once."""
        if not reads_once(self.model):
            rows = query_rows, document_rows
            yield from self._outputs(queries, documents, *rows, self._only_scores)
            return
        lengths = queries.lengths[query_rows], documents.lengths[document_rows]

        def forward(batch: Ids) -> tuple[Ids, MatchOutput]:
            with self.scoring():
                query = encode_distinct(self.model, queries, query_rows[batch], self.device)
                document = encode_distinct(self.model, documents, document_rows[batch], self.device)
                return batch, MatchOutput(self.model.match(query, document).scores)

        batches = batches_by_document(*lengths, document_rows, *self.batch_limits())
        yield from self._side_by_side(forward, batches)

    def _only_scores(self, batch: PairBatch) -> MatchOutput:
        return MatchOutput(self.model.scores(batch))


def length_limits(
    config: ModelConfig, query: int | None = None, document: int | None = None
) -> tuple[int | None, int | None]:
    """Tokens of either text that are read: as many as wanted, or the model can, if fewer."""
    sides = (query, config.max_query_length), (document, config.max_document_length)
    shorter, longer = (min(filter(None, limits), default=None) for limits in sides)
    return shorter, longer


def _windows(pairs: Iterable[TextPair], window: int) -> Iterator[list[TextPair]]:
    iterator = iter(pairs)
    while chunk := list(islice(iterator, window)):
        yield chunk


def _score_and_classes(output: MatchOutput) -> torch.Tensor:
    """(batch, 1 + classes): the score, then the probability of every class."""
    assert output.logits is not None  # else the model tells two classes apart
    return torch.cat([output.scores[:, None].double(), output.logits.double().softmax(1)], dim=1)


def _require_same_words(tokenizer: Tokenizer, model: MatchModel) -> None:
    """A tokenizer and an encoder of different vocabularies would score nonsense, silently."""
    expected = getattr(model.encoder.config, "vocab_size", tokenizer.vocab_size)
    if expected != tokenizer.vocab_size:
        raise ConfigError(
            f"the tokenizer knows {tokenizer.vocab_size} words, the encoder {expected}; make the "
            "encoder from the tokenizer's vocabulary"
        )
