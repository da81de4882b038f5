"""The tokenizers of transformers, behind our protocol."""

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from typing import Any, ClassVar, Literal, NamedTuple, get_args

import numpy as np
import numpy.typing as npt
import tokenizers

from matchwork.config import build, to_table
from matchwork.errors import ConfigError, DataError
from matchwork.text.batch import Ids, TokenTable
from matchwork.text.raw import chunks, readable, spans_of
from matchwork.text.tokenizer import TOKENIZERS, Token

Flags = npt.NDArray[np.bool_]
Unit = Literal["piece", "word"]
Frame = Literal["around", "before", "token"]


class PairFrame(NamedTuple):
    """The special ids around two texts that are read as one, and the type of the second's."""

    before: tuple[int, ...]
    between: tuple[int, ...]
    after: tuple[int, ...]
    second_type: int


@dataclass(frozen=True, kw_only=True)
class WordPieceTokenizerConfig:
    """What counts as a token, and how long a text the transformer can read.

    `unit`: every "piece" by itself, or the pieces of a "word" together. `max_positions`: the
    most pieces of a text, special ones included; None: any number. `frame`: the special pieces
    stand "around" a text ([CLS] and [SEP]) or only "before" it, unseen by the matcher; or the
    first one is a "token" of the text and there are no others.
    """

    unit: Unit = "piece"
    max_positions: int | None = None
    frame: Frame = "around"

    def __post_init__(self) -> None:
        for name, known in (("unit", get_args(Unit)), ("frame", get_args(Frame))):
            if getattr(self, name) not in known:
                choices = ", ".join(f'"{choice}"' for choice in known)
                raise ConfigError(f"{name} must be one of {choices}, got {getattr(self, name)!r}")


