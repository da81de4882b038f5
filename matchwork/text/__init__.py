"""TEXT -> TOKENS: tokenizers, vocabulary, idf and masked batches."""

from matchwork.text.batch import (
    PairBatch,
    Sequences,
    TokenTable,
    batches_by_length,
    inverse_document_frequency,
)
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
    "inverse_document_frequency",
    "word_hash",
]
