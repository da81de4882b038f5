"""Collections: queries, the corpus they search, judgements, and candidate pools if any."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from matchwork.data.dataset import Dataset, Split, choose_splits
from matchwork.data.pairs import ALIASES, find_column, missing_column, no_rows, to_id, to_text
from matchwork.data.readers import READERS, Reader
from matchwork.data.tables import find_table, need_table, read_table
from matchwork.data.trec import read_qrels
from matchwork.errors import DataError
from matchwork.types import Qrels

_ALIASES: Mapping[str, tuple[str, ...]] = {
    **ALIASES,
    "query": (*ALIASES["query"], "text"),
    "query_id": (*ALIASES["query_id"], "id"),
    "document_id": (*ALIASES["document_id"], "id"),
    "grade": ("score", "grade", "label", "relevance"),
    "pool": ("docids", "documentids", "pool", "candidates"),
    "title": ("title",),
}

Pools = Mapping[str, tuple[str, ...]]


def read_texts(path: str | Path, kind: str = "document") -> dict[str, str]:
    """Read the texts of a kind ("document" or "query") by id; a `title` is put in front of them."""
    path = Path(path)
    table = read_table(path)
    columns = [_column(path, table.names, f"{kind}_id"), _column(path, table.names, kind)]
    title_column = find_column(table.names, _ALIASES["title"]) if kind == "document" else None
    if title_column is not None:
        columns.append(title_column)
    texts: dict[str, str] = {}
    for line, (id_value, text_value, *title) in table.select(columns):
        id = to_id(id_value, path, line, columns[0])
        text = to_text(text_value, path, line, columns[1])
        if id in texts:
            raise DataError(f"id {id!r} is there twice", path=path, line=line, column=columns[0])
        texts[id] = f"{title[0]} {text}".rstrip() if title and title[0] else text
    if not texts:
        raise no_rows(path)
    return texts


def read_pools(path: str | Path) -> dict[str, tuple[str, ...]]:
    """Read the candidates of each query: a query id, and document ids separated by spaces."""
    path = Path(path)
    table = read_table(path)
    columns = [_column(path, table.names, "query_id"), _column(path, table.names, "pool")]
    return {str(query_id): tuple(str(ids).split()) for _, (query_id, ids) in table.select(columns)}


def collection_split(
    name: str,
    queries: Mapping[str, str],
    documents: Mapping[str, str],
    qrels: Qrels,
    pools: Pools | None = None,
    *,
    source: Path,
) -> Split:
    """Check that parts belong together, and make a split; without pools, search the corpus."""
    for kind, ids in (("judgements", qrels), ("pools", pools or {})):
        unknown = [query_id for query_id in ids if query_id not in queries]
        if unknown:
            raise DataError(
                f"the {kind} of split {name!r} name {len(unknown)} queries that are not in "
                f"the queries file, the first is {unknown[0]!r}",
                path=source,
            )
    judged = {document_id for grades in qrels.values() for document_id in grades}
    if judged.isdisjoint(documents):
        raise DataError(f"no judged document of split {name!r} is in the corpus", path=source)
    for query_id, pool in (pools or {}).items():
        if len(set(pool)) != len(pool) or not all(map(documents.__contains__, pool)):
            raise DataError(
                f"the pool of query {query_id!r} lists a document twice or one that is not in "
                "the corpus",
                path=source,
            )
    return Split(name, queries, documents, qrels, pools)


def with_truth(pools: Pools, qrels: Qrels) -> dict[str, tuple[str, ...]]:
    """Return the pools with missing relevant documents added at the end."""
    complete = {}
    for query_id, pool in pools.items():
        relevant = [id for id, grade in qrels.get(query_id, {}).items() if grade > 0]
        complete[query_id] = tuple(dict.fromkeys((*pool, *relevant)))
    return complete


def read_collection(folder: str | Path, splits: Sequence[str] | None = None) -> dict[str, Split]:
    """Read `corpus`, `queries.SPLIT`, `qrels.SPLIT` and any `pool.SPLIT`; no SPLIT means `test`."""
    folder = Path(folder)
    documents = read_texts(need_table(folder, "corpus"))
    named = {path.name.split(".")[1] for path in folder.glob("queries.*.*")}
    stems = {
        name: f".{name}" for name in sorted(named) if find_table(folder, f"queries.{name}")
    } or {"test": ""}
    return {
        name: collection_split(
            name,
            read_texts(need_table(folder, f"queries{stems[name]}"), "query"),
            documents,
            read_qrels(_qrels_file(folder, stems[name])),
            read_pools(pools) if (pools := find_table(folder, f"pool{stems[name]}")) else None,
            source=folder,
        )
        for name in choose_splits(splits, stems, folder)
    }


def read_beir(folder: str | Path, splits: Sequence[str] | None = None) -> dict[str, Split]:
    """Read a BEIR folder: `corpus.jsonl`, `queries.jsonl` and `qrels/SPLIT.tsv`."""
    folder = Path(folder)
    documents = read_texts(need_table(folder, "corpus"))
    queries = read_texts(need_table(folder, "queries"), "query")
    names = sorted({path.name.split(".")[0] for path in (folder / "qrels").glob("*.tsv*")})
    made = {}
    for name in choose_splits(splits, names, folder):
        path = need_table(folder / "qrels", name)
        qrels = _beir_qrels(path)
        judged = {query_id: queries[query_id] for query_id in qrels if query_id in queries}
        made[name] = collection_split(name, judged, documents, qrels, source=path)
    return made


def _beir_qrels(path: Path) -> Qrels:
    table = read_table(path)
    columns = [_column(path, table.names, kind) for kind in ("query_id", "document_id", "grade")]
    qrels: Qrels = {}
    for line, (query_id, document_id, grade) in table.select(columns):
        try:
            qrels.setdefault(str(query_id), {})[str(document_id)] = int(str(grade))
        except ValueError:
            message = f"expected a whole number, found {grade!r}"
            raise DataError(message, path=path, line=line, column=columns[2]) from None
    if not qrels:
        raise no_rows(path)
    return qrels


def _column(path: Path, names: Sequence[str], kind: str) -> str:
    column = find_column(names, _ALIASES[kind])
    if column is None:
        raise missing_column(path, names, kind)
    return column


def _qrels_file(folder: Path, ending: str) -> Path:
    for suffix in ("txt", "tsv", "qrels", "txt.gz", "tsv.gz"):
        path = folder / f"qrels{ending}.{suffix}"
        if path.is_file():
            return path
    raise DataError(f"no judgements qrels{ending}.txt or .tsv", path=folder)


def _reader(
    read: Callable[[Path, Sequence[str] | None], dict[str, Split]], has_qrels_folder: bool
) -> Reader:
    return Reader(
        lambda folder: (
            find_table(folder, "corpus") is not None
            and (folder / "qrels").is_dir() == has_qrels_folder
        ),
        lambda folder, splits, columns: Dataset(folder.name, read(folder, splits)),
        generic=True,
    )


READERS.add("beir", _reader(read_beir, has_qrels_folder=True))
READERS.add("collection", _reader(read_collection, has_qrels_folder=False))
