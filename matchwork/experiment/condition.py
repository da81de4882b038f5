"""One way to test a matcher: dev to choose on, test to report, and the baselines on both.

A recipe trains once and may test under several: another pool, depth, protocol or split.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from matchwork.data import Dataset, Split
from matchwork.data.partition import share_of
from matchwork.errors import ConfigError
from matchwork.evaluate import Baseline, MeasuredSplit, fit_baseline
from matchwork.experiment.recipe.data import MAIN, ConditionSection
from matchwork.rank.rm3 import RM3, rm3_run


def _share(dataset: Dataset, name: str, key: str, share: float) -> Split:
    """So much of a split as its settings ask for."""
    whole = dataset[name]
    if share == 1:
        return whole
    part = share_of(whole, share, dataset.task)
    if not part.queries:
        raise ConfigError(
            f"{key} = {share} leaves none of the {len(whole.queries)} queries of {name!r}; raise it"
        )
    return part


@dataclass(frozen=True)
class Condition:
    """Dev and test, measured alike."""

    name: str
    section: ConditionSection
    dataset: Dataset
    dev: MeasuredSplit
    test: MeasuredSplit

    @classmethod
    def of(
        cls,
        name: str,
        section: ConditionSection,
        dataset: Dataset,
        dev_measure: str,
        num_classes: int = 2,
    ) -> "Condition":
        """What the settings say, on the data they chose."""
        data = section.data

        def measured(split: Split, measures: Sequence[str], depth: int) -> MeasuredSplit:
            protocol = data.protocol or dataset.protocol
            return MeasuredSplit(
                split, protocol, measures, dataset.task, depth or None, num_classes
            )

        dev = _share(dataset, data.dev, "dev_fraction", data.dev_fraction)
        test = _share(dataset, data.test, "test_fraction", data.test_fraction)
        dev_depth = data.depth if data.dev_depth is None else data.dev_depth
        return cls(
            name,
            section,
            dataset,
            measured(dev, (dev_measure,), dev_depth),
            measured(test, data.measures or dataset.measures, data.depth),
        )

    def with_section(self, section: ConditionSection) -> "Condition":
        """The same test under other published numbers; baselines are not ranked again."""
        other = replace(self, section=section)
        if "baselines" in vars(self):
            vars(other)["baselines"] = self.baselines
        return other

    @property
    def run_file(self) -> str:
        """What the file of the test run is called."""
        return "test.run" if self.name == MAIN else f"test.{self.name}.run"

    @cached_property
    def baselines(self) -> dict[str, Baseline]:
        """BM25 first, then what the recipe asks for, then the runs the data set comes with."""
        dev, test = self.dev.bm25_run(), self.test.bm25_run()
        runs = {"BM25": (dev, test)}
        if RM3.name in self.section.data.baselines:
            runs[RM3.name] = rm3_run(self.dev.split, dev), rm3_run(self.test.split, test)
        for name, run in self.test.split.runs.items():
            runs[name] = self.dev.split.runs[name], run
        return {
            name: fit_baseline(self.dev, dev_run, self.test, test_run)
            for name, (dev_run, test_run) in runs.items()
        }

    def to_dict(self) -> dict[str, Any]:
        """What is ranked: `depth` is None where the data set names the candidates itself."""
        return {
            "split": self.section.data.test,
            "options": dict(self.dataset.options),
            "depth": None if self.test.split.candidates is not None else self.section.data.depth,
        }
