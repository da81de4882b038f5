"""TOKENS -> VECTORS: encoders, static word vectors and pre-trained transformers."""

from matchwork.encode.base import ENCODERS, Encoded, EncodedPair, Encoder
from matchwork.encode.corpus_vectors import learn_vectors
from matchwork.encode.pretrained import load_transformer
from matchwork.encode.transformer import TransformerConfig, TransformerEncoder
from matchwork.encode.word_embedding import WordEmbedding, WordEmbeddingConfig
from matchwork.encode.word_vectors import WordVectors

__all__ = [
    "ENCODERS",
    "Encoded",
    "EncodedPair",
    "Encoder",
    "TransformerConfig",
    "TransformerEncoder",
    "WordEmbedding",
    "WordEmbeddingConfig",
    "WordVectors",
    "learn_vectors",
    "load_transformer",
]
