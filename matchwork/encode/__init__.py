"""TOKENS -> VECTORS: encoders, static word vectors and pre-trained transformers."""

from matchwork.encode.base import ENCODERS as ENCODERS
from matchwork.encode.base import Encoded as Encoded
from matchwork.encode.base import EncodedPair as EncodedPair
from matchwork.encode.base import Encoder as Encoder
from matchwork.encode.corpus_vectors import learn_vectors as learn_vectors
from matchwork.encode.pretrained import load_transformer as load_transformer
from matchwork.encode.transformer import TransformerConfig as TransformerConfig
from matchwork.encode.transformer import TransformerEncoder as TransformerEncoder
from matchwork.encode.word_embedding import WordEmbedding as WordEmbedding
from matchwork.encode.word_embedding import WordEmbeddingConfig as WordEmbeddingConfig
from matchwork.encode.word_vectors import WordVectors as WordVectors
