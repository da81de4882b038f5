"""An epoch is a permutation in batches of similar length, and can be entered anywhere."""

from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from matchwork.data import Split
from matchwork.errors import ConfigError
from matchwork.text import WordTokenizer
from matchwork.text.batch import shuffled_buckets
from matchwork.train import TrainConfig, TrainingSet
from matchwork.train.loader import EpochLoader, TrainBatch


def loader(
    samples: TrainingSet,
    kind: str = "own",
    *,
    batch_size: int = 4,
    seed: int = 0,
    epoch: int = 0,
    done: int = 0,
    **ranks: Any,
) -> EpochLoader:
    config = TrainConfig(loss="cross-entropy", negatives=kind)
    return EpochLoader(
        samples,
        config.make_sampler(samples),
        batch_size=batch_size,
        seed=seed,
        position=lambda: (epoch, done),
        **ranks,
    )


def contents(batch: TrainBatch) -> tuple[Any, ...]:
    pairs = batch.pairs
    tensors = (pairs.query.ids, pairs.query.mask, pairs.document.ids, pairs.document.mask)
    return tuple(tensor.tolist() for tensor in (*tensors, batch.labels, batch.mask))


def sets_of_pairs(batches: list[TrainBatch]) -> list[tuple[tuple[int, ...], tuple[int, ...]]]:
    """Token ids of every pair, padding removed, sorted."""
    return sorted(
        (tuple(q[qm].tolist()), tuple(d[dm].tolist()))
        for batch in batches
        for q, qm, d, dm in zip(
            batch.pairs.query.ids,
            batch.pairs.query.mask,
            batch.pairs.document.ids,
            batch.pairs.document.mask,
            strict=True,
        )
    )


@given(
    st.lists(st.integers(0, 300), min_size=1, max_size=400),
    st.integers(1, 9),
    st.integers(0, 5),
)
def test_buckets_are_a_permutation(lengths: list[int], batch_size: int, seed: int):
    batches = shuffled_buckets(np.array(lengths), batch_size, np.random.default_rng(seed))
    np.testing.assert_array_equal(np.sort(np.concatenate(batches)), np.arange(len(lengths)))
    assert len(batches) == -(-len(lengths) // batch_size)
    assert max(map(len, batches)) <= batch_size


def test_every_pair_once_an_epoch(samples: TrainingSet):
    batches = list(loader(samples, "labelled"))
    expected = sorted(
        (tuple(samples.queries[q].tolist()), tuple(samples.documents[d].tolist()))
        for q, d in zip(samples.query_rows, samples.document_rows, strict=True)
    )
    assert sets_of_pairs(batches) == expected
    assert len(batches) == len(loader(samples, "labelled")) == 12


def test_padding_wasted_is_far_below_random_batches():
    random = np.random.default_rng(0)
    lengths = np.maximum(1, random.lognormal(3, 0.8, 4000)).astype(np.int64)
    order = random.permutation(len(lengths))

    def cells(batches: list[np.ndarray]) -> int:
        return sum(int(lengths[batch].max()) * len(batch) for batch in batches)

    needed = int(lengths.sum())
    shuffled = cells([order[i : i + 32] for i in range(0, len(order), 32)])
    bucketed = cells(shuffled_buckets(lengths, 32, np.random.default_rng(1)))
    assert (bucketed - needed) < 0.1 * (shuffled - needed)
    # and the real loader pads what the lengths say
    texts = {f"d{i}": "word " * length for i, length in enumerate(lengths[:500])}
    split = Split(
        "train", {"q": "word"}, texts, {"q": dict.fromkeys(texts, 1)}, {"q": tuple(texts)}
    )
    samples = TrainingSet.from_split(split, WordTokenizer.fit(split.texts))
    padded = sum(batch.pairs.document.ids.numel() for batch in loader(samples, "labelled"))
    assert padded < 1.25 * int(lengths[:500].sum())


def test_batches_come_in_mixed_order():
    lengths = np.arange(1000)
    batches = shuffled_buckets(lengths, 10, np.random.default_rng(0))
    means = [lengths[batch].mean() for batch in batches]
    assert abs(np.corrcoef(np.arange(len(means)), means)[0, 1]) < 0.3


@pytest.mark.parametrize("kind", ["labelled", "own", "random", "hard", "replace", "in-batch"])
def test_an_epoch_follows_from_seed_and_number(samples: TrainingSet, kind: str):
    first = [contents(batch) for batch in loader(samples, kind, seed=3, epoch=2)]
    again = [contents(batch) for batch in loader(samples, kind, seed=3, epoch=2)]
    next_epoch = [contents(batch) for batch in loader(samples, kind, seed=3, epoch=3)]
    other_seed = [contents(batch) for batch in loader(samples, kind, seed=4, epoch=2)]
    assert first == again
    assert first != next_epoch and first != other_seed and next_epoch != other_seed


@pytest.mark.parametrize("done", range(13))
def test_resuming_gives_exactly_the_remaining_batches(samples: TrainingSet, done: int):
    whole = [contents(batch) for batch in loader(samples, "labelled", epoch=1)]
    rest = [contents(batch) for batch in loader(samples, "labelled", epoch=1, done=done)]
    assert rest == whole[done:]


@pytest.mark.parametrize("num_ranks", [2, 3, 5])
def test_devices_share_the_batches(samples: TrainingSet, num_ranks: int):
    whole = [str(contents(batch)) for batch in loader(samples, "labelled")]
    parts = [
        [str(contents(b)) for b in loader(samples, "labelled", rank=rank, num_ranks=num_ranks)]
        for rank in range(num_ranks)
    ]
    together = [batch for part in parts for batch in part]
    assert {len(part) for part in parts} == {len(whole) // num_ranks}  # else one would wait
    assert len(set(together)) == len(together) and set(together) <= set(whole)


def test_a_device_without_a_batch_is_an_error(samples: TrainingSet):
    with pytest.raises(ConfigError, match="12 training groups make 1 batches of 16, too few for 2"):
        loader(samples, "own", batch_size=16, num_ranks=2)


def test_in_batch_masks_other_relevant_documents():
    labels = {"q1": {"a": 1, "b": 1}, "q2": {"b": 1, "c": 1}, "q3": {"d": 1, "a": 0}}
    documents = dict.fromkeys("abcd")
    split = Split(
        "train",
        {query: query for query in labels},
        {document: document for document in documents},
        labels,
        {query: tuple(grades) for query, grades in labels.items()},
    )
    words = WordTokenizer.fit(split.texts)
    samples = TrainingSet.from_split(split, words)
    (batch,) = loader(samples, "in-batch", batch_size=8)
    names = {int(words.encode([text])[0][0]): text for text in split.texts}
    queries = [names[int(row[0])] for row in batch.pairs.query.ids]
    chosen = [names[int(row[0])] for row in batch.pairs.document.ids]
    torch.testing.assert_close(batch.labels, torch.eye(5))
    for i, query in enumerate(queries):
        for j, document in enumerate(chosen):
            relevant = labels[query].get(document, 0) > 0
            assert bool(batch.mask[i, j]) == (i == j or not relevant), (query, document)
