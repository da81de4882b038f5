"""Links between words as a table over a batch, and how that table is kept."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from safetensors.torch import load_file, save_file

from matchwork.data import toy
from matchwork.encode import Encoded, WordEmbedding
from matchwork.errors import ConfigError
from matchwork.matcher import Matcher
from matchwork.models import IASM, IASMConfig
from matchwork.models.iasm.linked_words import LinkedWords
from matchwork.models.iasm.word_links import WordLinks
from matchwork.text import WordTokenizer, WordTokenizerConfig
from matchwork.train import TrainConfig, TrainingSet
from matchwork.train.fitting import fit
from matchwork.train.module import trained_tensors
from matchwork.train.run import TrainingRun

TOKENIZER = WordTokenizer.fit(["a b c d e f"])
WEIGHTS = {("a", "b"): 1.0, ("b", "c"): 0.5, ("a", "x"): 0.25, ("x", "y"): 0.75, ("d", "d"): 0.5}
PAIRS = [(left, right, weight) for (left, right), weight in WEIGHTS.items()]  # x, y are unknown
LINKS = WordLinks.from_words(LinkedWords.from_pairs(PAIRS), TOKENIZER)


def side(*texts: str) -> Encoded:
    table = TOKENIZER.encode(texts)
    return WordEmbedding.from_vocabulary(TOKENIZER.vocabulary, dim=4)(
        table.gather(np.arange(len(table)))
    )


def expected(query: list[str], document: list[str]) -> list[list[float]]:
    def weight(left: str, right: str) -> float:
        linked = WEIGHTS.get((left, right), WEIGHTS.get((right, left), 0.0))
        return 1.0 if left == right else linked

    return [[weight(left, right) for right in document] for left in query]


def linked_model(mode: str = "max") -> IASM:
    torch.manual_seed(0)
    encoder = WordEmbedding.from_vocabulary(TOKENIZER.vocabulary, dim=4)
    model = IASM(IASMConfig(links=mode), encoder)
    model.link_words(WordLinks.from_words(LinkedWords.from_pairs(PAIRS), TOKENIZER))
    return model


def test_links_count_in_both_directions_and_for_unknown_words() -> None:
    table = LINKS(side("a b x z"), side("b a y z x c"))
    assert table[0].tolist() == expected(list("abxz"), list("bayzxc"))
    assert table[0, 2].tolist() == [0, 0.25, 0.75, 0, 1, 0]  # of x
    assert len(LINKS) == 2 * 4 + 1


words = st.lists(st.sampled_from("abcdxyz"), max_size=6)


@given(st.lists(st.tuples(words, words), min_size=1, max_size=4))
def test_every_cell_and_no_padding(pairs: list[tuple[list[str], list[str]]]) -> None:
    query, document = (side(*(" ".join(pair[i]) for pair in pairs)) for i in (0, 1))
    garbage = [
        Encoded(
            each.vectors, each.mask, each.ids.masked_fill(~each.mask, TOKENIZER.vocabulary.id("a"))
        )
        for each in (query, document)
    ]
    for table in (LINKS(query, document), LINKS(*garbage)):
        for row, (left, right) in enumerate(pairs):
            inside = table[row, : len(left), : len(right)].reshape(len(left), len(right))
            assert inside.tolist() == expected(left, right)
            assert table[row].sum() == inside.sum()


def test_an_empty_table_knows_equal_words() -> None:
    nothing = WordLinks.from_words(LinkedWords.from_pairs([]), TOKENIZER)
    for links in (nothing, WordLinks()):
        assert links(side("a b"), side("b z"))[0].tolist() == [[0, 0], [1, 0]]


def test_vectors_without_words_cannot_be_linked() -> None:
    bare = Encoded(torch.ones(1, 2, 3), torch.ones(1, 2, dtype=torch.bool))
    with pytest.raises(ConfigError, match="needs an encoder with one vector per word"):
        LINKS(bare, side("a b"))


def test_stems_cannot_be_linked() -> None:
    stems = WordTokenizer.fit(["a"], config=WordTokenizerConfig(stem="english"))
    with pytest.raises(ConfigError, match="need whole words, but the tokenizer stems"):
        WordLinks.from_words(LinkedWords.from_pairs(PAIRS), stems)


@pytest.mark.parametrize("assign", [False, True])
@pytest.mark.parametrize("pairs", [PAIRS, []])
def test_a_saved_table_fits_into_an_empty_one(tmp_path: Path, assign: bool, pairs: list) -> None:
    links = WordLinks.from_words(LinkedWords.from_pairs(pairs), TOKENIZER)
    save_file(links.state_dict(), tmp_path / "links.safetensors")
    for state in (links.state_dict(), load_file(tmp_path / "links.safetensors")):
        for again in (WordLinks(), WordLinks.from_words(LinkedWords.from_pairs(PAIRS), TOKENIZER)):
            again.load_state_dict(state, strict=True, assign=assign)
            for name, buffer in links.named_buffers():
                assert torch.equal(getattr(again, name), buffer), name
                assert getattr(again, name).dtype == buffer.dtype


def test_a_table_with_a_part_missing_is_refused() -> None:
    state = LINKS.state_dict()
    del state["weights"]
    with pytest.raises(RuntimeError, match="weights"):
        WordLinks().load_state_dict(state, strict=True)


@pytest.mark.parametrize("mode", ["max", "replace"])
def test_links_change_the_first_matrix(mode: str) -> None:
    query, document = side("a e"), side("b e f")
    model = linked_model(mode)
    first = model.match(query, document).evidence["matching_0"].values[0]
    plain = IASM(IASMConfig(), model.encoder)
    cosines = plain.match(query, document).evidence["matching_0"].values[0]
    links = LINKS(query, document)[0]
    torch.testing.assert_close(first, links if mode == "replace" else torch.maximum(cosines, links))
    assert first[0, 0] == 1.0 > cosines[0, 0]


def test_a_saved_matcher_needs_no_wordnet(tmp_path: Path) -> None:
    matcher = Matcher(TOKENIZER, linked_model())
    pairs = [("a e", "b f"), ("x", "y d"), ("c", "f")]
    matcher.save(tmp_path / "matcher")
    opened = Matcher.load(tmp_path / "matcher", device="cpu")
    assert (opened.score(pairs) == matcher.score(pairs)).all()
    code = (
        "import sys; sys.modules['nltk'] = None\n"
        "from matchwork import Matcher\n"
        f"print(Matcher.load({str(tmp_path / 'matcher')!r}).score({pairs!r}).tolist())"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    np.testing.assert_allclose(eval(done.stdout), matcher.score(pairs), rtol=1e-6)


def test_checkpoints_skip_the_table(tmp_path: Path) -> None:
    model = linked_model()
    frozen = {"encoder.table", "links.words", "links.pairs", "links.weights"}
    assert model.frozen_names() == frozen
    assert trained_tensors(model).keys() == model.state_dict().keys() - frozen

    samples = TrainingSet.from_split(toy()["train"], TOKENIZER)
    settings = {"loss": "hinge", "negatives": "random", "accelerator": "cpu"}
    fit(TrainingRun(model, samples, TrainConfig(**settings, max_epochs=1), tmp_path / "cut"))
    further = TrainConfig(**settings, max_epochs=2)
    straight, resumed = linked_model(), linked_model()
    fit(TrainingRun(straight, samples, further, tmp_path / "straight"))
    fit(TrainingRun(resumed, samples, further, tmp_path / "cut", resume=True))
    for name, tensor in straight.state_dict().items():
        assert torch.equal(resumed.state_dict()[name], tensor), name
