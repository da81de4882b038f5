"""A negative sampler: documents that stand near the positive one in the file."""

import numpy as np

from matchwork.train import SAMPLERS
from matchwork.train.samplers import RandomDocuments


@SAMPLERS.register("extras-neighbours")
class Neighbours(RandomDocuments):
    """Draw from the ten documents around the positive one."""

    def negatives(self, rng):
        """Return query and document rows of candidates for negatives."""
        steps = rng.integers(-5, 6, size=self.random_documents(rng).shape)
        rows = (self.document_rows[:, None] + steps) % len(self.samples.documents)
        return self.query_rows[:, None], np.asarray(rows)
