"""IASM from words: linked words, unknown words and trained vectors against the reference."""

from typing import Any, Literal

import numpy as np
import pytest
import torch
from iasm_reference import Array, cos_matrix
from iasm_setup import CLOSE, EXACT, NAMES, central_difference, reference

from matchwork.encode import Encoded, WordEmbedding
from matchwork.encode.word_embedding import hashed_vectors
from matchwork.errors import ConfigError
from matchwork.models import IASM, MODELS
from matchwork.models.iasm.linked_words import LinkedWords
from matchwork.models.iasm.word_links import WordLinks
from matchwork.text import PairBatch, Sequences, WordTokenizer, word_hash

DIM = 4
KNOWN = "the cat sat on a mat dog ran feline"
PAIRS = [("the cat sat zebra", "a feline ran"), ("dog", "the dog sat on yonder zebra mat")]
# "feline" and "cat" more than their cosine, "sat" and "ran" less, "zebra" outside the vocabulary.
LINKS = [("cat", "feline", 1.0), ("sat", "ran", 0.05), ("dog", "zebra", 0.5), ("a", "the", 0.8)]
Batch = tuple[PairBatch, list[tuple[list[str], list[str]]]]


@pytest.fixture
def tokenizer() -> WordTokenizer:
    return WordTokenizer.fit([KNOWN])


def make(tokenizer: WordTokenizer, name: str = "iasm-dynamic", **config: Any) -> IASM:
    torch.manual_seed(1)
    unknown = config.pop("unknown", "hash")
    encoder = WordEmbedding.from_vocabulary(
        tokenizer.vocabulary, dim=DIM, trainable=True, unknown=unknown
    )
    made = IASM(MODELS[name].config(config), encoder).double()
    with torch.no_grad():
        for parameter in (made.Wq, made.Wd, made.bq, made.bd):
            parameter.mul_(2.0)
    if made.config.links != "none":
        links = WordLinks.from_words(LinkedWords.from_pairs(LINKS), tokenizer)
        made.link_words(links.double())
    return made


def batch_of(tokenizer: WordTokenizer) -> Batch:
    words = [(q.split(), d.split()) for q, d in PAIRS]
    rows = [[[tokenizer.vocabulary.id(word) for word in text] for text in pair] for pair in words]
    return PairBatch(*(Sequences.pad([pair[side] for pair in rows]) for side in (0, 1))), words


def vectors(made: IASM, table: Array, words: list[str], tokenizer: WordTokenizer) -> Array:
    """Rows of the table for known words, the rule for others; written from the specification."""
    rows = []
    for word in words:
        if word in tokenizer.vocabulary:
            rows.append(table[tokenizer.vocabulary.id(word)])
        elif made.encoder.config.unknown == "const":
            rows.append(np.full(DIM, 1e-5))
        else:
            rows.append(hashed_vectors(torch.tensor([word_hash(word)]), DIM)[0].double().numpy())
    return np.array(rows)


def linked(query: list[str], document: list[str]) -> Array:
    table = np.zeros((len(query), len(document)))
    for i, left in enumerate(query):
        for j, right in enumerate(document):
            for first, second, weight in [*LINKS, (left, left, 1.0)]:
                if (left, right) in ((first, second), (second, first)):
                    table[i, j] = np.float32(weight)
    return table


def first_matrix(made: IASM, query: list[str], document: list[str], Q: Array, D: Array) -> Array:
    cosines, links = cos_matrix(Q, D), linked(query, document)
    return {"none": cosines, "replace": links, "max": np.maximum(cosines, links)}[made.config.links]


def total(made: IASM, table: Array, words: Any, tokenizer: WordTokenizer) -> list[float]:
    scores = []
    for query, document in words:
        Q, D = (vectors(made, table, text, tokenizer) for text in (query, document))
        A0 = first_matrix(made, query, document, Q, D)
        scores.append(-reference(made, Q, D, A0=A0).s)
    return scores


def check(made: IASM, tokenizer: WordTokenizer, least: float = 1e-5) -> None:
    """Scores, and the gradient of every vector of the table by central differences."""
    batch, words = batch_of(tokenizer)
    scores = made(batch).scores
    table = made.encoder.table.detach().numpy().copy()
    expected = total(made, table, words, tokenizer)
    np.testing.assert_allclose(scores.detach(), expected, **EXACT)
    scores.sum().backward()
    slopes = central_difference(lambda: sum(total(made, table, words, tokenizer)), table)
    np.testing.assert_allclose(made.encoder.table.grad, slopes, **CLOSE)
    assert np.abs(slopes).max() > least


