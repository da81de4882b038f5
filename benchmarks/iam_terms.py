"""The tf-idf terms of IAM's attention for a vocabulary of a given size, once with all gradients.

`python -m benchmarks.iam_terms NUM_WORDS`: a process of its own, so that its peak can be told.
"""

import sys

import torch

from matchwork.encode import Encoded
from matchwork.models.iam.interactive_attention import InteractiveAttention
from matchwork.models.iam.tf_idf import TfIdf, WordBag

BATCH, LENGTH, DIM = 50, 30, 100


def main(num_words: int) -> None:
    """Terms of a batch, and the gradient of every weight in them."""
    torch.manual_seed(0)
    attention = InteractiveAttention(2, torch.randn(num_words, DIM))
    tf_idf = TfIdf(num_words)
    attention.terms(_bag(tf_idf, num_words), _bag(tf_idf, num_words)).sum().backward()  # type: ignore[no-untyped-call]


def _bag(tf_idf: TfIdf, num_words: int) -> WordBag:
    mask = torch.ones(BATCH, LENGTH, dtype=torch.bool)
    text = Encoded(torch.zeros(BATCH, LENGTH, 1), mask, torch.randint(num_words, (BATCH, LENGTH)))
    bag = tf_idf(text)
    assert bag is not None  # the words are known
    return bag


if __name__ == "__main__":
    main(int(sys.argv[1]))
