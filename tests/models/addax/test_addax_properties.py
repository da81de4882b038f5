"""What must hold of ADDAX whatever its weights."""

import numpy as np
import pytest
import torch
from addax_setup import DIM, DOCUMENT_LENGTH, NAMES, QUERY_LENGTH, model, texts
from hypothesis import given
from hypothesis import strategies as st
from ragged import sides

from matchwork.encode import Encoded, WordEmbedding, WordEmbeddingConfig
from matchwork.interact import attend, masked_softmax, max_sim
from matchwork.models import ADDAX, MODELS
from matchwork.models.addax.mag_cell import MagCell

SEEDS = st.integers(0, 10**6)
EXACT = {"rtol": 1e-11, "atol": 1e-11}


def some(*shape: int, seed: int = 0) -> torch.Tensor:
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(shape, generator=generator, dtype=torch.float64)


def whole(*shape: int) -> torch.Tensor:
    return torch.ones(shape, dtype=torch.bool)


def cell(highway: bool = True, length: int = 6) -> MagCell:
    made = MagCell(DIM, length, highway=highway, dropout=0.0, gate_bias=0.0).double().eval()
    generator = torch.Generator().manual_seed(3)
    with torch.no_grad():
        for parameter in made.parameters():
            parameter.uniform_(-1, 1, generator=generator)
    return made


@given(seed=SEEDS)
def test_codes_are_signs_and_tanh_stays_between_them(seed: int) -> None:
    hashed = model(seed=seed).denoiser(some(2, 3, DIM, seed=seed), whole(2, 3))
    assert set(hashed.hard.unique().tolist()) <= {-1.0, 1.0}
    assert (hashed.soft.abs() <= 1).all() and (hashed.soft * hashed.hard >= 0).all()


def test_zero_counts_as_positive() -> None:
    made = model().denoiser
    with torch.no_grad():
        made.encoder[2].weight.zero_()
        made.encoder[2].bias.zero_()
    hashed = made(some(1, 2, DIM), whole(1, 2))
    assert (hashed.hard == 1).all() and (hashed.soft == 0).all()


@given(seed=SEEDS)
@torch.no_grad()
def test_soft_codes_and_scores_become_hard_as_alpha_grows(seed: int) -> None:
    made = model(seed=1)
    query, document = sides(texts(seed))
    signal = made.denoiser.encode(made.trace(query, document).document_vectors)[document.mask]
    hard_scores = made.match(query, document).scores
    made.train()
    errors, distances = [], []
    for alpha in (1.0, 10.0, 100.0, 1e5 / float(signal.abs().min())):
        made.denoiser.alpha = alpha
        trace = made.trace(query, document)
        assert trace.hashed is not None
        errors.append(float(trace.hashed.code_error.sum()))
        distances.append(float((trace.best.scores - hard_scores).abs().max()))
    assert errors == sorted(errors, reverse=True) and errors[-1] < 1e-12
    assert distances[-1] < 1e-9


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("training", [False, True])
def test_padding_up_to_the_limits_and_beyond_changes_nothing(name: str, training: bool) -> None:
    made, pairs = model(name).train(training), texts()
    expected = made.match(*sides(pairs, (0, 0)))
    for extra in ((1, 1), (QUERY_LENGTH - 4, DOCUMENT_LENGTH - 6), (9, 9)):
        padded = made.match(*sides(pairs, extra))
        torch.testing.assert_close(padded.scores, expected.scores, **EXACT)
        if expected.penalty is not None:
            torch.testing.assert_close(padded.penalty, expected.penalty, **EXACT)


@pytest.mark.parametrize("name", NAMES)
def test_padded_tokens_get_no_gradient_from_scores_and_penalties(name: str) -> None:
    made = model(name).train()
    leaves, inputs = [], []
    for side in sides(texts(), (2, 2)):
        leaf = side.vectors.masked_fill(~side.mask.unsqueeze(-1), 4.0).requires_grad_()
        leaves.append((leaf, side.mask))
        inputs.append(Encoded(leaf, side.mask))
    output = made.match(*inputs)
    total = output.scores.sum() + (0.0 if output.penalty is None else output.penalty.sum())
    total.backward()
    for leaf, mask in leaves:
        assert leaf.grad is not None
        assert (leaf.grad[~mask] == 0).all() and (leaf.grad[mask] != 0).any(dim=-1).all()


