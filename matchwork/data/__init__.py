"""FILES -> SPLITS: pair files, TREC files, collections, known releases and a catalogue."""

from matchwork.data import sets as sets  # enters the named sets into the catalogue
from matchwork.data.catalogue import CATALOGUE, CatalogueEntry, Counts, count, load
from matchwork.data.collection import read_beir, read_collection
from matchwork.data.dataset import Dataset, LabelledPair, Split
from matchwork.data.formats import Columns, PairRow, read_pairs, read_split
from matchwork.data.toy import toy
from matchwork.data.trec import read_qrels, read_run, write_qrels, write_run

__all__ = [
    "CATALOGUE",
    "CatalogueEntry",
    "Columns",
    "Counts",
    "Dataset",
    "LabelledPair",
    "PairRow",
    "Split",
    "count",
    "load",
    "read_beir",
    "read_collection",
    "read_pairs",
    "read_qrels",
    "read_run",
    "read_split",
    "toy",
    "write_qrels",
    "write_run",
]
