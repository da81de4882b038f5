"""TEXT -> TOKENS: tokenizers, vocabulary, corpus statistics and masked batches."""

from matchwork.text.batch import PairBatch, Sequences, TokenTable, batches_by_length
from matchwork.text.statistics import CorpusStatistics
from matchwork.text.subwords import SubwordTokenizer, SubwordTokenizerConfig
from matchwork.text.tokenizer import (
    TOKENIZERS,
    Token,
    Tokenizer,
    WordTokenizer,
    WordTokenizerConfig,
)
from matchwork.text.vocabulary import PAD, UNKNOWN, Vocabulary, WordClass, word_hash

__all__ = [
    "PAD",
    "TOKENIZERS",
    "UNKNOWN",
    "CorpusStatistics",
    "PairBatch",
    "Sequences",
    "SubwordTokenizer",
    "SubwordTokenizerConfig",
    "Token",
    "TokenTable",
    "Tokenizer",
    "Vocabulary",
    "WordClass",
    "WordTokenizer",
    "WordTokenizerConfig",
    "batches_by_length",
    "word_hash",
]
