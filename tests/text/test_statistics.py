"""Document frequencies by counting."""

from math import log

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from matchwork.text import TokenTable, inverse_document_frequency

VOCABULARY = 7
corpora = st.lists(st.lists(st.sampled_from([0, 2, 3, 6, 7, 2**60]), max_size=7), max_size=6)


@given(corpus=corpora)
def test_inverse_document_frequency(corpus: list[list[int]]) -> None:
    found = inverse_document_frequency(TokenTable.from_rows(corpus), VOCABULARY)
    frequency = [sum(word in text for text in corpus) for word in range(VOCABULARY)]
    expected = [log((1 + len(corpus)) / (1 + count)) + 1 for count in frequency]
    np.testing.assert_allclose(found, expected, rtol=1e-15)
