"""After training a model has seen its features on training pairs, with its final weights."""

import numpy as np
import torch

from matchwork.models import HCAN
from matchwork.text import PairBatch
from matchwork.train import fitting, train

SMALL = {"num_layers": 1, "filters": 4, "hidden": 6, "query_length": 12, "dropout": 0.5}
SETTINGS = {"max_epochs": 2, "accelerator": "cpu", "batch_size": 8}


def features_of(model, samples, rows):
    pairs = PairBatch(
        samples.queries.gather(samples.query_rows[rows]),
        samples.documents.gather(samples.document_rows[rows]),
    )
    with torch.no_grad():
        return model.trace(model.encode(pairs.query), model.encode(pairs.document)).by_part()


def test_training_ends_with_the_means_of_the_best_weights(matcher, questions, samples):
    made = matcher("hcan", **SMALL)
    train(made, questions, **SETTINGS)
    assert isinstance(made.model, HCAN)
    made.model.eval()  # dropout would change every feature
    expected = features_of(made.model, samples, np.arange(len(samples.labels)))
    for part, values in expected.items():
        mean = made.model.means.get_buffer(part)
        assert mean.any()
        torch.testing.assert_close(mean, values.mean(dim=0), rtol=1e-4, atol=1e-6)


def test_many_pairs_are_thinned_evenly_and_the_mode_is_kept(matcher, samples, monkeypatch):
    monkeypatch.setattr(fitting, "MAX_MEANS_PAIRS", 5)
    model = matcher("hcan", **SMALL).model.train()
    fitting.fit_feature_means(model, samples)
    assert model.training
    rows = np.linspace(0, len(samples.labels) - 1, 5).astype(np.int64)
    assert len(set(rows.tolist())) == 5 and rows[-1] == len(samples.labels) - 1
    expected = features_of(model.eval(), samples, rows)["relevance"].mean(dim=0)
    torch.testing.assert_close(model.means.get_buffer("relevance"), expected)
