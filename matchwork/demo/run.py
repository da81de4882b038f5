"""The demo from end to end: data, BM25, training, one table, three examples, a report."""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from matchwork.data import Dataset, Split, load
from matchwork.demo.matcher import TRAINING, untrained_matcher
from matchwork.demo.report import write_demo_report
from matchwork.evaluate import Comparison, Evaluation, compare_all, evaluate
from matchwork.evaluate.fusion import choose_weight
from matchwork.experiment import Observer
from matchwork.experiment.seed_observer import SeedObserver
from matchwork.explain import Explanation, explain, save
from matchwork.matcher import Matcher
from matchwork.rank import BM25, Calibration, Pipeline, rank_all
from matchwork.rank.fusion import fuse
from matchwork.train.api import train
from matchwork.types import Ranked, Run, Scorer

MEASURES = ("RR", "Success@1", "Success@10")
DEPTH = 50
SEED = 1
EXAMPLES = (
    "solve a linear system of equations",
    "remove duplicate rows from a table",
    "wait until a thread has finished",
)


@dataclass(frozen=True)
class DemoResult:
    """Measurements on test by system, and three examples, the first of them explained.

    `comparisons` are with BM25; `weight` is that of the matcher in the fusion, chosen on dev;
    `history` holds the numbers of every epoch.
    """

    dataset: Dataset
    evaluations: Mapping[str, Evaluation]
    comparisons: Mapping[str, Mapping[str, Comparison]]
    weight: float
    examples: Mapping[str, Sequence[Ranked]]
    explanation: Explanation
    history: Sequence[Mapping[str, float]]
    out: Path
    seconds: float

    @property
    def matcher_folder(self) -> Path:
        """Folder of the saved matcher."""
        return self.out / "matcher"

    @property
    def report(self) -> Path:
        """The report page."""
        return self.out / "report.html"

    @property
    def picture(self) -> Path:
        """Picture of the explained pair."""
        return self.out / "matching.png"

    def to_dict(self) -> dict[str, Any]:
        """Return the measurements as plain values."""
        return {
            "dataset": self.dataset.name,
            "versions": dict(self.dataset.versions),
            "num_queries": self.evaluations["BM25"].num_queries,
            "fusion_weight": self.weight,
            "systems": {
                name: {
                    "measures": evaluation.values,
                    "interval": {
                        measure: evaluation.interval(measure) for measure in evaluation.samples
                    },
                    "p": {
                        measure: comparison.p_value
                        for measure, comparison in self.comparisons.get(name, {}).items()
                    },
                }
                for name, evaluation in self.evaluations.items()
            },
            "seconds": self.seconds,
            "matcher": str(self.matcher_folder),
            "report": str(self.report),
            "picture": str(self.picture),
        }


def run_demo(out: str | Path = "matchwork-demo", observer: Observer | None = None) -> DemoResult:
    """Run the demo.

    Args:
        out: Folder that receives the matcher, the report and the picture.
        observer: Told of every stage and its progress.
    """
    began, out, observer = time.monotonic(), Path(out), observer or Observer()
    observer.stage("building pydocs from the docstrings of the installed packages")
    dataset = load("pydocs")
    test = dataset["test"]
    observer.stage(f"indexing {len(test.documents):,} documents with BM25 (stemmed)")
    bm25 = BM25.fit(test.documents, stemmer="english")
    observer.stage(f"learning word vectors from {len(test.documents):,} documents")
    matcher = untrained_matcher(dataset["train"], SEED)
    history = _train(matcher, dataset["train"], observer)
    observer.stage(f"choosing the fusion weight on {len(dataset['dev'].queries):,} dev queries")
    weight = _choose_weight(bm25, matcher, dataset["dev"], observer)
    pipeline = Pipeline(bm25, matcher, DEPTH, weight)
    observer.stage(f"measuring on {len(test.queries):,} test queries")
    runs = _test_runs(pipeline, test, observer)
    evaluations = {name: evaluate(run, test.qrels, MEASURES) for name, run in runs.items()}
    others = {name: found for name, found in evaluations.items() if name != "BM25"}
    examples = {query: pipeline.search(query, top_k=3) for query in EXAMPLES}
    best = examples[EXAMPLES[0]][0].document
    result = DemoResult(
        dataset,
        evaluations,
        compare_all(others, evaluations["BM25"]),
        weight,
        examples,
        explain(matcher, EXAMPLES[0], best.text),
        history,
        out,
        time.monotonic() - began,
    )
    observer.stage("saving")
    matcher.save(result.matcher_folder)
    save(result.explanation, result.picture)
    write_demo_report(result)
    return result


def _train(matcher: Matcher, split: Split, observer: Observer) -> list[dict[str, float]]:
    observer.stage(f"training K-NRM on {len(split.queries):,} queries with hard negatives")
    result = train(
        matcher,
        Dataset(split.name, {"train": split}),
        config=TRAINING,
        seed=SEED,
        show_progress=observer.bar,
        observer=SeedObserver(observer, SEED),
    )
    return result.history


def _rerank(bm25: BM25, matcher: Scorer, split: Split, observer: Observer) -> tuple[Run, Run]:
    """Return BM25's best documents for every query, with its scores and with the matcher's."""
    found = bm25.retrieve(split.queries, DEPTH)
    pools = {query: tuple(scores) for query, scores in found.items()}
    progress = observer.progress
    return found, rank_all(matcher, split.queries, split.documents, pools, progress=progress)


def _choose_weight(bm25: BM25, matcher: Matcher, dev: Split, observer: Observer) -> float:
    """Calibrate the matcher and return its weight in the fusion, both from dev."""
    found, scored = _rerank(bm25, matcher, dev, observer)
    flat = [(s, dev.label(q, d)) for q, scores in scored.items() for d, s in scores.items()]
    matcher.calibration = Calibration.fit([s for s, _ in flat], [label for _, label in flat])
    return choose_weight(scored, found, dev.qrels, MEASURES[0])


def _test_runs(pipeline: Pipeline, test: Split, observer: Observer) -> dict[str, Run]:
    """Rank the same candidates with the three systems."""
    found, scored = _rerank(pipeline.first, pipeline.second, test, observer)
    return {
        "BM25": found,
        pipeline.second.name: scored,
        f"BM25 + {pipeline.second.name}": fuse(scored, found, pipeline.weight or 0.0),
    }
