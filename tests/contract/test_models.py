"""What every registered model promises; a new model is covered by registering it."""

import json
from collections.abc import Callable

import numpy as np
import pytest
import torch
from torch import Tensor

from matchwork.config import to_table
from matchwork.encode import Encoded
from matchwork.interact import Codes, Interaction, WordWeights
from matchwork.matcher import Matcher
from matchwork.models import MODELS, MatchModel, MatchOutput, PairModel
from matchwork.text import PairBatch, Sequences, WordTokenizer

DIM = 8
EXACT = {"rtol": 1e-11, "atol": 1e-11}  # float64, up to the order of summation
QUERY_LENGTHS, DOCUMENT_LENGTHS = (3, 1, 5, 2), (4, 6, 1, 3)

Make = Callable[..., MatchModel]

MATCH_MODELS = [name for name in MODELS if issubclass(MODELS[name].model, MatchModel)]
assert len(MATCH_MODELS) >= 3 and len(MODELS) > len(MATCH_MODELS)  # else the suite is empty
every_model = pytest.mark.parametrize("name", list(MODELS))
every_match_model = pytest.mark.parametrize("name", MATCH_MODELS)


def encoded(lengths: tuple[int, ...], seed: int) -> Encoded:
    generator = torch.Generator().manual_seed(seed)
    shape = (len(lengths), max(lengths), DIM)
    vectors = torch.randn(shape, generator=generator, dtype=torch.float64)
    mask = torch.arange(shape[1]) < torch.tensor(lengths)[:, None]
    return Encoded(vectors, mask)


def two_sides() -> tuple[Encoded, Encoded]:
    return encoded(QUERY_LENGTHS, seed=1), encoded(DOCUMENT_LENGTHS, seed=2)


def token_batch(tokenizer: WordTokenizer, pairs: list[tuple[str, str]]) -> PairBatch:
    sides = [tokenizer.encode(list(texts)) for texts in zip(*pairs, strict=True)]
    query, document = (side.gather(np.arange(len(pairs))) for side in sides)
    return PairBatch(query, document)


def all_pairs(model: MatchModel, batch: PairBatch) -> Tensor:
    """Scores of every query with every document."""
    if isinstance(model, MatchModel):
        return model.match_all(model.encode(batch.query), model.encode(batch.document))
    rows = torch.arange(len(batch))
    query, document = rows.repeat_interleave(len(rows)), rows.repeat(len(rows))
    crossed = PairBatch(
        Sequences(batch.query.ids[query], batch.query.mask[query]),
        Sequences(batch.document.ids[document], batch.document.mask[document]),
    )
    return model(crossed).scores.view(len(rows), len(rows))


def choose(side: Encoded, rows: list[int] | Tensor) -> Encoded:
    return Encoded(side.vectors[rows], side.mask[rows])


def trained(model: MatchModel) -> dict[str, Tensor]:
    """What matching trains, by its name: all but the parts that have a stage of their own."""
    staged = {p for stage in model.stages() for p in stage.module.parameters()}
    return {name: p for name, p in model.named_parameters() if p not in staged}


def learnt_from(output: MatchOutput) -> Tensor:
    """A number that every part of the model has a say in, penalties included."""
    scores = output.scores
    total = (scores * torch.arange(1.0, len(scores) + 1)).sum()
    return total if output.penalty is None else total + output.penalty.sum()


@every_model
@pytest.mark.parametrize("garbage_id", [1, 3, 10**12, -100])
def test_padding_ids_change_nothing(
    name: str, tiny_model: Make, tokenizer: WordTokenizer, pairs: list, garbage_id: int
) -> None:
    model = tiny_model(name).double()
    batch = token_batch(tokenizer, pairs)

    def widen(side: Sequences) -> Sequences:
        extra = torch.full((len(side), 3), garbage_id)
        ids = torch.cat([side.ids.masked_fill(~side.mask, garbage_id), extra], dim=1)
        return Sequences(ids, torch.cat([side.mask, extra != garbage_id], dim=1))

    wider = PairBatch(widen(batch.query), widen(batch.document))
    torch.testing.assert_close(model(wider).scores, model(batch).scores, **EXACT)


@every_match_model
@pytest.mark.parametrize("garbage", [7.0, -1e30, float("inf"), float("nan")])
def test_padding_vectors_change_nothing(name: str, tiny_model: Make, garbage: float) -> None:
    model = tiny_model(name).double()
    query, document = two_sides()

    def widen(side: Encoded, columns: int) -> Encoded:
        extra = side.vectors.new_full((len(side), columns, DIM), garbage)
        vectors = side.vectors.masked_fill(~side.mask.unsqueeze(-1), garbage)
        mask = torch.cat([side.mask, side.mask.new_zeros(len(side), columns)], dim=1)
        return Encoded(torch.cat([vectors, extra], dim=1), mask)

    expected = model.match(query, document).scores
    for columns in ((2, 0), (0, 3), (9, 1)):
        wider = model.match(widen(query, columns[0]), widen(document, columns[1])).scores
        torch.testing.assert_close(wider, expected, **EXACT)


