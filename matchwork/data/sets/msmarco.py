"""MS MARCO passages, as Microsoft packs them."""

from collections import defaultdict
from collections.abc import Mapping
from pathlib import Path

from matchwork.data.collection import collection_split
from matchwork.data.dataset import Dataset
from matchwork.data.readers import READERS, find_file, need_file, release
from matchwork.data.tables import tab_separated
from matchwork.data.trec import read_qrels


def read_msmarco(folder: str | Path) -> Dataset:
    """Read `collection.tsv`, `queries.*.tsv`, `qrels.*.tsv` and, if present, `top1000.dev`.

    Train keeps the judged queries; dev is `dev.small`. The whole collection is held in memory
    (about 5 GB for the 8.8 million passages of the release).
    """
    folder = Path(folder)
    documents = _id_and_text(need_file(folder, "collection.tsv"))
    pools_file = find_file(folder, "top1000.dev") or find_file(folder, "top1000.dev.tsv")
    splits = {}
    for name, theirs in (("train", "train"), ("dev", "dev.small")):
        path = need_file(folder, f"queries.{theirs}.tsv")
        qrels = read_qrels(need_file(folder, f"qrels.{theirs}.tsv"))
        queries = {id: text for id, text in _id_and_text(path).items() if id in qrels}
        pools = _top_1000(pools_file, queries) if pools_file and name == "dev" else None
        splits[name] = collection_split(name, queries, documents, qrels, pools, source=path)
    return Dataset("msmarco-passage", splits, measures=("RR@10",))


def _id_and_text(path: Path) -> dict[str, str]:
    return {id: text for _, (id, text) in tab_separated(path, 2)}


def _top_1000(path: Path, queries: Mapping[str, str]) -> dict[str, tuple[str, ...]]:
    pools: defaultdict[str, dict[str, None]] = defaultdict(dict)
    for _, (query_id, document_id, _, _) in tab_separated(path, 4):
        if query_id in queries:
            pools[query_id][document_id] = None
    return {query_id: tuple(pool) for query_id, pool in pools.items()}


READERS.add("msmarco-passage", release("collection.tsv*", read_msmarco))