def test_attention_is_a_mean_over_real_tokens() -> None:
    mask = whole(1, 3, 4)
    mask[..., 3] = False
    weights = masked_softmax(some(1, 3, 4) * 50, mask)
    torch.testing.assert_close(weights.sum(-1), torch.ones(1, 3).double())
    assert (weights[..., 3] == 0).all()
    only = some(1, 1, DIM, seed=1)
    seen = attend(only, some(1, 3, 1), whole(1, 3, 1))
    torch.testing.assert_close(seen, only.expand(1, 3, DIM))


def test_gates_without_weights_are_half_open() -> None:
    made, own, other = cell(), some(1, 3, DIM), some(1, 5, DIM, seed=1)
    scores, mask = own @ other.mT, whole(1, 3, 5)
    with torch.no_grad():
        for name in ("weight", "bias", "token_weight", "token_bias"):
            getattr(made, name).zero_()
        made.gate.weight.zero_()
        made.gate.bias.fill_(-1e4)  # carry everything past the transform
        made.output.bias.zero_()
        joined = torch.cat([attend(other, scores, mask), own - attend(other, scores, mask)], -1) / 4
        for half in (slice(0, DIM), slice(DIM, 2 * DIM)):
            made.output.weight.zero_()
            made.output.weight[:, half] = torch.eye(DIM)
            found = made(own, other, scores, mask)
            torch.testing.assert_close(found.vectors, joined[..., half], **EXACT)
    assert (found.element_gate == 0.5).all() and (found.token_gate == 0.5).all()


def test_a_copy_of_the_document_finds_itself() -> None:
    document = 60 * torch.nn.functional.normalize(some(1, 4, DIM), dim=-1)
    seen = attend(document, document @ document.mT, whole(1, 4, 4))
    torch.testing.assert_close(seen, document, rtol=1e-6, atol=1e-6)


@given(seed=SEEDS)
def test_scores_are_bounded_by_the_number_of_query_tokens(seed: int) -> None:
    for name in NAMES:
        made = model(name, seed=seed)
        query, document = sides(texts(seed))
        for training in (False, True):
            scores = made.train(training).match(query, document).scores
            assert (scores.abs() <= query.mask.sum(1) + 1e-9).all()


@given(seed=SEEDS, place=st.integers(0, 4))
def test_saying_something_twice_changes_no_answer(seed: int, place: int) -> None:
    query, document = some(2, 3, 6, seed=seed), some(2, 5, 6, seed=seed + 1)
    once = max_sim(query, document, whole(2, 3), whole(2, 5))
    longer = torch.cat([document, document[:, [place]]], dim=1)
    twice = max_sim(query, longer, whole(2, 3), whole(2, 6))
    torch.testing.assert_close(twice.scores, once.scores)


def test_worked_example_of_max_sim() -> None:
    query, codes = torch.tensor([[[1.0, 0.0]]]), torch.tensor([[[1.0, 1.0], [-1.0, 1.0]]])
    found = max_sim(query, codes, whole(1, 1), whole(1, 2))
    torch.testing.assert_close(found.table, torch.tensor([[[0.5**0.5, -(0.5**0.5)]]]))
    assert found.scores.item() == pytest.approx(0.70710678) and found.positions.tolist() == [[0]]


@given(seed=SEEDS, factor=st.floats(0.01, 100))
def test_what_scaling_leaves_alone(seed: int, factor: float) -> None:
    made = model(seed=2, query_activation="linear")
    query, document = sides(texts(seed))
    expected = made.match(query, document).scores
    with torch.no_grad():
        made.denoiser.encoder[2].weight.mul_(factor)
        made.denoiser.encoder[2].bias.mul_(factor)
        made.query_projection.weight.mul_(factor)
        made.query_projection.bias.mul_(factor)
    torch.testing.assert_close(made.match(query, document).scores, expected, **EXACT)


def test_penalties_are_never_negative_and_can_be_switched_off() -> None:
    query, document = sides(texts())
    for delta, gamma in ((0.1, 0.0), (0.0, 0.1)):
        penalty = model(delta=delta, gamma=gamma).match(query, document).penalty
        assert penalty is not None and (penalty > 0).all()
    nothing = model(delta=0.0, gamma=0.0).match(query, document).penalty
    assert nothing is not None and (nothing == 0).all()