@TOKENIZERS.register("word-piece")
class WordPieceTokenizer:
    """Pieces as ids, whatever makes them: WordPiece, byte-level BPE or a unigram model.

    Where words are the unit, a piece that continues a word has its id plus `vocab_size`: the
    encoder sees from the ids alone which vectors to average. Length limits then count words,
    what they cut off is counted in pieces. [CLS] and the like are not among the tokens unless
    `frame` of the config says so: the encoder puts what is in `frame` around every text.
    """

    kind: ClassVar[str] = "word-piece"

    def __init__(
        self, pieces: tokenizers.Tokenizer, config: WordPieceTokenizerConfig | None = None
    ) -> None:
        self.config = config or WordPieceTokenizerConfig()
        if self.config.unit == "word" and pieces.pre_tokenizer is None:
            raise ConfigError('this tokenizer does not split text into words; use unit = "piece"')
        self._pieces = tokenizers.Tokenizer.from_str(pieces.to_str())
        self._pieces.no_truncation()
        self._pieces.no_padding()
        self._pieces.encode_special_tokens = True  # "[SEP]" written in a text is just text
        self._vocab_size = max(self._pieces.get_vocab(with_added_tokens=True).values()) + 1
        self.frame, self._first = self._find_frame()
        self._max_pieces = self._room_for_text()

    @classmethod
    def read(
        cls, path: str | Path, config: WordPieceTokenizerConfig | None = None
    ) -> "WordPieceTokenizer":
        """From the `tokenizer.json` of a transformer's folder."""
        try:
            content = Path(path).read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise DataError(f"cannot read the tokenizer: {error}", path=path) from error
        return cls(_parse(content, path), config)

    def with_positions(self, max_positions: int | None) -> "WordPieceTokenizer":
        """The same, reading so much of a text."""
        return WordPieceTokenizer(self._pieces, replace(self.config, max_positions=max_positions))

    @property
    def vocab_size(self) -> int:
        """Ids below this number are pieces, at the beginning of a word where words are the unit."""
        return self._vocab_size

    def encode(self, texts: Sequence[str], max_length: int | None = None) -> TokenTable:
        """Token ids of every text."""
        rows: list[Ids] = []
        num_cut: list[int] = []
        for chunk in chunks(texts):
            for encoding in self._pieces.encode_batch(chunk, add_special_tokens=False):
                ids = np.array([*self._first, *encoding.ids], dtype=np.int64)
                continues = self._continues(encoding)
                kept = self._num_kept(continues, max_length)
                rows.append((ids + self._vocab_size * continues)[:kept])
                num_cut.append(max(0, len(ids) - kept))
        table = TokenTable.from_rows(rows)
        return TokenTable(table.flat, table.starts, np.array(num_cut, dtype=np.int64))

    def tokens(self, text: str, max_length: int | None = None) -> list[Token]:
        """The tokens behind the ids of one text, in the same order: pieces, or whole words."""
        encoding = self._pieces.encode(readable(text), add_special_tokens=False)
        continues = self._continues(encoding)
        kept = self._num_kept(continues, max_length)
        first = [Token(str(self._pieces.id_to_token(piece)), 0, 0) for piece in self._first]
        spans = [(0, 0)] * len(first) + spans_of(text, encoding.offsets)
        bounds = np.append(np.flatnonzero(~continues[:kept]), kept).tolist()
        tokens = [_token(text, spans[i][0], spans[j - 1][1]) for i, j in pairwise(bounds)]
        return (first + tokens[len(first) :])[: len(tokens)]

    def to_json(self) -> dict[str, Any]:
        """Everything needed to make an equal tokenizer."""
        return {
            "kind": self.kind,
            "config": to_table(self.config),
            "pieces": json.loads(self._pieces.to_str()),
        }

    @classmethod
    def from_json(cls, table: dict[str, Any]) -> "WordPieceTokenizer":
        """The inverse of `to_json`."""
        config = build(WordPieceTokenizerConfig, table["config"], "tokenizer config")
        return cls(_parse(json.dumps(table["pieces"])), config)

    def __reduce__(self) -> tuple[Any, ...]:
        return WordPieceTokenizer.from_json, (self.to_json(),)  # the compiled parts do not pickle

    def _find_frame(self) -> tuple[tuple[tuple[int, ...], tuple[int, ...]], tuple[int, ...]]:
        """The special ids to put before and after a text, and those that are tokens of it."""
        encoding = self._pieces.encode("a")
        special = encoding.special_tokens_mask
        first = special.index(0) if 0 in special else len(special)
        last = first + special.count(0)
        before, after = tuple(encoding.ids[:first]), tuple(encoding.ids[last:])
        if self.config.frame == "around":
            return (before, after), ()
        if not before:
            raise ConfigError(
                f'frame = "{self.config.frame}" needs a special piece such as [CLS] before a '
                'text, which this tokenizer does not have; use frame = "around"'
            )
        return ((before, ()), ()) if self.config.frame == "before" else (((), ()), before)

    @cached_property
    def pair_frame(self) -> PairFrame:
        """What the transformer expects around, and between, two texts: `[CLS] a [SEP] b [SEP]`.

        That is what BERT reads, and so is what a tokenizer without a rule for pairs is given.
        """
        encoding = self._pieces.encode("a", "a")
        ids, side = encoding.ids, encoding.sequence_ids
        first, second = ([i for i, s in enumerate(side) if s == wanted] for wanted in (0, 1))
        if not first or not second or (len(first) + len(second) == len(ids) and self.frame[1]):
            return PairFrame(self.frame[0], self.frame[1], self.frame[1], 1)
        return PairFrame(
            tuple(ids[: first[0]]),
            tuple(ids[first[-1] + 1 : second[0]]),
            tuple(ids[second[-1] + 1 :]),
            encoding.type_ids[second[0]],
        )

    def _room_for_text(self) -> int | None:
        limit, special = self.config.max_positions, sum(map(len, self.frame))
        if limit is not None and limit <= special:
            raise ConfigError(
                f"max_positions must be more than the {special} special pieces, got {limit}"
            )
        return None if limit is None else limit - special

    def _continues(self, encoding: tokenizers.Encoding) -> Flags:
        """Which pieces belong to the same word as the piece before."""
        first = len(self._first)
        continues = np.zeros(first + len(encoding.ids), dtype=np.bool_)
        if self.config.unit == "word":
            words = np.array(encoding.word_ids, dtype=np.int64)
            continues[first + 1 :] = words[1:] == words[:-1]
        return continues

    def _num_kept(self, continues: Flags, max_length: int | None) -> int:
        """How many pieces the limits leave."""
        kept = len(continues)
        if max_length is not None:
            starts = np.flatnonzero(~continues)
            kept = int(starts[max_length]) if max_length < len(starts) else kept
        return kept if self._max_pieces is None else min(kept, self._max_pieces)


def _parse(content: str, path: str | Path | None = None) -> tokenizers.Tokenizer:
    try:
        return tokenizers.Tokenizer.from_str(content)
    except Exception as error:  # the compiled library raises nothing more specific
        raise DataError(f"not a tokenizer of the tokenizers library: {error}", path=path) from error


def _token(text: str, start: int, end: int) -> Token:
    """Without the space that some tokenizers count to the piece that follows it."""
    word = text[start:end]
    start += len(word) - len(word.lstrip()) if word.strip() else 0
    return Token(text[start:end], start, end)
