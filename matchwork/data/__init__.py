"""FILES -> SPLITS: read data sets, from the catalogue or from files of one's own."""

from matchwork.data import sets as sets  # registers the named data sets
from matchwork.data.catalogue import CATALOGUE, CatalogueEntry, Counts, count
from matchwork.data.collection import read_beir, read_collection
from matchwork.data.dataset import Columns, Dataset, LabelledPair, Split
from matchwork.data.loading import load
from matchwork.data.pairs import PairRow, read_pairs, read_split
from matchwork.data.readers import READERS, Reader
from matchwork.data.sets.toy import toy
from matchwork.data.tables import FORMATS, TableFormat
from matchwork.data.trec import read_qrels, read_run, write_qrels, write_run

__all__ = [
    "CATALOGUE",
    "FORMATS",
    "READERS",
    "CatalogueEntry",
    "Columns",
    "Counts",
    "Dataset",
    "LabelledPair",
    "PairRow",
    "Reader",
    "Split",
    "TableFormat",
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
