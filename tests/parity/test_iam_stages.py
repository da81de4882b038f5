"""IAM's stages by themselves: what they learn from, their losses, what they leave behind."""

from itertools import chain, pairwise
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch
from iam_reference import energy as energy_of
from iam_reference import language_model_loss, read
from iam_setup import DIM, EXACT, WORDS, model, weights_of

from matchwork.errors import ConfigError
from matchwork.models.iam.energy import neighbours
from matchwork.models.iam.stages import EnergyConfig, LanguageModelConfig
from matchwork.models.stage import Stage
from matchwork.text import TokenTable

ROWS = [[2, 3, 4, 3], [5], [], [3, 4, 5, 6, 2], [2, 2, 6]]


def corpus(rows: Any = ROWS) -> Any:
    return SimpleNamespace(
        queries=TokenTable.from_rows(rows), documents=TokenTable.from_rows(rows[::-1])
    )


def stages(made: Any = None, **config: Any) -> dict[str, Any]:
    return {stage.name: stage for stage in (made or model(**config)).stages()}


def train(stage: Stage, texts: Any, epochs: int, rate: float) -> list[float]:
    """As the runner does it."""
    torch.manual_seed(0)
    stage.prepare(texts, seed=0)
    stage.module.requires_grad_(True)
    optimizer = torch.optim.Adam(stage.module.parameters(), lr=rate)
    losses = [stage.measure(texts)["loss"]]
    for epoch in range(epochs):
        for batch in stage.batches(texts, epoch, seed=0):
            optimizer.zero_grad()
            stage.loss(batch).backward()
            optimizer.step()
            stage.after_step()
        losses.append(stage.measure(texts)["loss"])
    stage.finish(texts)
    stage.module.requires_grad_(False)
    return losses


@pytest.mark.parametrize("side", ["query", "document"])
def test_the_language_model_against_its_equations(side: str) -> None:
    made = model()
    stage, texts = stages(made)[f"language-model-{side}"], corpus()
    stage.config = LanguageModelConfig(min_count=3)
    stage.prepare(texts, seed=0)
    assert stage.module.words.tolist() == [2, 3]  # 4, 5 and 6 stand there twice
    weights = weights_of(made) | weights_of(stage.module)
    table, total, number = made.encoder.table.numpy(), 0.0, 0
    for row in ROWS:
        classes = [{2: 0, 3: 1}.get(word, 2) for word in row] + [3]
        one = language_model_loss(table[row], classes, weights, f"{side}_reader")
        total, number = total + one[0], number + one[1]
    measured = stage.measure(texts)
    np.testing.assert_allclose(measured["loss"], total / number, **EXACT)
    np.testing.assert_allclose(measured["perplexity"], np.exp(total / number), **EXACT)
    whole = next(iter(stage.batches(texts, epoch=0, seed=1)))  # five texts: one batch
    np.testing.assert_allclose(stage.loss(whole).item(), total / number, **EXACT)


def test_the_energy_against_its_equations() -> None:
    made = model()
    stage, texts = stages(made)["energy"], corpus()
    weights, table = weights_of(made), made.encoder.table.numpy()
    energies = []
    for row in ROWS:
        states = read(table[row].reshape(-1, DIM), weights, "document_reader")
        energies += [energy_of(x, y, weights, "box") for x, y in pairwise(states)]
    assert len(energies) == sum(map(len, ROWS))
    np.testing.assert_allclose(stage.measure(texts)["energy"], np.mean(energies), **EXACT)
    stage.finish(texts)
    np.testing.assert_allclose(made.energy.reference, np.mean(energies), **EXACT)


@pytest.mark.parametrize("side", ["query", "document"])
def test_a_language_model_learns_what_follows_what(side: str) -> None:
    texts = corpus([[2, 3, 4, 5, 6], [3, 4, 5, 6, 2], [4, 5, 6, 2, 3]] * 4)
    made = model(units=16)
    losses = train(stages(made)[f"language-model-{side}"], texts, epochs=60, rate=0.03)
    assert losses[-1] < 0.45 < 1.6 < losses[0]  # only the first word of a text is anybody's guess


