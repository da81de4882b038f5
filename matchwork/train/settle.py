"""After training: let the model see what its features are like on the training pairs."""

from collections.abc import Iterator

import numpy as np
import torch

from matchwork.models import FitsFeatureMeans, Model
from matchwork.text import PairBatch
from matchwork.train.samples import TrainingSet

MAX_PAIRS = 500  # enough for a mean
BATCH = 50


@torch.no_grad()
def settle(model: Model, samples: TrainingSet, use_gpu: bool = False) -> None:
    """Show the finished model up to `MAX_PAIRS` training pairs, evenly spread over all.

    It goes to a GPU for that if there is one and `use_gpu`, and comes back.
    """
    if not isinstance(model, FitsFeatureMeans):
        return
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
    for start in range(0, len(chosen), BATCH):
        rows = chosen[start : start + BATCH]
        query = samples.queries.gather(samples.query_rows[rows])
        document = samples.documents.gather(samples.document_rows[rows])
        yield PairBatch(query, document).to(device)