@pytest.mark.parametrize("name", NAMES)
def test_trained_vectors_get_the_gradient_of_all_their_places(
    name: str, tokenizer: WordTokenizer
) -> None:
    check(make(tokenizer, name), tokenizer)


@pytest.mark.parametrize("links", ["replace", "max"])
@pytest.mark.parametrize("name", NAMES)
def test_linked_words_in_every_registered_name(
    name: str, links: str, tokenizer: WordTokenizer
) -> None:
    check(make(tokenizer, name, links=links), tokenizer)


@pytest.mark.parametrize("num_layers", [1, 5])
@pytest.mark.parametrize("links", ["replace", "max"])
@pytest.mark.parametrize("norm", ["matrix", "row"])
def test_linked_words_at_every_depth(
    num_layers: int, links: str, norm: str, tokenizer: WordTokenizer
) -> None:
    check(make(tokenizer, num_layers=num_layers, links=links, norm=norm), tokenizer)


def first_of(made: IASM, tokenizer: WordTokenizer) -> tuple[torch.Tensor, tuple[Encoded, Encoded]]:
    batch, _ = batch_of(tokenizer)
    query, document = made.encode(batch.query), made.encode(batch.document)
    return made.first_matrix(query, document), (query, document)


def test_in_the_maximum_only_cosines_above_their_link_get_a_gradient(
    tokenizer: WordTokenizer,
) -> None:
    made = make(tokenizer, links="max")
    matrix, (query, document) = first_of(made, tokenizer)
    cosines = torch.nn.functional.cosine_similarity(
        query.vectors[:, :, None], document.vectors[:, None], dim=-1
    )
    _, words = batch_of(tokenizer)
    for row, (left, right) in enumerate(words):
        for i in range(len(left)):
            for j in range(len(right)):
                gradient = torch.autograd.grad(
                    matrix[row, i, j], made.encoder.table, retain_graph=True
                )[0]
                wins = cosines[row, i, j] > linked(left, right)[i, j] + 1e-9
                alive = left[i] in KNOWN.split() or right[j] in KNOWN.split()
                assert bool(gradient.abs().max() > 1e-9) == bool(wins and alive), (
                    left[i],
                    right[j],
                )


def test_links_in_place_of_cosines_leave_them_no_gradient(tokenizer: WordTokenizer) -> None:
    matrix, _ = first_of(make(tokenizer, links="replace"), tokenizer)
    assert not matrix.requires_grad
    assert matrix[0, 1, 1] == 1 and matrix[1, 0, 5] == 0.5  # cat feline; dog zebra
    assert matrix[0].count_nonzero() == 3


def test_an_empty_table_links_each_word_with_itself(tokenizer: WordTokenizer) -> None:
    made = make(tokenizer, links="replace")
    made.link_words(WordLinks().double())
    matrix, _ = first_of(made, tokenizer)
    assert matrix[1].tolist() == [[0, 1, 0, 0, 0, 0, 0]] + [[0] * 7] * 3


@pytest.mark.parametrize("unknown", ["hash", "const"])
@pytest.mark.parametrize("links", ["none", "max"])
def test_unknown_words(
    unknown: Literal["hash", "const"], links: str, tokenizer: WordTokenizer
) -> None:
    made = make(tokenizer, unknown=unknown, links=links)
    check(made, tokenizer)
    matrix, _ = first_of(make(tokenizer, unknown=unknown), tokenizer)
    batch = Sequences.pad([[tokenizer.vocabulary.id(word) for word in ("zebra", "yonder")]])
    both = made.encode(batch)
    between = make(tokenizer, unknown=unknown).first_matrix(both, both)[0]
    apart = 1.0 if unknown == "const" else between[0, 1].item()
    expected = torch.tensor([[1.0, apart], [apart, 1.0]], dtype=torch.float64)
    # |x||y| of two constant vectors of width 4 is 4e-10, below the 1e-8 of the cosine's floor.
    floor = 4e-10 / 1e-8 if unknown == "const" else 1.0
    torch.testing.assert_close(between, expected * floor, rtol=1e-6, atol=1e-9)
    assert abs(apart) < 0.99 or unknown == "const"
    assert torch.isfinite(matrix).all()


def test_links_need_words_and_a_model_that_uses_them(tokenizer: WordTokenizer) -> None:
    with pytest.raises(ConfigError, match="this model uses no links; make it with links = "):
        make(tokenizer).link_words(WordLinks())
    made = make(tokenizer, links="max")
    nameless = Encoded(torch.ones(1, 2, DIM).double(), torch.ones(1, 2, dtype=torch.bool))
    with pytest.raises(ConfigError, match="needs an encoder with one vector per word"):
        made.match(nameless, nameless)
