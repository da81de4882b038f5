"""One query and 1,000 texts re-ranked on two threads, beside sentence-transformers.

Both read MiniLM with the same relevance head, random of a fixed seed.
"""

import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import Any

if not __package__:  # started as a file
    sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import numpy as np
import torch
from scipy.stats import spearmanr

from benchmarks.as_file import CORES, options, read, tell, threads
from benchmarks.clock import medians
from benchmarks.figures import Figure, Figures, Target
from benchmarks.rerank_gpu import on_gpu
from benchmarks.workload import lengths
from matchwork.data import load
from matchwork.encode.pretrained import packaged_folder, read_network
from matchwork.errors import MatchworkError
from matchwork.rank import Matcher

QUERY, SECOND_QUERY = "how are glacier caves formed ?", "who wrote the first novel in english ?"
DOCUMENTS, WORDS = 1_000, 60
GPU_PURPOSE = "Training ADDAX on a GPU, beside a plain cross-encoder; its time by parts."
PEER = "sentence-transformers"


def run(quick: bool) -> Figures:
    """Cross-encoders of equal weights, in full and in int8; then documents encoded once."""
    documents = passages(12 if quick else DOCUMENTS)
    with threads(CORES), TemporaryDirectory() as folder:
        make_cross_encoder(Path(folder))
        figures = _cross_encoders(folder, documents, 1 if quick else 2)
        for name in ("minilm-maxsim", "minilm-cosine"):
            figures[f"second query, {name}"] = _second_query(name, documents)
    return figures


def passages(num: int) -> list[str]:
    """Sentences of WikiQA where `MATCHWORK_DATA` has them, else beginnings of docstrings."""
    rng = np.random.default_rng(0)
    if has_wikiqa():
        found = {
            text for split in load("wikiqa").splits.values() for text in split.documents.values()
        }
        return rng.permutation(sorted(found))[:num].tolist()
    found = {text for split in load("pydocs").splits.values() for text in split.documents.values()}
    drawn = rng.permutation(sorted(found))[:num]
    sizes = lengths(len(drawn), WORDS, rng, spread=0.5)
    return [" ".join(t.split()[:size]) for t, size in zip(drawn, sizes.tolist(), strict=True)]


def has_wikiqa() -> bool:
    """Whether the data set is on this machine."""
    try:
        load("wikiqa", splits=["dev"])
    except MatchworkError:
        return False
    return True


def make_cross_encoder(folder: Path) -> None:
    """MiniLM with a random relevance head, in the format that both libraries read."""
    from transformers import AutoModelForSequenceClassification, AutoTokenizer

    source = packaged_folder("minilm")
    assert source is not None
    encoder = read_network(source)
    encoder.config.num_labels = 1
    torch.manual_seed(0)
    network: Any = AutoModelForSequenceClassification.from_config(  # type: ignore[no-untyped-call]
        encoder.config
    )
    network.base_model.load_state_dict(encoder.state_dict())
    torch.nn.init.normal_(network.classifier.weight, std=0.3)
    network.save_pretrained(folder)
    AutoTokenizer.from_pretrained(source, local_files_only=True).save_pretrained(folder)


def _cross_encoders(folder: str, documents: list[str], repeats: int) -> Figures:
    from sentence_transformers import CrossEncoder

    peer = CrossEncoder(folder, device="cpu")
    full, rounded = Matcher.pretrained(folder), Matcher.pretrained(folder, precision="int8")
    pairs = [(QUERY, document) for document in documents]
    expected = peer.predict(pairs, activation_fn=torch.nn.Identity(), show_progress_bar=False)
    exact, nearly = full.score(pairs), rounded.score(pairs)
    np.testing.assert_allclose(exact, expected, atol=1e-5)
    ours, fewer, theirs = medians(
        repeats,
        lambda: full.rank(QUERY, documents),
        lambda: rounded.rank(QUERY, documents),
        lambda: peer.rank(QUERY, documents, show_progress_bar=False),
        warm=True,
    )
    speed = len(documents) / theirs
    same_order = float(spearmanr(nearly, exact).statistic)
    return {
        "cross-encoder": Figure(
            value=len(documents) / ours,
            unit="pairs/s",
            peer=speed,
            peer_name=PEER,
            target=Target("ratio", "least", 1.0),
        ),
        "cross-encoder, int8": Figure(
            value=len(documents) / fewer,
            unit="pairs/s",
            peer=speed,
            peer_name=PEER,
            target=Target("ratio", "least", 2.0),
        ),
        "cross-encoder, int8, order": Figure(
            value=same_order,
            unit="Spearman's rho",
            peer=1.0,
            peer_name="in 32 bits",
            target=Target("value", "least", 0.995),
        ),
    }


def _second_query(name: str, documents: list[str]) -> Figure:
    """The first pays for the documents; of the second, the median of several."""
    matcher = Matcher.pretrained(name)
    began = perf_counter()
    index = matcher.index(documents)
    index.rank(QUERY)
    first = perf_counter() - began
    (second,) = medians(5, lambda: index.rank(SECOND_QUERY))
    return Figure(
        value=1e3 * second,
        unit="ms",
        peer=1e3 * first,
        peer_name="first query",
        target=Target("ratio", "most", 1 / 50),
    )


def main() -> None:
    """`python benchmarks/rerank.py`: as a file of its own, it has options of its own."""
    given = read(options(__doc__))
    figures = on_gpu("cuda", given.quick) if given.gpu else run(given.quick)
    texts = "sentences of WikiQA" if has_wikiqa() else "beginnings of docstrings"
    purpose = f"{' '.join(str(__doc__).split())} The texts are {texts}."
    tell("rerank", given, figures, GPU_PURPOSE if given.gpu else purpose)


if __name__ == "__main__":
    main()
