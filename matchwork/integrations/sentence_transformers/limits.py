"""`max_length` as sentence-transformers counts it: subword tokens, special tokens included."""

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
    """Length limits in tokens, without special ones, that a matcher had when it was given.

    `may_grow` says whether they may be raised, up to the positions of the network.
    """

    query: int | None
    document: int | None
    pair: int | None
    may_grow: bool


def get_max_length(matcher: Matcher) -> int | None:
    """Return the most tokens that are read at once: of a pair, or of one text; None: any number."""
    room = (
        matcher.max_document_length if bi_encoded(matcher.model) else matcher.reader.max_pair_tokens
    )
    limit = None if room is None else room + num_special_tokens(matcher)
    return smallest(limit, _max_positions(matcher))


def set_max_length(matcher: Matcher, max_length: int | None, given: Limits) -> None:
    """Limit the tokens that are read at once: of a pair for cross-encoders, else of each text.

    `max_length` counts special tokens, too; None: as many as the limits `given` allow.
    """
    room = None if max_length is None else _room(matcher, max_length)
    encoder = matcher.model.encoder
    if bi_encoded(matcher.model):
        if given.may_grow:
            _set_tokenizer_limit(matcher, max_length)
        matcher.max_query_length = smallest(room, given.query)
        matcher.max_document_length = smallest(room, given.document)
    elif given.may_grow:
        encoder.config = replace(encoder.config, max_positions=max_length)
    else:
        matcher.max_pair_length = smallest(room, given.pair)


def _room(matcher: Matcher, max_length: int) -> int:
    if not isinstance(max_length, int | np.integer):
        raise ConfigError(f"max_length must be a number of tokens, got {max_length!r}")
    special = num_special_tokens(matcher)
    if max_length <= special:
        raise ConfigError(
            f"max_length = {max_length} leaves no room for text: {special} tokens are special"
        )
    return int(max_length) - special


def num_special_tokens(matcher: Matcher) -> int:
    """Return the number of tokens such as [CLS] around and between texts read at once."""
    tokenizer = matcher.tokenizer
    if not isinstance(tokenizer, SubwordTokenizer):
        return 0
    if bi_encoded(matcher.model):
        return sum(map(len, tokenizer.special_ids))
    return sum(map(len, tokenizer.pair_special_ids[:3]))


def _set_tokenizer_limit(matcher: Matcher, max_length: int | None) -> None:
    tokenizer, encoder = matcher.tokenizer, matcher.model.encoder
    if isinstance(tokenizer, SubwordTokenizer) and isinstance(encoder, TransformerEncoder):
        limit = smallest(max_length, num_positions(encoder.transformer))
        matcher.tokenizer = tokenizer.with_positions(limit)


def _max_positions(matcher: Matcher) -> int | None:
    tokenizer = matcher.tokenizer
    return tokenizer.config.max_positions if isinstance(tokenizer, SubwordTokenizer) else None
