"""What IASM says about its score: every matrix, and what every word adds to either distance."""

from typing import Any

import numpy as np
import pytest
import torch
from iasm_setup import EXACT, NAMES, VARIANTS, model, named, pair, reference, score, sides, texts

from matchwork.interact import Evidence, Interaction, WordWeights
from matchwork.models import IASM


def total(evidence: Evidence) -> torch.Tensor:
    assert isinstance(evidence, WordWeights)
    assert (evidence.values[~evidence.mask] == 0).all()
    return evidence.values.sum(dim=1)


@pytest.mark.parametrize("config", VARIANTS)
def test_shares_of_the_words_add_up_to_the_distance(config: dict[str, Any]) -> None:
    output = model(**config).match(*sides(texts()))
    shares = [output.evidence[f"{side}_distance"] for side in ("query", "document")]
    assert all((share.values >= 0).all() for share in shares)
    torch.testing.assert_close(total(shares[0]) + total(shares[1]), -output.scores, **EXACT)


@pytest.mark.parametrize("config", VARIANTS)
def test_a_share_is_the_squared_distance_of_a_word_over_the_whole(config: dict[str, Any]) -> None:
    made = model(**config)
    q, d = texts()[0]
    expected = reference(made, q, d)
    found = made.match(*pair(q, d)).evidence["query_distance"].values[0].detach().numpy()
    unit = normal(q, made), normal(expected.D[-1], made)
    for i in range(len(q)):
        square = np.sum((unit[0][i] - unit[1][i]) ** 2)
        assert found[i] == pytest.approx(made.config.gamma * square / expected.dist_src, abs=1e-10)


def normal(rows: np.ndarray, made: IASM) -> np.ndarray:
    axis = 1 if made.config.norm == "row" else None
    return rows / np.maximum(np.linalg.norm(rows, axis=axis, keepdims=True), 1e-8)


@pytest.mark.parametrize("update", ["static", "dynamic"])
def test_agreements_add_up_to_the_cosine_of_each_channel(update: str) -> None:
    made = model(seed=2, update=update, gamma=0.7, delta=0.4)
    examples = texts()
    evidence = made.match(*sides(examples)).evidence
    query, document = (evidence[f"{side}_agreement"] for side in ("query", "document"))
    for row, (q, d) in enumerate(examples):
        expected = reference(made, q, d)
        cosines = 1 - np.array([expected.dist_src, expected.dist_tgt]) ** 2 / 2
        assert total(query)[row].item() == pytest.approx(0.7 * cosines[0], abs=1e-10)
        assert total(document)[row].item() == pytest.approx(0.4 * cosines[1], abs=1e-10)
    assert (query.values < 0).any()  # a word can speak against the match


def test_agreement_of_unit_rows_is_the_cosine_of_each_word() -> None:
    made = model(norm="row")
    q, d = texts()[0]
    last = reference(made, q, d).Q[-1]
    found = made.match(*pair(q, d)).evidence["document_agreement"].values[0]
    for j in range(len(d)):
        length = max(float(np.linalg.norm(d[j]) * np.linalg.norm(last[j])), 1e-8)
        assert found[j].item() == pytest.approx(0.5 * np.sum(d[j] * last[j]) / length, abs=1e-8)


@pytest.mark.parametrize("depth", [1, 2, 3, 5])
@pytest.mark.parametrize("update", ["static", "dynamic"])
def test_matching_tables_are_query_by_document_in_every_layer(depth: int, update: str) -> None:
    """The first to the last, which one more update makes from Q[L] and D[L]."""
    made = model(num_layers=depth, update=update, even_mode="same_side")
    examples = texts()
    evidence = made.match(*sides(examples)).evidence
    tables = [name for name in evidence if name.startswith("matching_")]
    assert tables == [f"matching_{t}" for t in range(depth + 1)] == list(evidence)[: depth + 1]
    for row, (q, d) in enumerate(examples):
        expected = reference(made, q, d)
        for t, name in enumerate(tables):
            table = evidence[name]
            assert isinstance(table, Interaction)
            upright = expected.A[t].T if t % 2 else expected.A[t]
            found = table.values[row].detach()
            np.testing.assert_allclose(found[: len(q), : len(d)], upright, **EXACT)
            assert not found[len(q) :].any() and not found[:, len(d) :].any()


@pytest.mark.parametrize("name", NAMES)
def test_every_channel_of_the_score_and_no_other_has_word_weights(name: str) -> None:
    made = named(name)
    evidence = made.match(*sides(texts())).evidence
    used = {"query": made.config.gamma, "document": made.config.delta}
    has_channels = made.config.head == "distance"
    expected = {
        f"{side}_{kind}"
        for side, weight in used.items()
        for kind in ("agreement", "distance")
        if weight and has_channels
    }
    assert {key for key, found in evidence.items() if isinstance(found, WordWeights)} == expected


def test_a_text_without_words_has_evidence_that_adds_up() -> None:
    output = model().match(*sides([(np.zeros((0, 5)), texts()[0][1]), texts()[0]]))
    shares = [total(output.evidence[f"{side}_distance"]) for side in ("query", "document")]
    torch.testing.assert_close(shares[0] + shares[1], -output.scores, **EXACT)


class Watched(IASM):
    """Counts how often somebody looked."""

    looks = 0

    def _evidence(self, *arguments: Any) -> dict[str, Evidence]:
        self.looks += 1
        return super()._evidence(*arguments)


def test_scoring_makes_no_evidence_and_looking_makes_it_once() -> None:
    plain = model()
    made = Watched(plain.config, plain.encoder).double()
    output = made.match(*sides(texts()))
    output.scores.sum().backward()
    assert made.looks == 0
    assert "matching_0" in output.evidence and len(output.evidence) == 8
    assert list(output.evidence) and made.looks == 1


def test_evidence_can_be_made_after_inference_mode() -> None:
    made = model()
    q, d = texts()[0]
    with torch.inference_mode():
        output = made.match(*pair(q, d))
    shares = [total(output.evidence[f"{side}_distance"]) for side in ("query", "document")]
    assert (shares[0] + shares[1]).item() == pytest.approx(-score(made, q, d), abs=1e-10)
