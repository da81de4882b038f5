import numpy as np
import pytest
import torch
from small_worlds import split_of, tiny_matcher

from matchwork.data import toy
from matchwork.errors import ConfigError, DataError
from matchwork.models.iasm.word_links import WordLinks
from matchwork.studies.iasm import matching_matrices, smoothing
from matchwork.studies.iasm.smoothing import untrained, variances

TOY = toy()
TEXTS = TOY["train"].texts
PAIRS = [(pair.query, pair.document) for pair in TOY["train"].pairs() if pair.label]


def test_variance_is_that_of_the_population_over_real_cells():
    matcher = tiny_matcher("iasm-dynamic", TEXTS)
    assert matching_matrices(matcher)[0] == "matching_0"
    found = variances(matcher, PAIRS, matching_matrices(matcher))
    lengths = {tuple(map(len, matcher.tokens(*pair))) for pair in PAIRS}
    assert len(lengths) > 3  # so the batch is padded
    for row, pair in zip(found, PAIRS, strict=True):
        evidence = matcher.output(*pair).evidence
        alone = [evidence[name].values[0].double().numpy() for name in matching_matrices(matcher)]
        assert row == pytest.approx([np.var(table) for table in alone], rel=1e-4)


def test_trained_beside_untrained():
    matcher = tiny_matcher("iasm-dynamic", TEXTS)
    found = smoothing(matcher, [TOY["train"], TOY["test"]], seeds=(3, 4))
    assert list(found.splits) == ["train", "test"] and found.seeds == (3, 4)
    one = found.splits["test"]
    assert (one.num_pairs, one.num_empty, len(one.untrained)) == (6, 0, 2)
    pairs = [(pair.query, pair.document) for pair in TOY["test"].pairs() if pair.label]
    first, last = variances(matcher, pairs, [found.first, found.last]).T
    assert one.trained == (np.mean(last < first), np.median(last / first))
    assert found.last == matching_matrices(matcher)[-1]
    mean, low, high = one.control(lambda each: each.ratio)
    assert low < mean < high and mean == pytest.approx((low + high) / 2)
    assert found.to_dict()["splits"]["test"]["trained"]["share"] == one.trained.share


def test_the_control_is_the_same_architecture_over_the_same_encoder():
    matcher = tiny_matcher("iasm-dynamic", TEXTS)
    before = torch.random.get_rng_state()
    copy, again, other = (untrained(matcher, seed) for seed in (5, 5, 6))
    assert torch.equal(before, torch.random.get_rng_state())
    assert copy.model.encoder is matcher.model.encoder and copy.model.config == matcher.model.config
    weights = [each.model.Wq for each in (matcher, copy, again, other)]
    assert torch.equal(weights[1], weights[2])
    assert not torch.equal(weights[0], weights[1]) and not torch.equal(weights[1], weights[3])
    # An untrained matcher is its own control.
    found = smoothing(copy, [TOY["test"]], seeds=[5])
    assert found.splits["test"].untrained == (found.splits["test"].trained,)


def test_the_control_keeps_the_links_between_words():
    matcher = tiny_matcher("iasm-dynamic", TEXTS, links="replace")
    links = WordLinks()
    ids = sorted(matcher.tokenizer.vocabulary.ids[word] for word in ("spider", "insects"))
    links.words, links.pairs = torch.tensor(ids), torch.tensor([1, 2])
    links.weights = torch.tensor([0.5, 0.5])
    matcher.model.link_words(links)
    table = untrained(matcher, 0).output("spider", "insects").evidence["matching_0"]
    assert table.values.item() == 0.5


def test_a_matrix_that_is_only_turned_is_not_smoother():
    found = smoothing(tiny_matcher("iasm-static", TEXTS), [TOY["train"]], seeds=[0])
    assert found.splits["train"].trained == (0.0, 1.0)
    assert found.splits["train"].untrained == ((0.0, 1.0),)


def test_pairs_without_words_are_counted_and_one_cell_is_never_smoother():
    matcher = tiny_matcher("iasm-dynamic", TEXTS)
    one = smoothing(
        matcher, [split_of({"a": ("spider", ["spider"]), "b": ("?", ["spider"])})], seeds=[0]
    ).splits["test"]
    assert (one.num_pairs, one.num_empty, one.trained) == (1, 1, (0.0, 1.0))
    with pytest.raises(DataError, match="split 'test' has no relevant pair with words"):
        smoothing(matcher, [split_of({"b": ("?", ["spider"])})])


def test_progress_ends_at_its_total():
    seen = []
    matcher = tiny_matcher("iasm-dynamic", TEXTS)
    smoothing(matcher, [TOY["test"]], seeds=[0, 1], progress=lambda *step: seen.append(step))
    assert seen[-1] == (18, 18)


def test_a_model_without_matrices_is_refused():
    with pytest.raises(ConfigError, match="'bag' has 0; take a model that renews its matrix"):
        smoothing(tiny_matcher("bag", TEXTS), [TOY["test"]])
