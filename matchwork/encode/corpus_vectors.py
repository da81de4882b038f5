"""Word vectors of a corpus: positive PMI, factorised by SVD (Levy and Goldberg, NeurIPS 2014)."""

import numpy as np
import numpy.typing as npt
import scipy  # linear algebra loads on first use
from scipy import sparse

from matchwork.text import TokenTable


def learn_vectors(
    table: TokenTable,
    vocab_size: int,
    *,
    dim: int = 100,
    window: int = 5,
    shift: float = 1.0,
    smoothing: float = 0.75,
    seed: int = 0,
) -> npt.NDArray[np.float32]:
    """Learn a vector of unit length per word; words that never occur get zeros.

    `window` is the greatest distance of neighbours, `shift` the number of negative samples that the
    factorisation imitates; a `smoothing` exponent below 1 damps frequent contexts.
    """
    counts = _cooccurrences(table, vocab_size, window)
    vectors = np.zeros((vocab_size, dim), dtype=np.float32)
    if counts.sum() == 0:
        return vectors
    word = np.asarray(counts.sum(axis=1)).ravel()
    context = word**smoothing
    context /= context.sum()
    rows, columns = counts.nonzero()
    information = np.log(counts.data * 1.0 / (word[rows] * context[columns])) - np.log(shift)
    positive = information > 0
    if not positive.any():
        return vectors
    matrix = sparse.csr_matrix(
        (information[positive].astype(np.float32), (rows[positive], columns[positive])),
        shape=counts.shape,
    )
    rank = min(dim, vocab_size - 1)
    start = np.random.default_rng(seed).standard_normal(vocab_size).astype(np.float32)
    left, values, _ = scipy.sparse.linalg.svds(matrix, k=rank, v0=start, solver="arpack", tol=1e-3)
    vectors[:, :rank] = left[:, ::-1] * np.sqrt(values[::-1])
    vectors[np.diff(matrix.indptr) == 0] = 0.0  # rounding noise, which scaling would blow up
    norms = np.linalg.norm(vectors, axis=1, keepdims=True)
    return np.asarray(vectors / np.maximum(norms, 1e-8), dtype=np.float32)


def _cooccurrences(table: TokenTable, vocab_size: int, window: int) -> sparse.csr_matrix:
    text_of = np.repeat(np.arange(len(table)), table.lengths)
    known = table.flat < vocab_size
    counts = sparse.csr_matrix((vocab_size, vocab_size), dtype=np.float32)
    for distance in range(1, window + 1):
        left, right = table.flat[:-distance], table.flat[distance:]
        same = text_of[:-distance] == text_of[distance:]
        valid = same & known[:-distance] & known[distance:]
        weight = np.full(int(valid.sum()), 1.0 / distance, dtype=np.float32)
        pairs = sparse.coo_matrix((weight, (left[valid], right[valid])), shape=counts.shape)
        counts = counts + pairs.tocsr()
    return (counts + counts.T).tocsr()
