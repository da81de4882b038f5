"""Document frequencies of words."""

import numpy as np
import numpy.typing as npt

from matchwork.text.batch import TokenTable


def inverse_document_frequency(table: TokenTable, vocab_size: int) -> npt.NDArray[np.float64]:
    """Return `log((1 + N) / (1 + df)) + 1` for every known word.

    Args:
        table: N texts.
        vocab_size: Number of known words; larger ids are ignored.

    Returns:
        Array, shape (vocab_size,); 1 for a word in every text, largest for unseen words.
    """
    text_of = np.repeat(np.arange(len(table)), table.lengths)
    known = table.flat < vocab_size
    words = np.unique(text_of[known] * vocab_size + table.flat[known]) % vocab_size
    frequency = np.bincount(words, minlength=vocab_size)
    weights: npt.NDArray[np.float64] = np.log((1 + len(table)) / (1 + frequency)) + 1
    return weights
