"""A reader: folders with one file of `question = answer` lines a split."""

from matchwork.data import Dataset, Split
from matchwork.data.readers import READERS, Reader


def _read(folder, splits, columns):
    found = {}
    for path in sorted(folder.glob("*.equals")):
        pairs = [line.split(" = ") for line in path.read_text().splitlines()]
        documents = {f"d{number}": answer for number, (_, answer) in enumerate(pairs)}
        queries = {f"q{number}": question for number, (question, _) in enumerate(pairs)}
        qrels = {f"q{number}": {f"d{number}": 1} for number in range(len(pairs))}
        candidates = {query: tuple(documents) for query in queries}
        found[path.stem] = Split(path.stem, queries, documents, qrels, candidates)
    return Dataset(folder.name, found)


READERS.add("extras-equals", Reader(lambda folder: any(folder.glob("*.equals")), _read))
