"""`evaluate`: measure a scorer on a split, or a run against judgements."""

from collections.abc import Sequence

from matchwork.data.dataset import Split
from matchwork.errors import ConfigError
from matchwork.evaluate.evaluation import Evaluation
from matchwork.evaluate.measured_split import MeasuredSplit
from matchwork.evaluate.measures import common_task
from matchwork.evaluate.ranking import evaluate_run
from matchwork.types import Progress, Qrels, Run, Scorer


def evaluate(
    system: Run | Scorer,
    truth: Qrels | Split,
    measures: Sequence[str] = ("AP", "RR"),
    protocol: str = "raw",
    *,
    depth: int | None = 100,
    progress: Progress | None = None,
) -> Evaluation:
    """Measure a scorer on a split, or a run against judgements.

    Args:
        system: A scorer, or a run: scores by query and document id.
        truth: The split that the scorer ranks, or the judgements of the run.
        measures: Names of measures of one task.
        protocol: Name in `PROTOCOLS`: which queries count, and how ties fall.
        depth: For a split without candidates: number of BM25's best documents to rank, None for
            all documents.
        progress: Called with the number of pairs scored, and of how many.

    Raises:
        ConfigError: A measure is unknown, or measures of several tasks are mixed.
        DataError: Run and judgements do not belong together.
    """
    if isinstance(system, dict):
        qrels = truth.qrels if isinstance(truth, Split) else truth
        return evaluate_run(system, qrels, measures, protocol)
    if not isinstance(truth, Split):
        raise ConfigError(
            f"evaluate takes a scorer and a split, or a run and judgements; got {system!r} with "
            f"{type(truth).__name__}"
        )
    classes = max(getattr(system, "num_classes", 2), 2)
    split = MeasuredSplit(truth, protocol, measures, common_task(measures), depth, classes)
    by_class = split.task == "classification" and classes > 2
    run = None if by_class else split.run(system, progress)
    return split.evaluate_scorer(system, run, getattr(system, "calibration", None))
