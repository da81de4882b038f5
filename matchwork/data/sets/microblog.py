"""TREC Microblog: a year of topics to test on, the other three years to train on."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cache, partial
from itertools import chain
from pathlib import Path
from typing import TypeVar

from matchwork.data.dataset import Split
from matchwork.data.pairs import read_split
from matchwork.data.partition import hold_out, part_of
from matchwork.data.tables import need_table
from matchwork.data.trec import read_qrels, read_run
from matchwork.types import Qrels

T = TypeVar("T")

YEARS = ("2011", "2012", "2013", "2014")


def microblog(folder: Path, names: Sequence[str]) -> dict[str, Split]:
    """Read a year to test on (`2013`), or the others: `train-2013`, `dev-2013` (15 % of topics)."""
    read = cache(partial(_microblog_year, folder))
    splits = {}
    for name in names:
        part, _, year = name.rpartition("-")
        if not part:
            splits[name] = read(year)
            continue
        others = _together([read(other) for other in YEARS if other != year])
        dev = hold_out(others, 0.15)
        splits[name] = part_of(
            others, name, (query for query in others.queries if (query in dev) == (part == "dev"))
        )
    return splits


def _microblog_year(folder: Path, year: str) -> Split:
    """Read the first-stage ranking of a year with texts and scores, and all its judgements."""
    split = read_split(need_table(folder, f"trec-{year}"), year)
    qrels = read_qrels(folder / f"qrels.trec-{year}.txt")
    # NIST marks spam with -2, which counts as not relevant here.
    grades: Qrels = {
        query_id: {id: max(grade, 0) for id, grade in judged.items()}
        for query_id, judged in qrels.items()
    }
    run = read_run(folder / f"ql.trec-{year}.run.gz")
    return replace(split, qrels=grades, runs={"QL": run})


def _together(years: Sequence[Split]) -> Split:
    """Merge years: topic numbers are unique across years, tweet ids stand for one text each."""
    return Split(
        "",
        queries=_union(year.queries for year in years),
        documents=_union(year.documents for year in years),
        qrels=_union(year.qrels for year in years),
        candidates=_union(year.candidates or {} for year in years),
        runs={"QL": _union(year.runs["QL"] for year in years)},
    )


def _union(mappings: Iterable[Mapping[str, T]]) -> dict[str, T]:
    return dict(chain.from_iterable(mapping.items() for mapping in mappings))
