"""`matchwork demo --lcs`: Match-SRNN learns the length of the longest common subsequence (LCS).

The simulation of Wan et al., Match-SRNN, IJCAI 2016. A spatial GRU of one unit sees which letters
are equal; the only labels are LCS lengths of whole strings. Dynamic programming is one setting
of its weights; training finds another one close by.
"""

import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

import numpy as np
import torch

from matchwork.data import Dataset, load
from matchwork.encode import WordEmbedding
from matchwork.experiment import Observer
from matchwork.experiment.seed_observer import SeedObserver
from matchwork.matcher import Matcher
from matchwork.models import MatchSRNN, MatchSRNNConfig
from matchwork.studies.match_srnn.figures import LCSFigures, LCSGrid, lcs_figures, lcs_grids
from matchwork.text import WordTokenizer
from matchwork.train.api import train

# As in recipes/lcs/match-srnn-adam.toml.
MODEL = MatchSRNNConfig(interaction="indicator", units=1, reset=False, head="state")
TRAINING: dict[str, Any] = {
    "loss": "squared",
    "negatives": "labelled",
    "optimizer": "adam",
    "learning_rate": 0.03,
    "batch_size": 128,
    "max_epochs": 30,
    "dev_measure": "MSE",
}
SEEDS = (1, 2, 3)
EXAMPLE = ("A B C D E", "F A C G D")  # the pair of the paper's figure 4


@dataclass(frozen=True)
class LCSDemo:
    """Figures of each seed on test, and the example pair by the matcher of the first seed."""

    dataset: Dataset
    figures: dict[int, LCSFigures]
    grid: LCSGrid
    out: Path
    seconds: float

    @property
    def matcher_folder(self) -> Path:
        """Folder of the saved matcher of the first seed."""
        return self.out / "matcher"

    @property
    def report(self) -> Path:
        """The report page."""
        return self.out / "report.html"

    def mean_and_spread(self, figure: str) -> tuple[float, float]:
        """Return mean and standard deviation of one figure over the seeds."""
        values = [asdict(figures)[figure] for figures in self.figures.values()]
        return float(np.mean(values)), float(np.std(values, ddof=1)) if len(values) > 1 else 0.0

    def to_dict(self) -> dict[str, Any]:
        """Return plain values."""
        return {
            "dataset": self.dataset.name,
            "seeds": {str(seed): asdict(found) for seed, found in self.figures.items()},
            "mean": {f.name: self.mean_and_spread(f.name)[0] for f in fields(LCSFigures)},
            "example": {
                "query": self.grid.query,
                "document": self.grid.document,
                "lcs": self.grid.lcs.tolist(),
                "states": self.grid.states.tolist(),
                "path": [cell._asdict() for cell in self.grid.path],
            },
            "seconds": self.seconds,
            "matcher": str(self.matcher_folder),
            "report": str(self.report),
        }


def run_lcs_demo(
    out: str | Path = "matchwork-demo",
    observer: Observer | None = None,
    seeds: Sequence[int] = SEEDS,
) -> LCSDemo:
    """Train a matcher per seed, measure all, explain the example.

    Args:
        out: Folder that receives the matcher of the first seed and the report.
        observer: Told of every stage and its progress.
        seeds: Seeds of the weights and batches.
    """
    from matchwork.studies.match_srnn.report import write_lcs_report

    began, out, observer = time.monotonic(), Path(out), observer or Observer()
    observer.stage("drawing random strings")
    dataset = load("lcs")
    figures: dict[int, LCSFigures] = {}
    matchers = []
    for number, seed in enumerate(seeds, start=1):
        observer.stage(f"training Match-SRNN, seed {seed} ({number} of {len(seeds)})")
        matcher = untrained_matcher(dataset, seed)
        train(
            matcher,
            dataset,
            seed=seed,
            show_progress=observer.bar,
            observer=SeedObserver(observer, seed),
            **TRAINING,
        )
        observer.stage(f"measuring seed {seed} on {len(dataset['test'].queries):,} test pairs")
        figures[seed] = lcs_figures(matcher, dataset["test"])
        matchers.append(matcher)
    grid = next(lcs_grids(matchers[0], [EXAMPLE], dataset["test"].label_scale))
    result = LCSDemo(dataset, figures, grid, out, time.monotonic() - began)
    observer.stage("saving")
    matchers[0].save(result.matcher_folder)
    write_lcs_report(result)
    return result


def untrained_matcher(dataset: Dataset, seed: int) -> Matcher:
    """Return a matcher with one unit; it reads which letters are equal, not their vectors."""
    tokenizer = WordTokenizer.fit(dataset["train"].texts)
    torch.manual_seed(seed)
    encoder = WordEmbedding.from_vocabulary(tokenizer.vocabulary, dim=1)
    return Matcher(tokenizer, MatchSRNN(MODEL, encoder), name="match-srnn")
