"""A service whose scorer takes its time, so that queues fill on any machine."""

import json
import sys
import time
from collections.abc import Iterable, Sequence

import numpy as np

from matchwork.rank.ranking import rerank
from matchwork.serve import Settings, create_app, serve
from matchwork.serve.process import Plan
from matchwork.types import Document, Ranked, Scores, TextPair


class Slow:
    """A call takes as long as the slowest query says, in milliseconds; longer texts score more."""

    name = "slow"

    def score(self, pairs: Iterable[TextPair]) -> Scores:
        pairs = list(pairs)
        if any("explode" in document for _, document in pairs):
            raise ValueError(f"a message with texts: {pairs}")
        time.sleep(max(int(query) for query, _ in pairs) / 1000)
        return np.array([float(len(document)) for _, document in pairs])

    def rerank(
        self,
        query: str,
        documents: Sequence[str | Document],
        top_k: int | None = None,
        threshold: float | None = None,
    ) -> list[Ranked]:
        return rerank(self, query, documents, top_k=top_k, threshold=threshold)


class SlowPlan(Plan):
    def build(self):
        return create_app([Slow()], self.settings)


if __name__ == "__main__":
    settings = json.loads(sys.argv[1])
    settings["api_keys"] = tuple(settings.get("api_keys", ()))
    serve(
        SlowPlan((), Settings(**settings)),
        "127.0.0.1",
        0,
        lambda address: print(f"on {address}", flush=True),  # noqa: T201
    )
