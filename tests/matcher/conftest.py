"""Folders of sentence-transformers, whole and spoilt."""

import json
import shutil

import pytest
from sentence_transformers import CrossEncoder
from tiny_sentence_transformers import bi_encoder_folder, cross_encoder_folder


@pytest.fixture(scope="module")
def cross_folder(tmp_path_factory):
    return cross_encoder_folder(tmp_path_factory.mktemp("cross") / "bert")


@pytest.fixture(scope="module")
def saved_cross_folder(cross_folder):
    """The same as the library saves it, with settings of its own."""
    saved = cross_folder.with_name("saved")
    made = CrossEncoder(str(cross_folder), device="cpu")
    made.save_pretrained(str(saved), create_model_card=False)
    return saved


@pytest.fixture(scope="module")
def bi_folder(tmp_path_factory):
    return bi_encoder_folder(tmp_path_factory.mktemp("bi") / "bert")


@pytest.fixture
def spoilt(tmp_path):
    """`spoilt(folder, file, **changes)`: a copy with changes in one of its JSON files."""

    def make(folder, file, **changes):
        copy = shutil.copytree(folder, tmp_path / "spoilt")
        path = copy / file
        table = json.loads(path.read_text()) if path.is_file() else {}
        path.write_text(json.dumps({**table, **changes}))
        return copy

    return make
