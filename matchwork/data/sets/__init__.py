"""The named data sets, one TOML file each, with code beside it where the files need some."""

from pathlib import Path

from matchwork.data.catalogue import CATALOGUE, read_entry
from matchwork.data.sets import hcan as hcan  # this and the next ones register readers
from matchwork.data.sets import insuranceqa_release as insuranceqa_release
from matchwork.data.sets import msmarco as msmarco
from matchwork.data.sets import quora as quora
from matchwork.data.sets import wikiqa as wikiqa

for _path in Path(__file__).parent.glob("*.toml"):
    CATALOGUE.add(_path.stem, read_entry(_path))
