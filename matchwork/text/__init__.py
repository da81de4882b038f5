"""TEXT -> TOKENS: tokenizers, vocabulary, corpus statistics and masked batches."""

from matchwork.text.batch import PairBatch, Sequences, TokenTable, batches_by_length
from matchwork.text.statistics import CorpusStatistics
from matchwork.text.tokenizer import Token, Tokenizer, WordTokenizer, WordTokenizerConfig
from matchwork.text.vocabulary import PAD, UNKNOWN, Vocabulary, WordClass, word_hash
from matchwork.text.word_pieces import WordPieceTokenizer, WordPieceTokenizerConfig

__all__ = [
    "PAD",
    "UNKNOWN",
    "CorpusStatistics",
    "PairBatch",
    "Sequences",
    "Token",
    "TokenTable",
    "Tokenizer",
    "Vocabulary",
    "WordClass",
    "WordPieceTokenizer",
    "WordPieceTokenizerConfig",
    "WordTokenizer",
    "WordTokenizerConfig",
    "batches_by_length",
    "word_hash",
]
