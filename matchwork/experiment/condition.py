"""A condition to test under: dev to choose on, test to report, and the baselines on both.

A recipe trains once and may test under several: another pool, depth, protocol or split.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from matchwork.data import Dataset, Split
from matchwork.data.partition import share_of
from matchwork.errors import ConfigError
from matchwork.evaluate.measured_split import Baseline, MeasuredSplit, fit_baseline
from matchwork.experiment.recipe.data import MAIN, ConditionSection, DataSection
from matchwork.rank.rm3 import RM3, rm3_run


@dataclass(frozen=True)
class Condition:
    """Dev and test of a condition, and the baselines on them."""

    name: str
    section: ConditionSection
    dataset: Dataset
    dev: MeasuredSplit
    test: MeasuredSplit
    baselines: Mapping[str, Baseline]

    @property
    def run_file(self) -> str:
        """Name of the file of the test run."""
        return "test.run" if self.name == MAIN else f"test.{self.name}.run"

    def to_dict(self) -> dict[str, Any]:
        """Describe the candidates; `depth` is None where the data set has its own."""
        return {
            "split": self.section.data.test,
            "options": dict(self.dataset.options),
            "depth": None if self.test.split.candidates is not None else self.section.data.depth,
        }


def make_condition(
    name: str,
    section: ConditionSection,
    dataset: Dataset,
    dev_measure: str,
    num_classes: int = 2,
) -> Condition:
    """Choose dev and test as the settings say, and measure the baselines on both."""
    data = section.data

    def measured(split: Split, measures: Sequence[str], depth: int) -> MeasuredSplit:
        protocol = data.protocol or dataset.protocol
        return MeasuredSplit(split, protocol, measures, dataset.task, depth or None, num_classes)

    dev_depth = data.depth if data.dev_depth is None else data.dev_depth
    dev_split = _share(dataset, data.dev, "dev_fraction", data.dev_fraction)
    test_split = _share(dataset, data.test, "test_fraction", data.test_fraction)
    dev = measured(dev_split, (dev_measure,), dev_depth)
    test = measured(test_split, data.measures or dataset.measures, data.depth)
    return Condition(name, section, dataset, dev, test, _baselines(data, dev, test))


def _baselines(data: DataSection, dev: MeasuredSplit, test: MeasuredSplit) -> dict[str, Baseline]:
    bm25 = dev.bm25_run(), test.bm25_run()
    runs = {"BM25": bm25}
    if RM3.name in data.baselines:
        runs[RM3.name] = rm3_run(dev.split, bm25[0]), rm3_run(test.split, bm25[1])
    for name, run in test.split.runs.items():
        runs[name] = dev.split.runs[name], run
    return {
        name: fit_baseline(dev, on_dev, test, on_test) for name, (on_dev, on_test) in runs.items()
    }


def _share(dataset: Dataset, name: str, key: str, share: float) -> Split:
    """Return the share of a split that the settings ask for."""
    whole = dataset[name]
    if share == 1:
        return whole
    part = share_of(whole, share, dataset.task)
    if not part.queries:
        raise ConfigError(
            f"{key} = {share} leaves none of the {len(whole.queries)} queries of {name!r}; raise it"
        )
    return part
