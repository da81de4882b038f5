"""WikiQA: the catalogued pair files and Microsoft's release."""

from pathlib import Path

from matchwork.data.catalogue import CATALOGUE, CatalogueEntry, Counts
from matchwork.data.dataset import Columns, Dataset
from matchwork.data.pairs import read_split
from matchwork.data.readers import READERS, need_file, release

CATALOGUE.add(
    "wikiqa",
    CatalogueEntry(
        title="WikiQA: questions from a search log and sentences of one Wikipedia page",
        folder="wikiqa",
        splits={
            "train": Counts(2118, 20360, 1040),
            "dev": Counts(296, 2733, 140),
            "test": Counts(633, 6165, 293),
        },
        protocol="has-positive",
        licence="Microsoft Research Data License: research only, same terms when passed on",
        citation="Yang, Yih, Meek: WikiQA, EMNLP 2015",
        notes="243 test questions have a positive. The order of the sentences alone beats BM25. "
        "One question is in both train and test.",
    ),
)


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
