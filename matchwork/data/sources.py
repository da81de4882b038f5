"""How the splits of a catalogued folder, or of a path of your own, are read.

A `Source` is a function of folder, split names and options; the catalogue names one per set.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cache, partial
from itertools import chain
from pathlib import Path
from typing import TypeAlias, TypeVar

from matchwork.data.collection import (
    Pools,
    chosen,
    collection_split,
    insert_truth,
    need_table,
    read_beir,
    read_collection,
    read_pools,
    read_texts,
)
from matchwork.data.dataset import Dataset, Split
from matchwork.data.formats import Columns, build_split, read_pairs, read_split
from matchwork.data.layouts import LAYOUTS
from matchwork.data.partition import TENTHS, cut_by_query, hold_out, part_of, tenth
from matchwork.data.tables import find_table
from matchwork.data.trec import read_qrels, read_run
from matchwork.errors import DataError
from matchwork.types import Qrels

Options: TypeAlias = Mapping[str, str | bool]
Source: TypeAlias = Callable[[Path, Sequence[str], Options], dict[str, Split]]

T = TypeVar("T")

MICROBLOG_YEARS = ("2011", "2012", "2013", "2014")

PAIR_FILES = {"train": "train", "dev": "dev", "valid": "dev", "validation": "dev", "test": "test"}
"""Names of pair files in a folder, and the split each one is."""


def pair_files(folder: Path, names: Sequence[str], options: Options) -> dict[str, Split]:
    """One pair file a split; `dev-clean` is `dev_clean.tsv.gz`."""
    return {name: read_split(need_table(folder, name.replace("-", "_")), name) for name in names}


def twitterurl(folder: Path, names: Sequence[str], options: Options) -> dict[str, Split]:
    """Pair files without a dev split: a tenth of the training anchors, by hash, become it."""
    splits = {}
    for name in names:
        path = need_table(folder, "test" if name == "test" else "train")
        rows = (
            row
            for row in read_pairs(path)
            if name == "test" or (tenth(row.query) == 0) == (name == "dev")
        )
        splits[name] = build_split(name, rows, path)
    return splits


def microblog(folder: Path, names: Sequence[str], options: Options) -> dict[str, Split]:
    """A year to test on (`2013`), or the other years to learn from (`train-2013`, `dev-2013`).

    15 % of the topics of the other years are dev.
    """
    read = cache(partial(_microblog_year, folder))
    splits = {}
    for name in names:
        part, _, year = name.rpartition("-")
        if not part:
            splits[name] = read(year)
            continue
        others = _together([read(other) for other in MICROBLOG_YEARS if other != year])
        dev = hold_out(others, 0.15)
        splits[name] = part_of(
            others, name, (query for query in others.queries if (query in dev) == (part == "dev"))
        )
    return splits


def _microblog_year(folder: Path, year: str) -> Split:
    """A year's first-stage ranking with texts, its scores, and all judgements of that year."""
    split = read_split(need_table(folder, f"trec-{year}"), year)
    qrels = read_qrels(folder / f"qrels.trec-{year}.txt")
    # NIST marks spam with -2; for us nothing is worse than not relevant.
    grades: Qrels = {
        query_id: {id: max(grade, 0) for id, grade in judged.items()}
        for query_id, judged in qrels.items()
    }
    run = read_run(folder / f"ql.trec-{year}.run.gz")
    return replace(split, qrels=grades, runs={"QL": run})


def _together(years: Sequence[Split]) -> Split:
    """Topics are numbered through the years, and a tweet keeps its id: nothing collides."""
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


def insuranceqa(folder: Path, names: Sequence[str], options: Options) -> dict[str, Split]:
    """Questions over one shared set of answers, ranked in pools or among all of them.

    `pool="five"` makes short lists of an answer and four that BM25 finds alike, training too.
    Other training pools are always the 100 candidates with the truth inserted: without an answer
    in it a pool teaches nothing.
    """
    answers = read_texts(need_table(folder, "corpus"))
    lists = None
    if options["pool"] == "five":
        from matchwork.data.short_lists import ShortLists  # SciPy is slow to import

        lists = ShortLists(answers)
    splits = {}
    for name in names:
        queries = read_texts(need_table(folder, f"queries.{name}"), "query")
        qrels = read_qrels(folder / f"qrels.{name}.txt")
        pools = lists.draw(qrels) if lists else _official_pools(folder, name, options, qrels)
        splits[name] = collection_split(name, queries, answers, qrels, pools, source=folder)
    return splits


def _official_pools(folder: Path, name: str, options: Options, qrels: Qrels) -> Pools | None:
    if name == "train":
        return insert_truth(read_pools(need_table(folder, "pool100.train")), qrels)
    if options["pool"] == "full":
        return None
    pools = read_pools(need_table(folder, f"{options['pool']}.{name}"))
    return insert_truth(pools, qrels) if options["insert_truth"] else pools


def pubmed(folder: Path, names: Sequence[str], options: Options) -> dict[str, Split]:
    """Titles that search the abstracts of their own split, or of all three (`pool="full"`).

    Training titles always search training abstracts, so that nothing fitted on the training
    split has seen a test text.
    """
    abstracts = read_texts(need_table(folder, "corpus"))
    splits = {}
    for name in names:
        queries = read_texts(need_table(folder, f"queries.{name}"), "query")
        qrels = read_qrels(folder / f"qrels.{name}.txt")
        documents = abstracts
        if name == "train" or options["pool"] != "full":
            own = {document_id for judged in qrels.values() for document_id in judged}
            documents = {id: text for id, text in abstracts.items() if id in own}
        splits[name] = collection_split(name, queries, documents, qrels, source=folder)
    return splits


def collection(folder: Path, names: Sequence[str], options: Options) -> dict[str, Split]:
    """Queries, corpus and judgements, nothing else."""
    return read_collection(folder, names)


def read_path(
    path: Path, splits: Sequence[str] | None = None, columns: Columns | None = None
) -> Dataset:
    """A pair file (one split, named like the file), or a folder.

    A pair file that is asked for train, dev or test is cut into these by query.
    A folder is a known release, a BEIR folder, pair files named after their splits, or a
    collection; it is recognised by the files in it, in that order.
    """
    if path.is_file():
        name = path.name.split(".")[0]
        if splits is not None and name not in splits and set(splits) <= TENTHS.keys():
            parts = cut_by_query(read_split(path, name, columns))
            return Dataset(name, {part: parts[part] for part in splits})
        chosen(splits, [name], path)
        return Dataset(name, {name: read_split(path, name, columns)})
    for layout in LAYOUTS.values():
        if any(path.glob(layout.marker)):
            dataset = layout.read(path)
            names = chosen(splits, dataset.splits, path)
            return replace(dataset, splits={name: dataset.splits[name] for name in names})
    if find_table(path, "corpus"):
        is_beir = (path / "qrels").is_dir()
        return Dataset(path.name, (read_beir if is_beir else read_collection)(path, splits))
    files = {split: file for stem, split in PAIR_FILES.items() if (file := find_table(path, stem))}
    if not files:
        raise DataError(
            "no data recognised in the folder; it may hold train, dev and test pair files "
            "(.tsv, .csv, .jsonl, .parquet), a BEIR folder (corpus.jsonl, queries.jsonl, qrels/), "
            "a collection (corpus.tsv, queries.SPLIT.tsv, qrels.SPLIT.txt) or a release: "
            f"{', '.join(LAYOUTS)}",
            path=path,
        )
    return Dataset(
        path.name,
        {name: read_split(files[name], name, columns) for name in chosen(splits, files, path)},
    )
