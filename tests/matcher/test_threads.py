"""Every thread at an item of its own: the same results, and PyTorch's threads as they were."""

import threading

import numpy as np
import pytest
import torch
from tiny_sentence_transformers import PAIRS, cross_encoder_folder

import matchwork as mw
from matchwork.matcher.threads import in_threads


@pytest.fixture(autouse=True)
def _two_threads():
    before = torch.get_num_threads()
    torch.set_num_threads(2)
    yield
    torch.set_num_threads(before)


def threads_of_a_new_thread():
    found = []
    thread = threading.Thread(target=lambda: found.append(torch.get_num_threads()))
    thread.start()
    thread.join()
    return found[0]


def job(number):
    return number, torch.get_num_threads(), threading.get_ident()


def test_each_item_has_one_thread_and_results_keep_their_order():
    numbers, counts, threads = zip(*in_threads(job, range(20)), strict=True)
    assert numbers == tuple(range(20)) and set(counts) == {1}
    assert threading.get_ident() not in threads
    assert torch.get_num_threads() == threads_of_a_new_thread() == 2


def test_a_single_item_has_all_threads():
    assert list(in_threads(job, [7])) == [(7, 2, threading.get_ident())]


def test_an_error_comes_through_and_leaves_the_threads_as_they_were():
    def fail(number):
        raise ValueError(f"no {number}")

    with pytest.raises(ValueError, match="no 0"):
        list(in_threads(fail, range(5)))
    assert torch.get_num_threads() == threads_of_a_new_thread() == 2


@pytest.mark.parametrize("training", [True, False])
def test_a_transformer_scores_alike_on_any_number_of_threads(tmp_path, training):
    matcher = mw.Matcher.load(cross_encoder_folder(tmp_path))
    matcher.max_pairs = 1  # a batch for each
    matcher.model.train(training)
    found = matcher.score(PAIRS)
    assert matcher.model.training == training
    torch.set_num_threads(1)
    np.testing.assert_allclose(found, matcher.score(PAIRS), atol=1e-6)
