"""The matcher: a tokenizer and a model that score, rank, save and load text."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, fields
from itertools import islice
from pathlib import Path
from threading import Event

import numpy as np
import torch

from matchwork.encode import Encoder, WordEmbedding, WordVectors, load_transformer
from matchwork.errors import ConfigError
from matchwork.inputs import report_truncation
from matchwork.matcher import folder
from matchwork.matcher.folder import MatcherParts
from matchwork.matcher.index import MAX_BYTES, DocumentIndex
from matchwork.matcher.inference import BatchOutput, Inference, collect
from matchwork.matcher.precision import Precision, change_precision, require_cpu
from matchwork.matcher.sources import read_source
from matchwork.matcher.token_pairs import PairReader, TokenPairs
from matchwork.models import MODELS, MatchOutput
from matchwork.rank.bm25 import BM25
from matchwork.rank.calibration import Calibration
from matchwork.rank.ranking import Reranker
from matchwork.rank.runs import PairScorer
from matchwork.text import Token, Tokenizer, WordTokenizer
from matchwork.text.batch import Ids
from matchwork.types import Advance, Document, Scores, TextPair

WINDOW = 20_000  # pairs in memory at once when scoring a stream


@dataclass(eq=False)
class Matcher(MatcherParts, Reranker):
    """A tokenizer and a model that score pairs of texts; see `MatcherParts` for its arguments.

    Several threads may score with one matcher.

    Attributes:
        max_tokens: Most padded tokens per batch; None: chosen for the device.
        max_pairs: Most pairs per batch; None: chosen for the device.
        precision: "32", "bf16" or "int8"; change it with `to`.
    """

    max_tokens: int | None = field(default=None, init=False)
    max_pairs: int | None = field(default=None, init=False)
    precision: Precision = field(default="32", init=False)

    @classmethod
    def build(
        cls,
        model: str,
        texts: Iterable[str] = (),
        *,
        dim: int = 50,
        vectors: WordVectors | str | Path | None = None,
        transformer: str | Path | None = None,
        trainable: bool = True,
        seed: int = 0,
        **settings: object,
    ) -> "Matcher":
        """Make an untrained matcher.

        Args:
            model: A registered model, such as "knrm"; `matchwork models` lists them.
            texts: Texts whose words make the vocabulary; not needed with `transformer`.
            dim: Width of random word vectors.
            vectors: Pre-trained word vectors or their file, instead of random ones.
            transformer: Folder or name of a pre-trained transformer, instead of word vectors.
            trainable: Whether training changes the vectors or the transformer.
            seed: Of the random weights; the global random state is left as it was.
            settings: Settings of the model; see its page.
        """
        entry = MODELS[model]
        config = entry.config(settings, model)
        if vectors is not None and transformer is not None:
            raise ConfigError("give vectors or a transformer, not both")
        tokenizer: Tokenizer
        encoder: Encoder
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(seed)
            if transformer is not None:
                tokenizer, encoder = load_transformer(transformer, trainable=trainable)
            else:
                tokenizer, encoder = _word_embedding(list(texts), dim, vectors, trainable)
            return cls(tokenizer, entry.model(config, encoder))

    @classmethod
    def load(
        cls, name_or_path: str | Path, *, device: str | None = None, precision: Precision = "32"
    ) -> "Matcher":
        """Open a matcher; like `matchwork.load`, but refuse a saved BM25 index."""
        source = read_source(name_or_path)
        if isinstance(source, BM25):
            raise ConfigError(
                f"{name_or_path} is a BM25 index, which has no model; use matchwork.load, or name "
                "a matcher"
            )
        return cls.open(source, device, precision)

    @classmethod
    def open(cls, parts: MatcherParts, device: str | None, precision: Precision) -> "Matcher":
        """Return a matcher of these parts on a device; see `matchwork.load`."""
        if device is None:
            device = "cuda" if torch.cuda.is_available() and precision != "int8" else "cpu"
        return cls.from_parts(parts).to(device, precision=precision)

    @classmethod
    def from_parts(cls, parts: MatcherParts) -> "Matcher":
        """Return a matcher of these parts."""
        return cls(**{each.name: getattr(parts, each.name) for each in fields(MatcherParts)})

    def save(self, path: str | Path, card: str | None = None) -> None:
        """Write a folder of JSON and safetensors.

        Args:
            path: The folder; a folder that holds files of another kind is refused.
            card: Text of its README; None: a few lines on the model and its settings.
        """
        folder.save(self, path, card)

    @property
    def device(self) -> torch.device:
        """The device of the weights, where scoring happens."""
        return self.inference.device

    @property
    def num_classes(self) -> int:
        """Number of classes: two (match or not), unless the model was made for more."""
        return self.model.config.num_classes

    @property
    def is_transformer(self) -> bool:
        """Whether the encoder is a transformer."""
        return self.inference.is_transformer

    @property
    def inference(self) -> Inference:
        """Runs batches of tokenised pairs through the model."""
        return Inference(self.model, self.precision, self.max_tokens, self.max_pairs)

    @property
    def reader(self) -> PairReader:
        """Tokenises texts within the length limits."""
        room = self.model.max_pair_tokens
        return PairReader(
            self.tokenizer,
            self.max_query_length,
            self.max_document_length,
            None if room is None else min(room, self.max_pair_length or room),
            self.device,
        )

    def to(
        self, device: torch.device | str | None = None, *, precision: Precision | None = None
    ) -> "Matcher":
        """Move the weights, or score with fewer bits.

        Args:
            device: Such as "cuda" or "cpu".
            precision: "32"; "bf16" for mixed precision; "int8" for transformers on the CPU, which
                can then no longer be trained. Saved weights keep all their bits.
        """
        if device is not None:
            if self.precision == "int8":
                require_cpu(device)
            try:
                self.model.to(device)
            except (RuntimeError, AssertionError) as error:
                raise ConfigError(f"no device {device!r}: {error}; use cpu") from error
        if precision not in (None, self.precision):
            change_precision(self.model, self.precision, precision)
            self.precision = precision
        return self

    def score(self, pairs: Iterable[TextPair], advance: Advance | None = None) -> Scores:
        """Score (query, document) pairs.

        Args:
            pairs: Pairs of texts.
            advance: Called with the number of pairs scored since the last call.

        Returns:
            Scores in the order of the pairs, shape (pairs,); higher is better.
        """
        return self.score_tokens(self.reader.read(list(pairs)), advance)

    def score_stream(
        self, pairs: Iterable[TextPair], window: int = WINDOW, advance: Advance | None = None
    ) -> Iterator[Scores]:
        """Yield the scores of any number of pairs in constant memory, `window` pairs at a time."""
        for chunk in _windows(pairs, window):
            yield self.score(chunk, advance)

    def score_tokens(
        self, pairs: TokenPairs, advance: Advance | None = None, cancelled: Event | None = None
    ) -> Scores:
        """Score tokenised pairs, shape (pairs,), each distinct pair once.

        Args:
            pairs: Pairs from `reader`; their `truncation` says what was cut.
            advance: Called with the number of pairs scored since the last call.
            cancelled: When set, scoring stops after the current batch; other scores are NaN.
        """
        distinct, index = pairs.distinct()
        _report_cut_pairs(distinct)
        with self.inference.scoring():  # once for all threads
            outputs = self.inference.scores(distinct)
            scores = collect(outputs, len(distinct), advance, cancelled=cancelled)
        if advance and len(distinct) < len(pairs):
            advance(len(pairs) - len(distinct))
        return scores[index]

    def prepare(
        self, queries: Sequence[str], documents: Sequence[str], advance: Advance | None = None
    ) -> PairScorer:
        """Tokenise each distinct text once; see `matchwork.rank.runs.CachingScorer`."""
        pairs = self.reader.prepare(queries, documents)

        def score(query_indices: Ids, document_indices: Ids) -> Scores:
            return self.score_tokens(pairs(query_indices, document_indices), advance)

        return score

    def index(
        self, documents: Sequence[str | Document], max_bytes: int = MAX_BYTES
    ) -> DocumentIndex:
        """Encode documents once, to rank them for many queries.

        Args:
            documents: Texts or `Document`s.
            max_bytes: Raise a `ConfigError` if their vectors take more memory than this.
        """
        return DocumentIndex(
            documents, self.reader, self.inference, self.name, self.calibration, max_bytes
        )

    def probability(self, pairs: Iterable[TextPair]) -> Scores:
        """Return calibrated probabilities of a match, shape (pairs,)."""
        return (self.calibration or Calibration()).probability(self.score(pairs))

    def classify(self, pairs: Iterable[TextPair], advance: Advance | None = None) -> Scores:
        """Return probabilities of the classes, shape (pairs, classes).

        With two classes these are 1 - `probability` and `probability`.
        """
        return self._classify(list(pairs), advance)[1]

    def classify_stream(
        self, pairs: Iterable[TextPair], window: int = WINDOW, advance: Advance | None = None
    ) -> Iterator[tuple[Scores, Scores]]:
        """Yield scores and class probabilities of any number of pairs, `window` at a time."""
        for chunk in _windows(pairs, window):
            yield self._classify(chunk, advance)

    def tokens(self, query: str, document: str) -> tuple[list[Token], list[Token]]:
        """Return the tokens of a pair that the model reads."""
        return self.reader.tokens(query, document)

    def output(self, query: str, document: str) -> MatchOutput:
        """Return the model's complete output for one pair, with evidence."""
        (_, output), *_ = self.outputs([(query, document)])
        return output

    def outputs(self, pairs: Sequence[TextPair]) -> Iterator[BatchOutput]:
        """Yield indices of pairs and complete outputs, batch by batch, longest pairs first."""
        tokens = self.reader.read(pairs)
        _report_cut_pairs(tokens)
        yield from self.inference.outputs(tokens)

    def _classify(
        self, pairs: Sequence[TextPair], advance: Advance | None
    ) -> tuple[Scores, Scores]:
        if self.num_classes == 2:
            scores = self.score(pairs, advance)
            match = (self.calibration or Calibration()).probability(scores)
            return scores, np.stack([1 - match, match], axis=1)
        table = collect(self.outputs(pairs), len(pairs), advance, _score_and_classes)
        table = table.reshape(-1, 1 + self.num_classes)
        return table[:, 0], table[:, 1:]


def _word_embedding(
    texts: list[str], dim: int, vectors: WordVectors | str | Path | None, trainable: bool
) -> tuple[Tokenizer, Encoder]:
    if not texts:
        raise ConfigError("a matcher over word vectors needs texts, whose words it will know")
    tokenizer = WordTokenizer.fit(texts)
    if isinstance(vectors, str | Path):
        vectors = WordVectors.load(Path(vectors))
    return tokenizer, WordEmbedding.from_vocabulary(
        tokenizer.vocabulary, vectors, dim=dim, trainable=trainable
    )


def _report_cut_pairs(pairs: TokenPairs) -> None:
    cut = pairs.num_cut
    report_truncation(int((cut > 0).sum()), int(cut.sum()))


def _windows(pairs: Iterable[TextPair], window: int) -> Iterator[list[TextPair]]:
    iterator = iter(pairs)
    while chunk := list(islice(iterator, window)):
        yield chunk


def _score_and_classes(output: MatchOutput) -> torch.Tensor:
    """The score, then the probability of every class, shape (batch, 1 + classes)."""
    assert output.logits is not None  # models of more than two classes have them
    return torch.cat([output.scores[:, None].double(), output.logits.double().softmax(1)], dim=1)