@pytest.mark.parametrize("support", ["box", "gauss", "binary"])
def test_the_energy_stage_makes_neighbours_probable(support: str) -> None:
    random = np.random.default_rng(0)
    rows = [random.integers(2, WORDS, 6).tolist() for _ in range(60)]
    made, texts = model(support=support), corpus(rows)
    stage = stages(made)["energy"]
    before = stage.measure(texts)
    losses = train(stage, texts, epochs=8, rate=0.03)
    assert losses[-1] < losses[0] - 0.05
    assert made.energy.reference != pytest.approx(before["energy"])


def test_scaled_jumps_are_measured_in_deviations() -> None:
    made, texts = model(scale_jumps=True), corpus()
    stages(made)["energy"].finish(texts)
    whole = texts.documents.gather(np.arange(len(texts.documents)))
    states = made.document_reader(made.encode(whole))
    pairs = neighbours(states)
    energies = made.energy(*pairs)
    assert made.energy.spread.item() == pytest.approx(energies.std(correction=0).item())
    jumps = made.energy.jumps(states)[:, :-1][states.mask[:, 1:]]
    expected = ((energies.mean() - energies) / energies.std(correction=0)).exp()
    torch.testing.assert_close(jumps, expected)


def test_energies_are_never_halved_in_precision() -> None:
    stage = stages(model().float())["energy"]
    batch = TokenTable.from_rows(ROWS).gather(np.arange(4))
    losses = []
    for half in (False, True):
        torch.manual_seed(0)
        with torch.autocast("cpu", torch.bfloat16, enabled=half):
            losses.append(stage.loss(batch))
    assert losses[0].dtype == losses[1].dtype and torch.equal(*losses)


def test_stages_train_their_own_parts_and_share_them_with_the_model() -> None:
    made = model(units=3)
    found, texts = stages(made), corpus()
    before = {name: value.clone() for name, value in made.state_dict().items()}
    for name, part in (
        ("language-model-query", "query_reader."),
        ("language-model-document", "document_reader."),
        ("energy", "energy."),
    ):
        train(found[name], texts, epochs=1, rate=0.1)
        state = made.state_dict()
        changed = {key for key, value in state.items() if not torch.equal(value, before[key])}
        assert changed and all(key.startswith(part) for key in changed)
        assert {key for key in state if key.startswith(part)} == changed
        before = {key: value.clone() for key, value in state.items()}


def test_batches_follow_from_seed_and_epoch() -> None:
    texts = corpus([[2] * n for n in range(1, 40)])
    for name, stage in stages().items():
        stage.config = type(stage.config)(batch_size=4)

        def drawn(epoch: int, seed: int, stage: Stage = stage) -> list[list[int]]:
            return [batch.lengths.tolist() for batch in stage.batches(texts, epoch, seed)]

        assert drawn(0, 1) == drawn(0, 1)
        assert drawn(0, 1) != drawn(1, 1) and drawn(0, 1) != drawn(0, 2)
        assert sorted(chain(*drawn(0, 1))) == list(range(1, 40)), name
        assert len(stage.batches(texts, 0, 1)) == len(drawn(0, 1))


def test_energy_batches_have_about_as_many_pairs_as_asked() -> None:
    stage, texts = stages()["energy"], corpus([[2] * 10] * 64)
    stage.config = EnergyConfig(batch_size=80)
    sizes = [int(batch.mask.sum()) for batch in stage.batches(texts, 0, 0)]
    assert sizes == [80] * 8


def test_texts_without_words_teach_nothing() -> None:
    texts = corpus([[], []])
    for stage in stages().values():
        stage.prepare(texts, seed=0)
        stage.module.requires_grad_(True)
        loss = stage.loss(next(iter(stage.batches(texts, 0, 0))))
        loss.backward()
        assert loss.item() == 0 and stage.measure(texts)["loss"] == 0


@pytest.mark.parametrize(
    ("config", "settings", "message"),
    [
        (LanguageModelConfig, {"min_count": 0}, "min_count must be at least 1, got 0"),
        (EnergyConfig, {"steps": 0}, "steps must be at least 1, got 0"),
        (EnergyConfig, {"batch_size": 0}, "batch_size must be at least 1, got 0"),
    ],
)
def test_settings_that_make_no_stage(config: Any, settings: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        config(**settings)
