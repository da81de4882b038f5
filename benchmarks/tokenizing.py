"""Words a second from text to ids, beside Python's own `str.split`."""

import numpy as np

from benchmarks.clock import medians
from benchmarks.figures import Figure, Figures
from benchmarks.workload import matcher, texts


def run(quick: bool) -> Figures:
    """Texts of 60 words."""
    tokenizer = matcher("bag").tokenizer
    documents = texts(50 if quick else 20_000, 60, np.random.default_rng(0))
    num_words = sum(len(text.split()) for text in documents)
    ours, plain = medians(
        1 if quick else 5,
        lambda: tokenizer.encode(documents),
        lambda: [text.lower().split() for text in documents],
    )
    return {
        "words tokenized": Figure(
            value=num_words / ours,
            unit="words/s",
            peer=num_words / plain,
            peer_name="str.lower().split()",
        )
    }
