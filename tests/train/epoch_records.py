"""An observer that collects the records of all epochs."""

from collections.abc import Mapping

from matchwork.train import TrainObserver


class EpochRecords(TrainObserver):
    """Keeps each record as it comes."""

    def __init__(self) -> None:
        self.records: list[Mapping[str, float]] = []

    def epoch(self, record: Mapping[str, float]) -> None:
        self.records.append(record)