def test_the_decoder_has_the_weights_of_the_encoder() -> None:
    tied, untied = model().denoiser, model(tied=False).denoiser
    codes = some(1, 2, 5)
    for made, changes in ((tied, True), (untied, False)):
        before = made.decode(codes)
        with torch.no_grad():
            made.encoder[0].weight.add_(1.0)
        assert torch.equal(made.decode(codes), before) != changes
    pointers = {weight.data_ptr() for weight in tied._decoder_weights()}
    assert pointers == {layer.weight.data_ptr() for layer in tied.encoder}
    extra = sum(layer.weight.numel() for layer in untied.encoder)
    count = [sum(p.numel() for p in made.parameters()) for made in (tied, untied)]
    assert count[1] - count[0] == extra


def test_without_the_highway_the_token_gate_mixes_linearly() -> None:
    made, own, other = cell(highway=False), some(1, 2, DIM), some(1, 3, DIM, seed=1)
    scores, mask = own @ other.mT, whole(1, 2, 3)
    found = []
    with torch.no_grad():
        made.token_weight.zero_()
        for bias in (-50.0, 50.0, 0.3, -1.2):
            made.token_bias.fill_(bias)
            found.append((torch.sigmoid(made.token_bias), made(own, other, scores, mask).vectors))
    (_, closed), (_, opened), *between = found
    for p, vectors in between:
        torch.testing.assert_close(vectors, p * opened + (1 - p) * closed, **EXACT)


def test_gates_belong_to_positions() -> None:
    """The paper's design: the order of the other text's tokens matters, beside their vectors."""
    made: ADDAX = model()
    query, document = sides(texts(lengths=((3, 5),)), (0, 0))
    turned = Encoded(document.vectors.flip(1), document.mask)
    trace, other = made.trace(query, document), made.trace(query, turned)
    assert not np.allclose(trace.query_vectors.detach(), other.query_vectors.detach())
    plain = model("addax-attention")
    same = [plain.match(query, side).scores.detach() for side in (document, turned)]
    torch.testing.assert_close(*same)


def aligned(name: str, **changes: object) -> ADDAX:
    """As it starts, not as the other tests fill it; wide enough for angles to survive."""
    torch.manual_seed(0)
    encoder = WordEmbedding(WordEmbeddingConfig(vocab_size=3, dim=64))
    config = MODELS[name].config({"hash_dim": 64, "start": "aligned", "gate_bias": -20, **changes})
    return ADDAX(config, encoder).double().eval()  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "name", ["addax", "addax-no-mags", "addax-no-highway", "addax-no-denoiser"]
)
@torch.no_grad()
def test_an_aligned_start_ranks_nearly_as_the_encoder_does(name: str) -> None:
    """Unlike a normal start: cosines of tokens and of what becomes of them go together."""
    query, document = some(1, 30, 64), some(1, 30, 64, seed=1)
    document[0, :5] = query[0, :5] + 0.5 * document[0, :5]
    sides = Encoded(0.1 * query, whole(1, 30)), Encoded(0.1 * document, whole(1, 30))
    wanted = max_sim(*(side.vectors for side in sides), whole(1, 30), whole(1, 30)).table

    def agreement(made: ADDAX) -> float:
        found = made.trace(*sides).best.table
        return float(torch.corrcoef(torch.stack([found.flatten(), wanted.flatten()]))[0, 1])

    assert agreement(aligned(name)) > 0.6
    assert agreement(aligned(name, start="normal")) < 0.4


@torch.no_grad()
def test_cells_of_an_aligned_start_give_back_their_own_tokens() -> None:
    made = aligned("addax")
    sides = Encoded(0.1 * some(1, 4, 64), whole(1, 4)), Encoded(0.1 * some(1, 6, 64), whole(1, 6))
    trace = made.trace(*sides)
    torch.testing.assert_close(trace.query_vectors, sides[0].vectors, rtol=0.02, atol=1e-3)
    torch.testing.assert_close(trace.document_vectors, sides[1].vectors, rtol=0.02, atol=1e-3)
