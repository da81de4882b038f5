"""How much a matcher reads at once, as sentence-transformers counts it: special pieces included."""

from dataclasses import replace
from typing import NamedTuple

from matchwork.encode import TransformerEncoder
from matchwork.encode.transformer import num_positions
from matchwork.errors import ConfigError
from matchwork.rank import Matcher
from matchwork.text import WordPieceTokenizer


class Limits(NamedTuple):
    """Most tokens of texts that are read apart; whether a model may be given more room."""

    query: int | None
    document: int | None
    may_grow: bool


def limit(matcher: Matcher) -> int | None:
    """Most pieces, special ones included, that are read at once; None: any number."""
    room = matcher.max_document_length if matcher.model.encodes_apart else matcher.pair_room
    most = None if room is None else room + num_special(matcher)
    return min(filter(None, (most, _most_positions(matcher))), default=None)


def set_limit(matcher: Matcher, max_length: int, most: Limits) -> None:
    """Of a pair that is read as one, both texts together; else each of them.

    The limit of a model that this class has opened may be raised, as far as it has positions.
    """
    room = max_length - num_special(matcher)
    if room < 1:
        raise ConfigError(
            f"max_length = {max_length} leaves no room for text: {max_length - room} pieces are "
            "special ones"
        )
    encoder = matcher.model.encoder
    if matcher.model.encodes_apart:
        if most.may_grow:
            _read_further(matcher, max_length)
        matcher.max_query_length = min(room, most.query or room)
        matcher.max_document_length = min(room, most.document or room)
    elif most.may_grow:
        encoder.config = replace(encoder.config, max_positions=max_length)
    else:
        matcher.max_pair_length = room


def num_special(matcher: Matcher) -> int:
    """Pieces such as [CLS] that stand around, and between, texts that are read at once."""
    tokenizer = matcher.tokenizer
    if not isinstance(tokenizer, WordPieceTokenizer):
        return 0
    apart = matcher.model.encodes_apart
    frame = tokenizer.frame if apart else tokenizer.pair_frame[:3]
    return sum(map(len, frame))


def _read_further(matcher: Matcher, max_length: int) -> None:
    """Texts that are read apart are cut by the tokenizer."""
    tokenizer, encoder = matcher.tokenizer, matcher.model.encoder
    if isinstance(tokenizer, WordPieceTokenizer) and isinstance(encoder, TransformerEncoder):
        most = num_positions(encoder.transformer) or max_length
        matcher.tokenizer = tokenizer.with_positions(min(max_length, most))


def _most_positions(matcher: Matcher) -> int | None:
    tokenizer = matcher.tokenizer
    return tokenizer.config.max_positions if isinstance(tokenizer, WordPieceTokenizer) else None
