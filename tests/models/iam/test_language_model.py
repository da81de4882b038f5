"""Stacks that keep their directions apart, and language models that cannot look ahead."""

import torch
from hypothesis import given
from hypothesis import strategies as st

from matchwork.encode import Encoded
from matchwork.models.iam.language_model import LanguageModel
from matchwork.models.iam.two_way import TextReader, TwoWayStack, last_states, with_end

DIM, UNITS = 3, 2


def reader(seed: int = 0, width: int = DIM) -> TextReader:
    torch.manual_seed(seed)
    made = TextReader(DIM, width, UNITS).double().eval()
    with torch.no_grad():
        for parameter in made.parameters():
            parameter.mul_(15.0)
    return made


def text(lengths: list[int], seed: int = 0, extra: int = 1) -> Encoded:
    generator = torch.Generator().manual_seed(seed)
    width = max(lengths) + extra
    vectors = torch.randn(len(lengths), width, DIM, generator=generator, dtype=torch.float64)
    ids = torch.randint(2, 9, (len(lengths), width), generator=generator)
    return Encoded(vectors, torch.arange(width) < torch.tensor(lengths)[:, None], ids)


@given(st.lists(st.integers(0, 5), min_size=1, max_size=5), st.integers(0, 3))
def test_batch_mates_and_padding_change_no_state(lengths: list[int], extra: int) -> None:
    made, batch = reader(), text(lengths, extra=extra)
    states = made(batch)
    assert states.mask.sum(1).tolist() == [length + 1 for length in lengths]
    assert (states.vectors[~states.mask] == 0).all()
    for row, length in enumerate(lengths):
        alone = Encoded(batch.vectors[[row], :length], batch.mask[[row], :length])
        found = made(alone).vectors[0]
        torch.testing.assert_close(states.vectors[row, : length + 1], found, rtol=0, atol=1e-12)


def test_packed_rows_give_the_same_states_and_gradients(monkeypatch) -> None:
    """As on a GPU."""
    batch, found = text([3, 1, 5, 0], extra=2), []
    for packs in (False, True):
        monkeypatch.setattr(TwoWayStack, "_packs", lambda stack, vectors, packs=packs: packs)
        made = reader()
        states = made(batch).vectors
        (states * torch.arange(states.numel()).view_as(states)).sum().backward()
        found.append([states.detach(), *(parameter.grad for parameter in made.parameters())])
    for whole, packed in zip(*found, strict=True):
        torch.testing.assert_close(whole, packed, rtol=1e-10, atol=1e-10)


def test_no_direction_sees_the_other_side() -> None:
    """Also not through the second layer."""
    stack = TwoWayStack(DIM, UNITS).double()
    for parameter in stack.parameters():
        torch.nn.init.uniform_(parameter, -1, 1)
    mask = torch.ones(1, 6, dtype=torch.bool)
    vectors = torch.randn(1, 6, DIM, dtype=torch.float64)
    before = stack(vectors, mask)
    for word in range(6):
        changed = vectors.clone()
        changed[0, word] += 1
        moved = (stack(changed, mask) - before).abs()[0]
        ahead, back = moved[:, :UNITS].amax(1), moved[:, UNITS:].amax(1)
        assert (ahead[:word] == 0).all() and (ahead[word:] > 0).all()
        assert (back[word + 1 :] == 0).all() and (back[: word + 1] > 0).all()


def test_a_prediction_does_not_depend_on_its_word() -> None:
    """The loss of predicting word t has no gradient with respect to the vector of word t."""
    model = LanguageModel(reader(), UNITS)
    model.set_words(torch.arange(2, 9), torch.ones(9))
    length = 4
    for target in range(length):
        vectors = torch.randn(1, length, DIM, dtype=torch.float64, requires_grad=True)
        mask, ids = torch.ones(1, length, dtype=torch.bool), torch.full((1, length), 3)
        states = model.reader(Encoded(vectors, mask, ids)).vectors[0]
        terms = []
        if target:  # from the words before
            terms.append(model.ahead(states[target - 1, :UNITS]))
        terms.append(model.back(states[target + 1, UNITS:]))  # from the words after, or <EOS>
        torch.stack([term.square().sum() for term in terms]).sum().backward()
        assert vectors.grad is not None
        assert (vectors.grad[0, target] == 0).all()
        others = [place for place in range(length) if place != target]
        assert (vectors.grad[0, others].abs().amax(1) > 0).all()


def test_rare_words_share_a_class_and_the_end_has_its_own() -> None:
    model = LanguageModel(reader(), UNITS)
    model.set_words(torch.tensor([3, 5, 8]), torch.tensor([5, 1, 0, 2, 2]))
    batch = Encoded(
        torch.zeros(2, 3, DIM).double(),
        torch.tensor([[True] * 3, [True, False, False]]),
        torch.tensor([[5, 4, 10**12], [8, 3, 3]]),
    )
    assert model.classes(batch).tolist() == [[1, 3, 3, 4], [2, 4, 4, 4]]
    for layer in (model.ahead, model.back):  # every class starts as common as it is
        found = layer.bias.detach().softmax(0)
        torch.testing.assert_close(found, torch.tensor([6, 2, 1, 3, 3]).double() / 15)


def test_every_word_is_predicted_from_both_sides() -> None:
    model = LanguageModel(reader(), UNITS)
    model.set_words(torch.arange(2, 9), torch.ones(9))
    assert model(text([3, 0, 1])).number == 2 * 4
    nothing = model(text([0]))
    assert nothing.number == 0 and nothing.total.item() == 0


def test_states_at_the_end_of_both_passes() -> None:
    states = reader()(text([3, 1]))
    found = last_states(states)
    for row, last in enumerate((3, 1)):
        expected = [states.vectors[row, last, :UNITS], states.vectors[row, 0, UNITS:]]
        assert torch.equal(found[row], torch.cat(expected))
        literal = last_states(states, literal=True)[row]
        assert torch.equal(literal, states.vectors[row, last])


def test_the_end_stands_behind_the_last_word() -> None:
    batch = text([2, 0, 3], extra=0)
    ended = with_end(batch, torch.full((DIM,), 7.0))
    assert ended.mask.sum(1).tolist() == [3, 1, 4]
    for row, length in enumerate((2, 0, 3)):
        assert torch.equal(ended.vectors[row, :length], batch.vectors[row, :length])
        assert (ended.vectors[row, length] == 7).all() and (
            ended.vectors[row, length + 1 :] == 0
        ).all()


def test_dropout_between_layers_follows_the_seed() -> None:
    stack = TwoWayStack(DIM, 20, dropout=0.5)
    vectors, mask = torch.randn(2, 4, DIM), torch.ones(2, 4, dtype=torch.bool)
    drawn = []
    for seed in (1, 1, 2):
        torch.manual_seed(seed)
        drawn.append(stack.train()(vectors, mask))
    assert torch.equal(drawn[0], drawn[1]) and not torch.equal(drawn[0], drawn[2])
    assert torch.equal(stack.eval()(vectors, mask), stack(vectors, mask))