@every_match_model
def test_batch_order_and_batch_mates_change_nothing(name: str, tiny_model: Make) -> None:
    model = tiny_model(name).double()
    query, document = two_sides()
    scores = model.match(query, document).scores
    assert len(set(scores.tolist())) == len(scores)  # otherwise order could not show
    turned = [2, 0, 3, 1]
    permuted = model.match(choose(query, turned), choose(document, turned)).scores
    torch.testing.assert_close(permuted, scores[turned], **EXACT)
    for row in range(len(scores)):
        q, d = choose(query, [row]), choose(document, [row])
        width_q, width_d = int(q.mask.sum()), int(d.mask.sum())
        alone = model.match(
            Encoded(q.vectors[:, :width_q], q.mask[:, :width_q]),
            Encoded(d.vectors[:, :width_d], d.mask[:, :width_d]),
        )
        torch.testing.assert_close(alone.scores, scores[[row]], **EXACT)


@every_model
def test_every_parameter_gets_a_gradient(
    name: str, tiny_model: Make, tokenizer: WordTokenizer, pairs: list
) -> None:
    model = tiny_model(name).double().train()
    learnt_from(model(token_batch(tokenizer, pairs))).backward()
    own = trained(model)
    assert all(p.grad is None for label, p in model.named_parameters() if label not in own)
    for label, parameter in own.items():
        assert parameter.grad is not None, f"{label} is not part of the score"
        assert torch.isfinite(parameter.grad).all(), label
        if not label.endswith("key.bias"):  # softmax does not see it
            assert parameter.grad.abs().max() > 0, f"{label} gets no gradient"


@every_match_model
def test_padded_inputs_get_exactly_no_gradient(name: str, tiny_model: Make) -> None:
    model = tiny_model(name).double().train()
    leaves = []
    sides = []
    for side in two_sides():
        leaf = side.vectors.masked_fill(~side.mask.unsqueeze(-1), 3.0).requires_grad_()
        leaves.append((leaf, side.mask))
        sides.append(Encoded(leaf, side.mask))
    learnt_from(model.match(*sides)).backward()
    for leaf, mask in leaves:
        assert leaf.grad is not None
        assert (leaf.grad[~mask] == 0).all()
        assert leaf.grad[mask].abs().max() > 0


@every_model
def test_overfits_a_handful_of_pairs(
    name: str, tiny_model: Make, tokenizer: WordTokenizer, pairs: list
) -> None:
    """Answers are dealt out wrongly on purpose: no likeness of words can help."""
    model = tiny_model(name, dim=16).train()
    for part in model.modules():
        if isinstance(part, torch.nn.Dropout):
            part.p = 0.0  # it is there to make learning by heart hard
    batch = token_batch(tokenizer, pairs)
    wanted = torch.roll(torch.arange(len(pairs)), 1)

    def solved(margin: float) -> bool:
        with torch.no_grad():
            table = all_pairs(model, batch)
        best = table[torch.arange(len(pairs)), wanted]
        others = table.masked_fill(torch.nn.functional.one_hot(wanted).bool(), -torch.inf)
        return bool((best > others.amax(dim=1) + margin).all())

    assert not solved(0.0)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.02)
    for _ in range(300):
        table = all_pairs(model, batch)
        best = table[torch.arange(len(pairs)), wanted][:, None]
        hinge = (0.2 - best + table).clamp_min(0.0)
        loss = hinge.masked_fill(torch.nn.functional.one_hot(wanted).bool(), 0.0).sum()
        if loss.item() == 0:
            break
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    assert solved(0.1)


@every_model
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_save_and_load_is_equal_to_the_last_bit(
    name: str, tiny_matcher: Callable[..., Matcher], pairs: list, tmp_path, dtype: torch.dtype
) -> None:
    matcher = tiny_matcher(name)
    matcher.model.to(dtype)
    matcher.save(tmp_path / "matcher")
    again = Matcher.load(tmp_path / "matcher", device="cpu")
    assert again.name == matcher.name == name
    assert again.model.config == matcher.model.config
    state, restored = matcher.model.state_dict(), again.model.state_dict()
    assert state.keys() == restored.keys()
    for key, tensor in state.items():
        assert restored[key].dtype == dtype
        assert torch.equal(tensor, restored[key]), key
    assert np.array_equal(again.score(pairs), matcher.score(pairs))
    assert {k for k, p in again.model.named_parameters() if p.requires_grad} == {
        k for k, p in matcher.model.named_parameters() if p.requires_grad
    }


@every_model
def test_config_survives_json(name: str) -> None:
    config = MODELS[name].config({})
    table = json.loads(json.dumps(to_table(config)))
    assert MODELS[name].config(table) == config


@every_model
def test_same_seed_same_weights_and_scores(
    name: str, tiny_matcher: Callable[..., Matcher], pairs: list
) -> None:
    first, second = tiny_matcher(name, seed=5), tiny_matcher(name, seed=5)
    state = second.model.state_dict()
    assert all(torch.equal(value, state[key]) for key, value in first.model.state_dict().items())
    assert np.array_equal(first.score(pairs), second.score(pairs))
    assert np.array_equal(first.score(pairs), first.score(pairs))


