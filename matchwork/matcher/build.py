"""Untrained matchers: a vocabulary, vectors and a model with random weights."""

from collections.abc import Iterable, Mapping
from pathlib import Path

import torch

from matchwork.encode import Encoder, WordEmbedding, WordVectors, load_transformer
from matchwork.errors import ConfigError
from matchwork.matcher.folder import MatcherParts
from matchwork.models import MODELS
from matchwork.text import Tokenizer, WordTokenizer


def build_parts(
    model: str,
    texts: Iterable[str],
    dim: int,
    vectors: WordVectors | str | Path | None,
    transformer: str | Path | None,
    trainable: bool,
    seed: int,
    settings: Mapping[str, object],
) -> MatcherParts:
    """Make the parts of an untrained matcher; see `Matcher.build` for the arguments."""
    entry = MODELS[model]
    config = entry.config(settings, model)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        tokenizer, encoder = _encoder(texts, dim, vectors, transformer, trainable)
        return MatcherParts(tokenizer, entry.model(config, encoder))


def _encoder(
    texts: Iterable[str],
    dim: int,
    vectors: WordVectors | str | Path | None,
    transformer: str | Path | None,
    trainable: bool,
) -> tuple[Tokenizer, Encoder]:
    if transformer is not None:
        if vectors is not None:
            raise ConfigError("give vectors or a transformer, not both")
        return load_transformer(transformer, trainable=trainable)
    texts = list(texts)
    if not texts:
        raise ConfigError("a matcher over word vectors needs texts, whose words it will know")
    tokenizer = WordTokenizer.fit(texts)
    if isinstance(vectors, str | Path):
        vectors = WordVectors.load(Path(vectors))
    encoder = WordEmbedding.from_vocabulary(
        tokenizer.vocabulary, vectors, dim=dim, trainable=trainable
    )
    return tokenizer, encoder
