"""Cranfield: the classic collection of aerodynamics abstracts."""

from matchwork.data.catalogue import CATALOGUE, CatalogueEntry, Counts
from matchwork.data.collection import read_collection_splits

CATALOGUE.add(
    "cranfield",
    CatalogueEntry(
        title="Cranfield: 225 queries over 1,400 abstracts of aerodynamics",
        folder="ir_cranfield",
        read=read_collection_splits,
        splits={"test": Counts(225, 1837, 1612, documents=1400)},
        measures=("AP", "nDCG@10"),
        licence="none stated; freely distributed for research",
        citation="Cleverdon: The Cranfield tests on index language devices, 1967",
        notes="Grades 4 to 1 from the codes 1 to 4. A document is its title and its body.",
    ),
)
