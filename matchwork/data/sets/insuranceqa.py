"""InsuranceQA V2: consumer questions over one shared set of answers."""

from collections.abc import Sequence
from pathlib import Path

from matchwork.data.catalogue import CATALOGUE, CatalogueEntry, Counts, Options
from matchwork.data.collection import Pools, collection_split, insert_truth, read_pools, read_texts
from matchwork.data.dataset import Split
from matchwork.data.tables import need_table
from matchwork.data.trec import read_qrels
from matchwork.types import Qrels


def insuranceqa(folder: Path, names: Sequence[str], options: Options) -> dict[str, Split]:
    """Read questions over one shared set of answers, ranked in pools or among all answers.

    `pool="five"` draws short lists of an answer and four that BM25 finds similar, for training
    too. Other training pools are always the 100 candidates with the relevant answers inserted: a
    pool without an answer teaches nothing.
    """
    answers = read_texts(need_table(folder, "corpus"))
    lists = None
    if options["pool"] == "five":
        from matchwork.data.sets.short_lists import ShortLists  # SciPy is slow to import

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


CATALOGUE.add(
    "insuranceqa-v2",
    CatalogueEntry(
        title="InsuranceQA V2: consumer questions over 27,413 answers",
        folder="insuranceqa_v2",
        read=insuranceqa,
        splits={
            "train": Counts(12889, 21325, 21325, documents=27413),
            "dev": Counts(2000, 3354, 3354, documents=27413),
            "test": Counts(2000, 3308, 3308, documents=27413),
        },
        measures=("P@1", "RR", "AP"),
        options={"pool": ("pool500", "pool100", "five", "full"), "insert_truth": (False, True)},
        licence="as is, research only",
        citation="Feng et al.: Applying deep learning to answer selection, ASRU 2015",
        notes="Official Solr pools; 375 of 2,000 test pools of 500 lack every answer unless "
        "insert_truth adds them. V1 papers report P@1 on pools that contain the truth. "
        "pool=five is the first answer of each question and four drawn from BM25's best 1,000 "
        "for that answer.",
    ),
)
