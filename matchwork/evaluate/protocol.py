"""Protocols: which queries count, and how ties fall.

Numbers under different protocols cannot be compared, so a protocol has a name and is reported with
every number. A document is relevant if its grade is above 0; without a judgement it is not.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import TypeAlias

from matchwork.registry import Registry
from matchwork.types import Qrels, Run

Counts: TypeAlias = Callable[[Mapping[str, int], Iterable[str]], bool]


@dataclass(frozen=True)
class Protocol:
    """Which queries count, and how ties fall.

    Args:
        counts: Whether a query counts, given its judgements and its ranked documents.
        ties_by_id: Whether documents of equal score are ordered by descending id, as trec_eval
            does, so that numbers can be compared with published ones; otherwise ties count
            against the system.
    """

    counts: Counts
    ties_by_id: bool = False


PROTOCOLS: Registry[Protocol] = Registry("protocol")


def _has_positive(judged: Mapping[str, int], ranked: Iterable[str]) -> bool:
    """Keep queries with a relevant document among the judgements, ranked or not."""
    return any(grade > 0 for grade in judged.values())


def _has_both(judged: Mapping[str, int], ranked: Iterable[str]) -> bool:
    """Keep queries whose ranked documents are neither all relevant nor all not relevant."""
    return len({judged.get(document, 0) > 0 for document in ranked}) == 2


# A query without relevant documents counts 0, as in `trec_eval -c`.
PROTOCOLS.add("raw", Protocol(lambda judged, ranked: True))
PROTOCOLS.add("trec-eval", Protocol(lambda judged, ranked: True, ties_by_id=True))
PROTOCOLS.add("has-positive", Protocol(_has_positive))
PROTOCOLS.add("clean", Protocol(_has_both))


def counted_queries(protocol: str, run: Run, qrels: Qrels) -> list[str]:
    """Return the ids of the judged queries that count, sorted.

    For a query that is not in the run, `clean` looks at its judged documents instead.
    """
    counts = PROTOCOLS[protocol].counts
    return [id for id in sorted(qrels) if counts(qrels[id], run.get(id) or qrels[id])]
