"""Mean feature values of a trained model, against which the parts of a score are explained."""

from collections.abc import Iterator

import numpy as np
import torch

from matchwork.models import Model
from matchwork.text import PairBatch
from matchwork.train.samples import TrainingSet

MAX_PAIRS = 500
_BATCH_SIZE = 50


@torch.no_grad()
def fit_feature_means(model: Model, samples: TrainingSet, use_gpu: bool = False) -> None:
    """Let the model collect mean feature values on up to `MAX_PAIRS` training pairs.

    Args:
        model: The trained model; most collect no means.
        samples: The training pairs; a subset is spread evenly over all.
        use_gpu: Compute on a GPU if there is one; the model is moved back afterwards.
    """
    was_training, home = model.training, next(model.parameters()).device
    device = torch.device("cuda") if use_gpu and torch.cuda.is_available() else home
    model.to(device).eval()
    try:
        model.fit_feature_means(_batches(samples, device))
    finally:
        model.to(home).train(was_training)


def _batches(samples: TrainingSet, device: torch.device) -> Iterator[PairBatch]:
    num_pairs = len(samples.labels)
    chosen = np.linspace(0, num_pairs - 1, min(num_pairs, MAX_PAIRS)).astype(np.int64)
    for start in range(0, len(chosen), _BATCH_SIZE):
        rows = chosen[start : start + _BATCH_SIZE]
        query = samples.queries.gather(samples.query_rows[rows])
        document = samples.documents.gather(samples.document_rows[rows])
        yield PairBatch(query, document).to(device)
