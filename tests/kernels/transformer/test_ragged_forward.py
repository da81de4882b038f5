"""Computed by hand, the vectors are those of the transformers library."""

import pytest
import torch

from matchwork.kernels.transformer import ragged_forward

transformers = pytest.importorskip("transformers")
KINDS = ["bert", "camembert", "distilbert", "mpnet", "roberta", "xlm-roberta"]
LENGTHS = (7, 4, 1)


def network(kind):
    sizes = {
        "vocab_size": 50,
        "hidden_size": 24,
        "intermediate_size": 40,
        "num_hidden_layers": 3,
        "num_attention_heads": 4,
        "max_position_embeddings": 20,
        "pad_token_id": 0 if kind in ("bert", "distilbert") else 1,
        "type_vocab_size": 2,
    }
    if kind == "distilbert":
        sizes |= {"dim": 24, "hidden_dim": 40, "n_layers": 3, "n_heads": 4}
    torch.manual_seed(0)
    made = transformers.AutoModel.from_config(transformers.AutoConfig.for_model(kind, **sizes))
    for parameter in made.parameters():  # far from the usual start, where all looks alike
        torch.nn.init.normal_(parameter, std=0.3)
    return made.double().eval()


def texts(made, lengths):
    ids = torch.randint(5, 50, (len(lengths), max(lengths)))
    mask = torch.arange(max(lengths)) < torch.tensor(lengths)[:, None]
    return ids.masked_fill(~mask, made.config.pad_token_id), mask


def test_every_known_kind_is_tested():
    assert sorted(ragged_forward._PARTS) == KINDS


@pytest.mark.parametrize("lengths", [LENGTHS, (6, 6)])
@pytest.mark.parametrize("kind", KINDS)
def test_vectors_are_those_of_the_library(kind, lengths):
    made = network(kind)
    ids, mask = texts(made, lengths)
    with torch.no_grad():
        assert ragged_forward.can_run(made)
        expected = made(input_ids=ids, attention_mask=mask.long()).last_hidden_state
        found = ragged_forward.run(made, ids, mask)
        alone = ragged_forward.run(made, ids, mask, first=True)
    torch.testing.assert_close(found[mask], expected[mask], rtol=1e-9, atol=1e-9)
    torch.testing.assert_close(alone, expected[:, :1], rtol=1e-9, atol=1e-9)


def test_types_of_tokens_are_read():
    made = network("bert")
    ids, mask = texts(made, LENGTHS)
    types = (torch.arange(7) > 2).long().expand(3, 7)
    with torch.no_grad():
        options = {"input_ids": ids, "attention_mask": mask.long()}
        expected = made(**options, token_type_ids=types).last_hidden_state
        found = ragged_forward.run(made, ids, mask, token_type_ids=types)
        without = ragged_forward.run(made, ids, mask)
    torch.testing.assert_close(found[mask], expected[mask], rtol=1e-9, atol=1e-9)
    assert not torch.allclose(without[mask], expected[mask], atol=1e-3)


def test_no_layers_at_all_leave_the_input_layer():
    made = network("bert")
    made.encoder.layer = made.encoder.layer[:0]
    ids, mask = texts(made, LENGTHS)
    with torch.no_grad():
        found = ragged_forward.run(made, ids, mask, first=True)
        assert torch.equal(found, made.embeddings(input_ids=ids)[:, :1])


@pytest.mark.parametrize("worth", [1, 1_000])
@pytest.mark.parametrize("kind", KINDS)
def test_gradients_are_those_of_the_library(kind, worth):
    """However many spans the rows fall into."""
    made = without_dropout(network(kind)).train()
    ids, mask = texts(made, (7, 4, 1, 7, 2, 4))
    weights = [weight for weight in made.parameters() if weight.requires_grad]

    def learnt(vectors):
        (vectors[mask] * torch.linspace(-1, 1, vectors.shape[-1])).square().sum().backward()
        found = [weight.grad for weight in weights]
        made.zero_grad()
        return found

    expected = learnt(made(input_ids=ids, attention_mask=mask.long()).last_hidden_state)
    found = learnt(ragged_forward.run(made, ids, mask, min_saving=worth))
    for ours, theirs in zip(found, expected, strict=True):
        torch.testing.assert_close(ours, theirs, rtol=1e-8, atol=1e-8)


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_dropped_follows_from_the_seed_and_evens_out(kind):
    made = network(kind).train()
    ids, mask = texts(made, LENGTHS)

    def vectors(seed):
        torch.manual_seed(seed)
        return ragged_forward.run(made, ids, mask)[mask].detach()

    assert torch.equal(vectors(1), vectors(1))
    assert not torch.allclose(vectors(1), vectors(2))
    dropped = torch.stack([vectors(seed) for seed in range(300)]).mean(dim=0)
    torch.manual_seed(0)
    options = {"input_ids": ids, "attention_mask": mask.long()}
    theirs = [made(**options).last_hidden_state[mask].detach() for _ in range(300)]
    off = dropped - torch.stack(theirs).mean(dim=0)
    assert off.abs().max() < 0.3 and off.square().mean().sqrt() < 0.1


def test_dropout_may_be_taken_out_or_replaced():
    made = network("bert")
    ids, mask = texts(made, LENGTHS)
    expected = ragged_forward.run(made, ids, mask)
    for layer in made.encoder.layer:
        layer.attention.self.dropout = layer.output.dropout = torch.nn.Identity()
        layer.attention.output.dropout = torch.nn.AlphaDropout(0.5)
    made.embeddings.dropout = torch.nn.Identity()
    made.train()
    assert not torch.allclose(ragged_forward.run(made, ids, mask)[mask], expected[mask])
    for layer in made.encoder.layer:
        layer.attention.output.dropout = torch.nn.Dropout(0.0)
    torch.testing.assert_close(ragged_forward.run(made, ids, mask)[mask], expected[mask])


def test_what_is_left_to_the_library():
    made = network("bert")
    assert ragged_forward.can_run(made) and ragged_forward.can_run(made.train())
    made.gradient_checkpointing_enable()
    assert not ragged_forward.can_run(made)
    assert not ragged_forward.can_run(network("bert").to("meta"))
    others = [
        transformers.AutoConfig.for_model("albert", hidden_size=8, embedding_size=8),
        transformers.AutoConfig.for_model("bert", is_decoder=True),
        transformers.AutoConfig.for_model("bert", pruned_heads={0: [1]}),
        transformers.AutoConfig.for_model("bert", position_embedding_type="relative_key"),
    ]
    for made.config in others:
        assert not ragged_forward.can_run(made)


@pytest.mark.parametrize(
    "watch",
    [
        lambda made: made.register_forward_hook(print),
        lambda made: made.encoder.layer[0].register_forward_pre_hook(print),
        lambda made: made.encoder.layer[0].output.dense.register_full_backward_hook(print),
        lambda made: setattr(made.encoder.layer[0].output.dense, "forward", torch.neg),
    ],
)
def test_a_network_that_somebody_watches_or_has_changed_runs_as_it_is(watch):
    made = network("bert")
    watch(made)
    assert not ragged_forward.can_run(made)


def without_dropout(made):
    for part in made.modules():
        if isinstance(part, torch.nn.Dropout):
            part.p = 0.0
    return made
