"""TEXT -> TOKENS: tokenizers, vocabulary, idf and masked batches."""

from matchwork.text.batch import PairBatch as PairBatch
from matchwork.text.batch import Sequences as Sequences
from matchwork.text.batch import TokenTable as TokenTable
from matchwork.text.batch import batches_by_length as batches_by_length
from matchwork.text.batch import inverse_document_frequency as inverse_document_frequency
from matchwork.text.subwords import SubwordTokenizer as SubwordTokenizer
from matchwork.text.subwords import SubwordTokenizerConfig as SubwordTokenizerConfig
from matchwork.text.tokenizer import TOKENIZERS as TOKENIZERS
from matchwork.text.tokenizer import Token as Token
from matchwork.text.tokenizer import Tokenizer as Tokenizer
from matchwork.text.tokenizer import WordTokenizer as WordTokenizer
from matchwork.text.tokenizer import WordTokenizerConfig as WordTokenizerConfig
from matchwork.text.vocabulary import PAD as PAD
from matchwork.text.vocabulary import UNKNOWN as UNKNOWN
from matchwork.text.vocabulary import Vocabulary as Vocabulary
from matchwork.text.vocabulary import WordClass as WordClass
from matchwork.text.vocabulary import word_hash as word_hash
