"""Queries by unknown words: the out-of-vocabulary partition of IASM.

Zhao et al., ICDM 2020, tables V and VI. Only nouns and verbs count. A word is IV (training texts
and pre-trained vectors know it), OOTV (vectors only), OOEV (training only) or OOBV (neither).
The paper defines OOEV with the words of OOTV; the complement is the only sensible reading.

The words of a query are its own and those of all its relevant documents (in the paper's sets there
is one), whole texts, also beyond a matcher's length limits. The hardest word decides: OOBV before
OOEV before OOTV before IV, which makes the classes a partition. Counts by any word are given too:
the paper's own counts on PubMed sum to more than its pairs.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

from matchwork.data import Split
from matchwork.errors import ConfigError
from matchwork.studies.iasm.groups import Evaluations, Grouping, measure_groups, relevant_texts
from matchwork.studies.iasm.tagging import PatternTagger, Tagger, covered
from matchwork.text import Tokenizer, Vocabulary, WordClass

MEASURES = ("P@1", "RR", "AP")
HARDEST_FIRST = (WordClass.OOBV, WordClass.OOEV, WordClass.OOTV)


@dataclass(frozen=True)
class OutOfVocabulary(Grouping):
    """The four classes of queries, easiest first, and how each system ranks them.

    `containing` is class -> number of queries with any such word; a query may count in several.
    Queries without noun or verb (`num_without_words`) count as IV.
    """

    containing: Mapping[str, int]
    num_without_words: int
    has_vectors: bool
    tagger: str


def out_of_vocabulary(
    split: Split,
    evaluations: Evaluations,
    tokenizer: Tokenizer,
    *,
    tagger: Tagger | None = None,
    seed: int = 0,
) -> OutOfVocabulary:
    """Measure P@1, RR and AP by how well the vocabulary of a word tokenizer knows the words.

    Args:
        split: The split.
        evaluations: System -> its evaluation, with these measures.
        tokenizer: A word tokenizer.
        tagger: Finds nouns and verbs; `PatternTagger` by default.
        seed: Seed of intervals and tests.
    """
    vocabulary = getattr(tokenizer, "vocabulary", None)
    if not isinstance(vocabulary, Vocabulary):
        raise ConfigError(
            f"a {tokenizer.kind!r} tokenizer keeps no words to tell known from unknown ones; "
            "take a matcher with a word tokenizer"
        )
    tagger = tagger or PatternTagger()
    relevant = relevant_texts(split, evaluations)

    @cache  # documents may be relevant to many queries
    def classes(text: str) -> frozenset[WordClass]:
        return word_classes(text, tokenizer, vocabulary, tagger)

    found = {
        query: frozenset().union(*map(classes, (split.queries[query], *documents)))
        for query, documents in relevant.items()
    }
    members: dict[str, list[str]] = {each.value: [] for each in WordClass}
    for query, present in found.items():
        members[hardest(present)].append(query)
    return OutOfVocabulary(
        measure_groups(members, evaluations, MEASURES, seed),
        next(iter(evaluations.values())).num_queries - len(found),
        {each.value: sum(each in present for present in found.values()) for each in WordClass},
        sum(not present for present in found.values()),
        bool(vocabulary.in_vectors.any()),
        tagger.name,
    )


def hardest(present: frozenset[WordClass]) -> WordClass:
    """Return the class of a query that has words of these classes."""
    return next((each for each in HARDEST_FIRST if each in present), WordClass.IV)


def word_classes(
    text: str, tokenizer: Tokenizer, vocabulary: Vocabulary, tagger: Tagger
) -> frozenset[WordClass]:
    """Return the classes of the nouns and verbs of a text, by the ids that a model would see."""
    ids = tokenizer.encode([text])[0].tolist()
    counts = covered(tokenizer.tokens(text), tagger(text))
    return frozenset(
        _class_of(id, vocabulary)
        for id, counted in zip(ids, counts, strict=True)
        if counted and not _is_bigram(id, vocabulary)
    )


def _class_of(id: int, vocabulary: Vocabulary) -> WordClass:
    known = id < len(vocabulary)
    return vocabulary.word_class(vocabulary.words[id]) if known else WordClass.OOBV


def _is_bigram(id: int, vocabulary: Vocabulary) -> bool:
    """Return whether a token is a bigram, whose words are counted already."""
    return id < len(vocabulary) and " " in vocabulary.words[id]
