"""FILES -> SPLITS: read data sets, from the catalogue or from files of one's own."""

from matchwork.data import sets as sets  # registers the named data sets
from matchwork.data.catalogue import CATALOGUE as CATALOGUE
from matchwork.data.catalogue import CatalogueEntry as CatalogueEntry
from matchwork.data.catalogue import Counts as Counts
from matchwork.data.catalogue import count as count
from matchwork.data.collection import read_beir as read_beir
from matchwork.data.collection import read_collection as read_collection
from matchwork.data.dataset import Columns as Columns
from matchwork.data.dataset import Dataset as Dataset
from matchwork.data.dataset import LabelledPair as LabelledPair
from matchwork.data.dataset import Split as Split
from matchwork.data.loading import load as load
from matchwork.data.pairs import PairRow as PairRow
from matchwork.data.pairs import read_pairs as read_pairs
from matchwork.data.pairs import read_split as read_split
from matchwork.data.readers import READERS as READERS
from matchwork.data.readers import Reader as Reader
from matchwork.data.sets.toy import toy as toy
from matchwork.data.tables import FORMATS as FORMATS
from matchwork.data.tables import TableFormat as TableFormat
from matchwork.data.trec import read_qrels as read_qrels
from matchwork.data.trec import read_run as read_run
from matchwork.data.trec import write_qrels as write_qrels
from matchwork.data.trec import write_run as write_run
