"""How much a matcher reads at once, as sentence-transformers counts it: special pieces included."""

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from matchwork.encode import TransformerEncoder
from matchwork.encode.transformer import num_positions, smallest
from matchwork.errors import ConfigError
from matchwork.matcher import Matcher
from matchwork.models import bi_encoded
from matchwork.text import SubwordTokenizer


class Limits(NamedTuple):
    """Most tokens of texts that are read apart, and of two read as one; whether a model may be
    given more room.
    """

    query: int | None
    document: int | None
    pair: int | None
    may_grow: bool


def limit(matcher: Matcher) -> int | None:
    """Most pieces, special ones included, that are read at once; None: any number."""
    room = (
        matcher.max_document_length if bi_encoded(matcher.model) else matcher.reader.max_pair_tokens
    )
    most = None if room is None else room + num_special(matcher)
    return smallest(most, _most_positions(matcher))


def set_limit(matcher: Matcher, max_length: int | None, most: Limits) -> None:
    """Of a pair that is read as one, both texts together; else each of them. None: all there is.

    The limit of a model that this class has opened may be raised, as far as it has positions.
    """
    room = None if max_length is None else _room(matcher, max_length)
    encoder = matcher.model.encoder
    if bi_encoded(matcher.model):
        if most.may_grow:
            _read_further(matcher, max_length)
        matcher.max_query_length = smallest(room, most.query)
        matcher.max_document_length = smallest(room, most.document)
    elif most.may_grow:
        encoder.config = replace(encoder.config, max_positions=max_length)
    else:
        matcher.max_pair_length = smallest(room, most.pair)


def _room(matcher: Matcher, max_length: int) -> int:
    if not isinstance(max_length, int | np.integer):
        raise ConfigError(f"max_length must be a number of pieces, got {max_length!r}")
    special = num_special(matcher)
    if max_length <= special:
        raise ConfigError(
            f"max_length = {max_length} leaves no room for text: {special} pieces are special ones"
        )
    return int(max_length) - special


def num_special(matcher: Matcher) -> int:
    """Pieces such as [CLS] that stand around, and between, texts that are read at once."""
    tokenizer = matcher.tokenizer
    if not isinstance(tokenizer, SubwordTokenizer):
        return 0
    apart = bi_encoded(matcher.model)
    special_ids = tokenizer.special_ids if apart else tokenizer.pair_special_ids[:3]
    return sum(map(len, special_ids))


def _read_further(matcher: Matcher, max_length: int | None) -> None:
    """Texts that are read apart are cut by the tokenizer."""
    tokenizer, encoder = matcher.tokenizer, matcher.model.encoder
    if isinstance(tokenizer, SubwordTokenizer) and isinstance(encoder, TransformerEncoder):
        most = smallest(max_length, num_positions(encoder.transformer))
        matcher.tokenizer = tokenizer.with_positions(most)


def _most_positions(matcher: Matcher) -> int | None:
    tokenizer = matcher.tokenizer
    return tokenizer.config.max_positions if isinstance(tokenizer, SubwordTokenizer) else None
