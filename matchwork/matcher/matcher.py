"""Tokenizer + model = a `Scorer`: text in, scores out."""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import islice, takewhile
from pathlib import Path
from threading import Event

import numpy as np
import torch

from matchwork.encode import TransformerEncoder
from matchwork.errors import ConfigError
from matchwork.matcher import folder
from matchwork.matcher.in_use import in_use
from matchwork.matcher.index import MAX_BYTES, DocumentIndex
from matchwork.matcher.pair_rows import PairRows, Tokens, Truncation
from matchwork.matcher.parts import MatcherParts
from matchwork.matcher.passes import Progress, collect, scores_only, whole_outputs
from matchwork.matcher.precision import Precision, reduce_precision, require_cpu
from matchwork.matcher.sources import read_source
from matchwork.models import MatchOutput, Model, ModelConfig
from matchwork.rank.bm25 import BM25
from matchwork.rank.calibration import AnyCalibration, Calibration
from matchwork.rank.ranking import require_pairs, rerank
from matchwork.rank.runs import PairScorer
from matchwork.text import Token, Tokenizer
from matchwork.text.batch import Ids
from matchwork.types import Advance, Document, Ranked, Scores, TextPair

WINDOW = 20_000  # pairs in memory at once when scoring a stream
# Padded tokens and pairs per batch: what stays in a core's cache, what keeps a GPU busy.
CPU_BATCH = (8_192, 256)
TRANSFORMER_TOKENS = 1_024  # on a CPU: its layers are many times wider than a token's vector
GPU_BATCH = (8_192, 256)  # for every GiB of its memory, up to
BUSY_GIB = 16  # beyond which nothing gets faster, and others may need the rest


