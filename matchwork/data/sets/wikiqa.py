"""WikiQA as Microsoft released it."""

from pathlib import Path

from matchwork.data.dataset import Columns, Dataset
from matchwork.data.pairs import read_split
from matchwork.data.readers import READERS, need_file, release


def read_wikiqa(folder: str | Path) -> Dataset:
    """Read `WikiQA-{train,dev,test}.tsv`: questions and the sentences of one page each."""
    columns = Columns(
        query="Question",
        document="Sentence",
        label="Label",
        query_id="QuestionID",
        document_id="SentenceID",
    )
    splits = {
        name: read_split(need_file(Path(folder), f"WikiQA-{name}.tsv"), name, columns)
        for name in ("train", "dev", "test")
    }
    return Dataset("wikiqa", splits, protocol="has-positive")


READERS.add("wikiqa", release("WikiQA-train.tsv*", read_wikiqa))
