"""PubMed: titles that search for their abstracts."""

from collections.abc import Sequence
from pathlib import Path

from matchwork.data.collection import collection_split, read_texts
from matchwork.data.dataset import Split
from matchwork.data.tables import need_table
from matchwork.data.trec import read_qrels


def pubmed(folder: Path, names: Sequence[str], pool: str) -> dict[str, Split]:
    """Read titles that search the abstracts of their own split, or of all three (`pool="full"`).

    Training titles always search training abstracts only: nothing that is fitted on the training
    split has seen a test text.
    """
    abstracts = read_texts(need_table(folder, "corpus"))
    splits = {}
    for name in names:
        queries = read_texts(need_table(folder, f"queries.{name}"), "query")
        qrels = read_qrels(folder / f"qrels.{name}.txt")
        documents = abstracts
        if name == "train" or pool != "full":
            own = {document_id for judged in qrels.values() for document_id in judged}
            documents = {id: text for id, text in abstracts.items() if id in own}
        splits[name] = collection_split(name, queries, documents, qrels, source=folder)
    return splits