@every_match_model
def test_evidence_has_the_shape_of_the_texts(name: str, tiny_model: Make) -> None:
    query, document = two_sides()
    evidence = tiny_model(name).double().match(query, document).evidence
    assert evidence, "a model shows at least one table"
    widths = {"query": max(QUERY_LENGTHS), "document": max(DOCUMENT_LENGTHS)}
    cells = query.mask[:, :, None] & document.mask[:, None, :]
    for label, table in evidence.items():
        if isinstance(table, Interaction):
            assert table.values.shape == (len(query), widths["query"], widths["document"]), label
            assert torch.equal(table.mask, cells), label
        elif isinstance(table, Codes):
            side = query if table.side == "query" else document
            assert torch.equal(table.mask, side.mask), label
            assert table.before.shape == table.after.shape
            assert torch.isfinite(table.before).all() and torch.isfinite(table.after).all()
        else:
            assert isinstance(table, WordWeights)
            assert table.values.shape == (len(query), widths[table.side]), label
            side = query if table.side == "query" else document
            assert torch.equal(table.mask, side.mask), label
        assert (table.values[~table.mask] == 0).all(), label
        assert torch.isfinite(table.values).all(), label


@every_model
@pytest.mark.parametrize("lengths", [(0, 3), (3, 0), (0, 0)])
def test_empty_texts_have_a_finite_score(
    name: str, tiny_model: Make, lengths: tuple[int, int]
) -> None:
    model = tiny_model(name).double().train()
    sides = []
    for length in lengths:
        ids = torch.tensor([[2, 3, 4], [5, 2, 3]])
        mask = torch.tensor([[True] * 3, [True] * length + [False] * (3 - length)])
        sides.append(Sequences(ids, mask))
    output = model(PairBatch(*sides))
    assert torch.isfinite(output.scores).all()
    learnt_from(output).backward()
    for label, parameter in trained(model).items():
        assert parameter.grad is not None and torch.isfinite(parameter.grad).all(), label


@every_model
def test_empty_texts_through_the_matcher(
    name: str, tiny_matcher: Callable[..., Matcher], pairs: list
) -> None:
    matcher = tiny_matcher(name)
    mixed = [("", ""), pairs[0], ("", "words"), ("words", " \t\n"), pairs[1]]
    scores = matcher.score(mixed)
    assert np.isfinite(scores).all()
    expected = matcher.score([pairs[0], pairs[1]])
    np.testing.assert_allclose(scores[[1, 4]], expected, rtol=1e-5, atol=1e-6)


@every_model
def test_precision_follows_the_weights(
    name: str, tiny_model: Make, tokenizer: WordTokenizer, pairs: list
) -> None:
    batch = token_batch(tokenizer, pairs)
    single, double = tiny_model(name)(batch).scores, tiny_model(name).double()(batch).scores
    assert (single.dtype, double.dtype) == (torch.float32, torch.float64)
    torch.testing.assert_close(single.double(), double, rtol=1e-4, atol=1e-4)


@every_model
@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_mixed_precision_stays_close_and_finite(
    name: str, tiny_model: Make, tokenizer: WordTokenizer, pairs: list, dtype: torch.dtype
) -> None:
    model = tiny_model(name)
    batch = token_batch(tokenizer, [*pairs, ("", pairs[0][1])])
    with torch.autocast("cpu", dtype=dtype):
        scores = model(batch).scores
        with torch.no_grad():
            alone = model.scores(batch)
    # In 16 bits nearly equal scores would become ties, which count against a ranking.
    assert (scores.dtype, alone.dtype) == (torch.float32, torch.float32)
    torch.testing.assert_close(scores, model(batch).scores, rtol=0.05, atol=0.05)
    scores.sum().backward()
    assert all(p.grad is None or torch.isfinite(p.grad).all() for p in model.parameters())


@every_match_model
def test_forward_is_encode_then_match(
    name: str, tiny_model: Make, tokenizer: WordTokenizer, pairs: list
) -> None:
    model = tiny_model(name).double()
    batch = token_batch(tokenizer, pairs)
    apart = model.match(model.encode(batch.query), model.encode(batch.document))
    output = model(batch)
    assert output.scores.shape == (len(pairs),)
    assert torch.equal(output.scores, apart.scores)
    assert output.evidence.keys() == apart.evidence.keys()


@every_match_model
def test_match_all_is_every_pair(name: str, tiny_model: Make) -> None:
    model = tiny_model(name).double()
    query, document = encoded((3, 1, 5), seed=3), encoded((4, 6), seed=4)
    table = model.match_all(query, document)
    assert table.shape == (3, 2)
    for i in range(3):
        for j in range(2):
            one = model.match(choose(query, [i]), choose(document, [j])).scores
            torch.testing.assert_close(table[i, j], one[0], **EXACT)


@every_model
def test_a_model_has_one_of_two_bases(name: str) -> None:
    model = MODELS[name].model
    assert issubclass(model, MatchModel) != issubclass(model, PairModel)


@every_model
def test_training_defaults_are_plain_values(name: str) -> None:
    json.dumps(dict(MODELS[name].model.training_defaults))
