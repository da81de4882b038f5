"""The matcher of the demo: K-NRM over stemmed words and bigrams, with vectors it learns itself.

Settings were chosen on the dev queries. All texts come from the documents, which a search
engine has anyway, and from the training queries; test queries are never read here.
"""

import torch
from torch import Tensor

from matchwork.data import Split
from matchwork.encode import WordEmbedding, WordEmbeddingConfig, learn_vectors
from matchwork.matcher import Matcher
from matchwork.models import KNRM, KNRMConfig
from matchwork.text import WordTokenizer, WordTokenizerConfig, inverse_document_frequency
from matchwork.train import TrainConfig

DIM = 64
MAX_DOCUMENT_LENGTH = 200
MODEL = KNRMConfig(num_kernels=6, gate="length")
TRAINING = TrainConfig(
    loss="softmax",
    negatives="hard",
    num_negatives=4,
    hard_depth=100,
    batch_size=64,
    learning_rate=0.01,
    max_epochs=2,
)


def untrained_matcher(train: Split, seed: int) -> Matcher:
    """Return a matcher with tokenizer and vectors learnt from the texts, and a random model."""
    texts = [*train.documents.values(), *train.queries.values()]
    words = WordTokenizer.fit(texts, config=WordTokenizerConfig(stem="english"))
    tokenizer = WordTokenizer.fit(
        texts,
        config=WordTokenizerConfig(stem="english", bigrams=True),
        min_bigram_count=3,
    )
    documents = tokenizer.encode(list(train.documents.values()))
    table = _vectors(words, tokenizer, texts)
    # The length of a vector is the word's weight in the gate: rare words count for more.
    idf = inverse_document_frequency(documents, tokenizer.vocab_size) - 1
    table *= torch.from_numpy(idf).float().unsqueeze(-1)
    torch.manual_seed(seed)
    config = WordEmbeddingConfig(vocab_size=tokenizer.vocab_size, dim=DIM, trainable=True)
    return Matcher(
        tokenizer,
        KNRM(MODEL, WordEmbedding(config, table)),
        name="K-NRM",
        max_document_length=MAX_DOCUMENT_LENGTH,
    )


def _vectors(words: WordTokenizer, tokenizer: WordTokenizer, texts: list[str]) -> Tensor:
    """Return unit vectors: learnt for words, random for bigrams, which so match only exactly."""
    table = WordEmbedding.from_vocabulary(tokenizer.vocabulary, dim=DIM).table
    table = torch.nn.functional.normalize(table)
    learnt = torch.from_numpy(learn_vectors(words.encode(texts), words.vocab_size, dim=DIM))
    rows = torch.tensor([tokenizer.vocabulary.id(word) for word in words.vocabulary.words])
    found = learnt.norm(dim=1) > 0
    table[rows[found]] = learnt[found]
    return table