class Matcher:
    """A trained (or untrained) model that reads text."""

    def __init__(
        self,
        tokenizer: Tokenizer,
        model: Model,
        *,
        name: str | None = None,
        calibration: AnyCalibration | None = None,
        max_query_length: int | None = None,
        max_document_length: int | None = None,
        max_pair_length: int | None = None,
        score_activation: str | None = None,
    ) -> None:
        _require_same_words(tokenizer, model)
        self.tokenizer = tokenizer
        self.model = model
        self._name = name
        self.calibration = calibration
        limits = length_limits(model.config, max_query_length, max_document_length)
        self.max_query_length, self.max_document_length = limits
        self.max_tokens: int | None = None  # padded tokens per batch; None: as suits the device
        self.max_pairs: int | None = None
        self.max_pair_length = max_pair_length  # of two texts that are read as one
        self.precision: Precision = "32"
        self.score_activation = score_activation  # by its path in torch.nn, if its makers name one
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
    def is_transformer(self) -> bool:
        """Whether one makes its vectors."""
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
            try:
                self.model.to(device)
            except (RuntimeError, AssertionError) as error:
                raise ConfigError(f"no device {device!r}: {error}; use cpu") from error
        if precision is not None:
            reduce_precision(self, precision)
        return self

    def score(self, pairs: Iterable[TextPair], progress: Progress | None = None) -> Scores:
        """One score per (query, document) pair, in the order given; higher is better."""
        return self.score_rows(self.rows(list(pairs)), progress)

    def score_stream(
        self, pairs: Iterable[TextPair], window: int = WINDOW, progress: Progress | None = None
    ) -> Iterator[Scores]:
        """Scores of any number of pairs in constant memory, `window` pairs at a time."""
        for chunk in _windows(pairs, window):
            yield self.score_rows(self.rows(chunk), progress)

    def rerank(
        self,
        query: str,
        documents: Sequence[str | Document],
        top_k: int | None = None,
        threshold: float | None = None,
    ) -> list[Ranked]:
        """Return the given documents from best to worst; see `matchwork.rank.rerank`."""
        return rerank(self, query, documents, top_k=top_k, threshold=threshold)

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
        texts = (query, self.max_query_length), (document, self.max_document_length)
        tokens = [self.tokenizer.tokens(*text) for text in texts]
        if self.pair_room is not None:
            tables = [self.tokenizer.encode([text], most) for text, most in texts]
            only = np.zeros(1, dtype=np.int64)
            lengths = PairRows(tables[0], tables[1], only, only, self.pair_room).lengths
            for side, (table, length) in enumerate(zip(tables, lengths, strict=True)):
                # Where words are the tokens, larger ids are of pieces that continue one.
                starts = table[0][: length[0]] < self.tokenizer.vocab_size
                tokens[side] = tokens[side][: int(starts.sum())]
        return tokens[0], tokens[1]

    def output(self, query: str, document: str) -> MatchOutput:
        """The model's whole output for one pair, evidence included."""
        (_, output), *_ = self.outputs([(query, document)])
        return output

    def outputs(self, pairs: Sequence[TextPair]) -> Iterator[tuple[Ids, MatchOutput]]:
        """The model's whole output batch by batch, each with the positions of its pairs.

        Pairs of similar length go together, longest first.
        """
        rows = self.rows(pairs)
        self._count_beyond_room(rows)
        yield from whole_outputs(self, rows)

    def prepare(
        self, queries: Sequence[str], documents: Sequence[str], advance: Advance | None = None
    ) -> PairScorer:
        """Tokenise each distinct text once; see `matchwork.rank.runs.CachingScorer`."""
        query_rows, query_tokens = self.tokenize(queries, self.max_query_length)
        document_rows, document_tokens = self.tokenize(documents, self.max_document_length)

        def score(query_numbers: Ids, document_numbers: Ids) -> Scores:
            rows = query_rows[query_numbers], document_rows[document_numbers]
            pairs = PairRows(query_tokens, document_tokens, *rows, self.pair_room)
            return self.score_rows(pairs, advance)

        return score

    @property
    def pair_room(self) -> int | None:
        """Most tokens of two texts together; None: any number, or they are not read as one."""
        room = self.model.max_pair_tokens
        return room if room is None else min(room, self.max_pair_length or room)

    def batch_limits(self) -> tuple[int, int]:
        """Most padded tokens and most pairs that are scored together."""
        tokens, pairs = CPU_BATCH
        if self.is_transformer:
            tokens = TRANSFORMER_TOKENS
        if self.device.type == "cuda":
            size = torch.cuda.get_device_properties(self.device).total_memory
            tokens, pairs = (limit * min(max(1, size >> 30), BUSY_GIB) for limit in GPU_BATCH)
        return self.max_tokens or tokens, self.max_pairs or pairs

    def save(self, path: str | Path, card: str | None = None) -> None:
        """Write a folder of JSON and safetensors; `card` is the text of its README."""
        parts = MatcherParts(
            tokenizer=self.tokenizer,
            model=self.model,
            name=self._name,
            calibration=self.calibration,
            max_query_length=self.max_query_length,
            max_document_length=self.max_document_length,
            max_pair_length=self.max_pair_length,
            score_activation=self.score_activation,
        )
        folder.save(parts, path, card)

    @classmethod
    def of(
        cls, parts: MatcherParts, device: str | None = None, precision: Precision = "32"
    ) -> "Matcher":
        """Return a matcher of these parts; see `matchwork.load` for device and precision."""
        matcher = cls(
            parts.tokenizer,
            parts.model,
            name=parts.name,
            calibration=parts.calibration,
            max_query_length=parts.max_query_length,
            max_document_length=parts.max_document_length,
            max_pair_length=parts.max_pair_length,
            score_activation=parts.score_activation,
        )
        if device is None:
            device = "cuda" if torch.cuda.is_available() and precision != "int8" else "cpu"
        return matcher.to(device, precision=precision)

    @classmethod
    def load(
        cls, name_or_path: str | Path, *, device: str | None = None, precision: Precision = "32"
    ) -> "Matcher":
        """Open a matcher; as `matchwork.load`, but a saved BM25 index is refused."""
        source = read_source(name_or_path)
        if isinstance(source, BM25):
            raise ConfigError(
                f"{name_or_path} is a BM25 index, which has no model; use matchwork.load, or name "
                "a matcher"
            )
        return cls.of(source, device, precision)

    @contextmanager
    def scoring(self) -> Iterator[None]:
        """The model as it is when used: without dropout, without gradients."""
        fewer_bits = torch.autocast(self.device.type, torch.bfloat16, self.precision == "bf16")
        with in_use(self.model), torch.inference_mode(), fewer_bits:
            yield

    def tokenize(self, texts: Sequence[str], max_length: int | None) -> tuple[Ids, Tokens]:
        """Every distinct text once: for each text its row, and the table of rows."""
        rows: dict[str, int] = {}
        row_of = [rows.setdefault(text, len(rows)) for text in texts]
        table = self.tokenizer.encode(list(rows), max_length)
        self._count_cuts(table.num_cut_texts, table.num_cut_tokens)
        return np.array(row_of, dtype=np.int64), table.to(self.device)

    def rows(self, pairs: Sequence[TextPair]) -> PairRows:
        """The tokens of these pairs."""
        require_pairs(pairs)
        query_rows, queries = self.tokenize([q for q, _ in pairs], self.max_query_length)
        document_rows, documents = self.tokenize([d for _, d in pairs], self.max_document_length)
        return PairRows(queries, documents, query_rows, document_rows, self.pair_room)

    def score_rows(
        self, rows: PairRows, progress: Progress | None = None, cancelled: Event | None = None
    ) -> Scores:
        """Score tokenised pairs; every distinct pair is read once, wherever it occurs.

        Args:
            rows: The pairs.
            progress: Called with the number of pairs of every batch.
            cancelled: When set, scoring stops after the current batch; other scores are NaN.
        """
        distinct, place = rows.distinct()
        self._count_beyond_room(distinct)
        with self.scoring():  # once for all threads
            outputs = scores_only(self, distinct)
            if cancelled:
                outputs = takewhile(lambda _: not cancelled.is_set(), outputs)
            scores = collect(outputs, len(distinct), progress)
        if progress and len(distinct) < len(rows):
            progress(len(rows) - len(distinct))
        return scores[place]

    def _classify_window(
        self, pairs: Sequence[TextPair], progress: Progress | None
    ) -> tuple[Scores, Scores]:
        if self.num_classes == 2:
            scores = self.score_rows(self.rows(pairs), progress)
            match = (self.calibration or Calibration()).probability(scores)
            return scores, np.stack([1 - match, match], axis=1)
        table = collect(self.outputs(pairs), len(pairs), progress, _score_and_classes)
        table = table.reshape(-1, 1 + self.num_classes)
        return table[:, 0], table[:, 1:]

    def _count_beyond_room(self, rows: PairRows) -> None:
        cut = rows.num_cut
        self._count_cuts(int((cut > 0).sum()), int(cut.sum()))

    def _count_cuts(self, texts: int, tokens: int) -> None:
        self.truncation = Truncation(self.truncation.texts + texts, self.truncation.tokens + tokens)


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


def _require_same_words(tokenizer: Tokenizer, model: Model) -> None:
    """A tokenizer and an encoder of different vocabularies would score nonsense, silently."""
    expected = getattr(model.encoder.config, "vocab_size", tokenizer.vocab_size)
    if expected != tokenizer.vocab_size:
        raise ConfigError(
            f"the tokenizer knows {tokenizer.vocab_size} words, the encoder {expected}; make the "
            "encoder from the tokenizer's vocabulary"
        )
