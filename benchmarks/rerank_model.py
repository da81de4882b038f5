"""The cross-encoder that re-ranking is measured with: MiniLM after a minute of training.

A random head would do for times, but not to see what rounding does to a ranking.
"""

from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch.nn.functional import binary_cross_entropy_with_logits

from matchwork.data import Split
from matchwork.encode.model_folder import packaged_folder
from matchwork.encode.pretrained import read_network
from matchwork.types import TextPair

STEPS, WARM_UP, PAIRS, MAX_PIECES, LEARNING_RATE = 30, 10, 8, 96, 1e-4


def make_cross_encoder(folder: Path, split: Split, steps: int = STEPS) -> None:
    """Learn which texts answer a question and which do not; save as both libraries read it."""
    from transformers import AutoTokenizer

    source = packaged_folder("minilm")
    assert source is not None
    torch.manual_seed(0)
    network, tokenizer = _untrained(source), AutoTokenizer.from_pretrained(source)
    optimizer = torch.optim.AdamW(network.parameters(), lr=LEARNING_RATE)
    schedule = torch.optim.lr_scheduler.LinearLR(optimizer, 1 / WARM_UP, total_iters=WARM_UP)
    rng, (relevant, others) = np.random.default_rng(0), _pairs(split)
    for _ in range(steps):
        drawn = [
            pairs[number]
            for pairs in (relevant, others)
            for number in rng.integers(len(pairs), size=PAIRS)
        ]
        queries, documents = map(list, zip(*drawn, strict=True))
        options = {"padding": True, "truncation": True, "max_length": MAX_PIECES}
        pieces = tokenizer(queries, documents, return_tensors="pt", **options)
        scores = network(**pieces).logits[:, 0]
        labels = (torch.arange(len(scores)) < PAIRS).float()
        optimizer.zero_grad()
        binary_cross_entropy_with_logits(scores, labels).backward()  # type: ignore[no-untyped-call]
        optimizer.step()
        schedule.step()
    network.save_pretrained(folder)
    tokenizer.save_pretrained(folder)


def _untrained(source: Path) -> Any:
    from transformers import AutoModelForSequenceClassification

    encoder = read_network(source)
    encoder.config.num_labels = 1
    network: Any = AutoModelForSequenceClassification.from_config(  # type: ignore[no-untyped-call]
        encoder.config
    )
    network.base_model.load_state_dict(encoder.state_dict())
    return network.train()


def _pairs(split: Split) -> tuple[list[TextPair], list[TextPair]]:
    """Relevant ones and those judged not to be, or without such, ones that belong to others."""
    relevant, others = (
        [
            (split.queries[query], split.documents[document])
            for query, judged in split.qrels.items()
            for document, relevance in judged.items()
            if (relevance > 0) == wanted
        ]
        for wanted in (True, False)
    )
    shifted = pairwise(relevant)
    return relevant, others or [(query, document) for (query, _), (_, document) in shifted]
