"""How much the drop-in reads at once, as in the library."""

import numpy as np
import pytest
from tiny_sentence_transformers import PAIRS, bi_encoder_folder

from matchwork.encode import load_transformer
from matchwork.integrations.sentence_transformers import CrossEncoder
from matchwork.matcher import Matcher
from matchwork.models import ADDAX, AddaxConfig

sentence_transformers = pytest.importorskip("sentence_transformers")
EQUAL = {"rtol": 0, "atol": 1e-5}


@pytest.mark.parametrize("max_length", [12, 25, 50, 60])
def test_another_limit(folder, max_length):
    """Lower than the folder's 40, or higher, up to the 60 positions of the network."""
    ours = CrossEncoder(str(folder), max_length=max_length, device="cpu")
    theirs = sentence_transformers.CrossEncoder(str(folder), max_length=max_length, device="cpu")
    np.testing.assert_allclose(ours.predict(PAIRS), theirs.predict(PAIRS), **EQUAL)
    assert ours.matcher.reader.read(PAIRS).truncation.tokens > 0 and ours.max_length == max_length


def test_a_limit_set_later(folder, tmp_path):
    ours, theirs = CrossEncoder(folder), sentence_transformers.CrossEncoder(str(folder))
    assert ours.max_seq_length == theirs.max_seq_length == 40
    for length in (10, 30):
        ours.max_seq_length = theirs.max_seq_length = length
        np.testing.assert_allclose(ours.predict(PAIRS), theirs.predict(PAIRS), **EQUAL)
    apart = CrossEncoder(bi_encoder_folder(tmp_path / "bi"))
    whole = apart.predict(PAIRS)
    apart.max_length = 6
    assert not np.allclose(apart.predict(PAIRS), whole)
    apart.max_length = 40
    np.testing.assert_allclose(apart.predict(PAIRS), whole, **EQUAL)


def test_the_limit_of_the_folder_and_a_higher_one(tmp_path):
    """Texts that are read apart: 40 pieces by the folder, 60 by the network."""
    folder = bi_encoder_folder(tmp_path / "bi")
    theirs = sentence_transformers.SentenceTransformer(str(folder), device="cpu")
    ours = CrossEncoder(folder)
    assert ours.max_length == ours.max_seq_length == theirs.max_seq_length < 60
    long = [(" ".join(PAIRS[0]) * 20, " ".join(PAIRS[1]) * 20)]
    for limit in (None, 55):
        if limit:
            ours.max_length = theirs.max_seq_length = limit
        vectors = [theirs.encode(list(texts)) for texts in zip(*long, strict=True)]
        np.testing.assert_allclose(
            ours.predict(long), theirs.similarity_pairwise(*vectors), **EQUAL
        )
        assert ours.max_length == theirs.max_seq_length
    for no_limit in (10**6, None):
        ours.max_length = no_limit
        assert ours.max_length == 60


def test_the_limit_of_texts_that_are_read_apart(tmp_path):
    """It counts special pieces, too, as the library's does."""
    folder = bi_encoder_folder(tmp_path / "bi")
    theirs = sentence_transformers.SentenceTransformer(str(folder), device="cpu")
    theirs.max_seq_length = 12
    vectors = [theirs.encode(list(texts)) for texts in zip(*PAIRS, strict=True)]
    expected = theirs.similarity_pairwise(*vectors)
    ours = CrossEncoder(folder, max_length=12)
    np.testing.assert_allclose(ours.predict(PAIRS), expected, **EQUAL)
    assert ours.max_length == 12


def test_a_limit_of_positions_is_not_raised(bert_folder):
    tokenizer, encoder = load_transformer(bert_folder)
    matcher = Matcher(tokenizer, ADDAX(AddaxConfig(query_length=3, document_length=4), encoder))
    raised = CrossEncoder(matcher, max_length=30)
    np.testing.assert_allclose(raised.predict(PAIRS), matcher.score(PAIRS), **EQUAL)
