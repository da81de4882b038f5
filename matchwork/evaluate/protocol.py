"""Which queries count, and how ties fall: part of every number, so a protocol has a name.

A document is relevant when its grade is above 0; one that nobody judged is not.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import TypeAlias

from matchwork.registry import Registry
from matchwork.types import Qrels, Run

Keep: TypeAlias = Callable[[Mapping[str, int], Iterable[str]], bool]
"""Whether a query counts, from its judgements and the documents ranked for it."""

PROTOCOLS: Registry[Keep] = Registry("protocol")


@PROTOCOLS.register("raw")
def keep_every_query(judged: Mapping[str, int], ranked: Iterable[str]) -> bool:
    """Keep all; a query without relevant documents counts 0, as in `trec_eval -c`."""
    return True


@PROTOCOLS.register("has-positive")
def has_positive(judged: Mapping[str, int], ranked: Iterable[str]) -> bool:
    """Keep queries with a relevant document among the judgements, ranked or not."""
    return any(grade > 0 for grade in judged.values())


@PROTOCOLS.register("clean")
def has_both(judged: Mapping[str, int], ranked: Iterable[str]) -> bool:
    """Keep queries whose ranked documents are neither all relevant nor all not relevant."""
    return len({judged.get(document, 0) > 0 for document in ranked}) == 2


@PROTOCOLS.register("trec-eval")
def keep_every_judged_query(judged: Mapping[str, int], ranked: Iterable[str]) -> bool:
    """Keep all, as `raw` does; ties fall as in trec_eval."""
    return True


TIES_BY_ID = frozenset({"trec-eval"})
"""Protocols under which equal scores fall by descending document id, whatever the judgements.

Published numbers made with trec_eval can only be compared under its rule. Elsewhere ties count
against the system.
"""


def kept_queries(protocol: str, run: Run, qrels: Qrels) -> list[str]:
    """The judged queries that count, sorted by id.

    A query that the run leaves out is not excused: `clean` looks at its judged documents.
    """
    keep = PROTOCOLS[protocol]
    return [query for query in sorted(qrels) if keep(qrels[query], run.get(query) or qrels[query])]
