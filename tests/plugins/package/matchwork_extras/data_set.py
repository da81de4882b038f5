"""A data set: four questions about animals, made here."""

from matchwork.data import CATALOGUE, CatalogueEntry, Dataset, Split

_LEGS = {"spider": 8, "ant": 6, "dog": 4, "bird": 2}


def _split(name):
    queries = {f"{name}-{animal}": f"how many legs has a {animal}" for animal in _LEGS}
    documents = {f"d-{animal}": f"a {animal} has {legs} legs" for animal, legs in _LEGS.items()}
    qrels = {
        query: {document: int(query.endswith(document[2:])) for document in documents}
        for query in queries
    }
    return Split(name, queries, documents, qrels, {query: tuple(documents) for query in queries})


def legs():
    """Return the data set."""
    return Dataset("extras-legs", {name: _split(name) for name in ("train", "dev", "test")})


CATALOGUE.add(
    "extras-legs",
    CatalogueEntry(
        title="Legs of animals",
        licence="none",
        build=legs,
        splits={"train": None, "dev": None, "test": None},
    ),
)
