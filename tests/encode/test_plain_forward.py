"""Computed by hand, the vectors are those of the transformers library."""

import pytest
import torch

from matchwork.encode import plain_forward

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
    assert sorted(plain_forward._BLOCKS) == KINDS


@pytest.mark.parametrize("lengths", [LENGTHS, (6, 6)])
@pytest.mark.parametrize("kind", KINDS)
def test_vectors_are_those_of_the_library(kind, lengths):
    made = network(kind)
    ids, mask = texts(made, lengths)
    with torch.no_grad():
        assert plain_forward.can_run(made)
        expected = made(input_ids=ids, attention_mask=mask.long()).last_hidden_state
        found = plain_forward.run(made, ids, mask)
        alone = plain_forward.run(made, ids, mask, first=True)
    torch.testing.assert_close(found[mask], expected[mask], rtol=1e-9, atol=1e-9)
    torch.testing.assert_close(alone, expected[:, :1], rtol=1e-9, atol=1e-9)


def test_types_of_tokens_are_read():
    made = network("bert")
    ids, mask = texts(made, LENGTHS)
    types = (torch.arange(7) > 2).long().expand(3, 7)
    with torch.no_grad():
        options = {"input_ids": ids, "attention_mask": mask.long()}
        expected = made(**options, token_type_ids=types).last_hidden_state
        found = plain_forward.run(made, ids, mask, token_type_ids=types)
        without = plain_forward.run(made, ids, mask)
    torch.testing.assert_close(found[mask], expected[mask], rtol=1e-9, atol=1e-9)
    assert not torch.allclose(without[mask], expected[mask], atol=1e-3)


def test_no_layers_at_all_leave_the_input_layer():
    made = network("bert")
    made.encoder.layer = made.encoder.layer[:0]
    ids, mask = texts(made, LENGTHS)
    with torch.no_grad():
        found = plain_forward.run(made, ids, mask, first=True)
        assert torch.equal(found, made.embeddings(input_ids=ids)[:, :1])


def test_learning_is_left_to_the_library():
    made = network("bert")
    assert not plain_forward.can_run(made)  # gradients are on
    with torch.no_grad():
        assert plain_forward.can_run(made)
        assert not plain_forward.can_run(made.train())
        unknown = transformers.AutoConfig.for_model("albert", hidden_size=8, embedding_size=8)
        made.eval().config = unknown
        assert not plain_forward.can_run(made)
