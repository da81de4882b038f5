"""A cross-encoder as sentence-transformers saves it, opened by that library and by ours."""

import pytest
from tiny_sentence_transformers import cross_encoder_folder

from matchwork.integrations.sentence_transformers import CrossEncoder


@pytest.fixture(scope="module")
def library():
    return pytest.importorskip("sentence_transformers")


@pytest.fixture(scope="module")
def folder(library, tmp_path_factory):
    """Activation and all."""
    plain = cross_encoder_folder(tmp_path_factory.mktemp("models") / "plain")
    saved = plain.with_name("saved")
    made = library.CrossEncoder(str(plain), device="cpu")
    made.save_pretrained(str(saved), create_model_card=False)
    return saved


@pytest.fixture(scope="module")
def ours(folder):
    return CrossEncoder(str(folder), device="cpu")


@pytest.fixture(scope="module")
def theirs(library, folder):
    return library.CrossEncoder(str(folder), device="cpu")
