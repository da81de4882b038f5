import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from small_worlds import EveryWord, ranked, split_of, tokenizer_of

from matchwork.errors import ConfigError, DataError
from matchwork.studies.iasm import out_of_vocabulary
from matchwork.studies.iasm.out_of_vocabulary import HARDEST_FIRST, hardest, word_classes
from matchwork.text import WordClass, WordTokenizer
from matchwork.text.tokenizer import WordTokenizerConfig

IV, OOTV, OOEV, OOBV = WordClass
# cat: both; dog: vectors only; zorp: training only; anything else: neither
TOKENIZER = tokenizer_of(["cat", "zorp"], ["cat", "dog"])
WORDS = {"cat": IV, "dog": OOTV, "zorp": OOEV, "quux": OOBV}


def analysed(pairs, right=(), other=None, tokenizer=TOKENIZER):
    split = split_of(pairs)
    evaluations = {"one": ranked(split, right)}
    if other is not None:
        evaluations["two"] = ranked(split, other)
    return out_of_vocabulary(split, evaluations, tokenizer, tagger=EveryWord())


def test_hardest_class_wins_and_each_group_is_measured_by_itself():
    found = analysed(
        {
            "easy": ("cat", ["Cat."]),
            "also easy": ("cat", ["cat cat"]),
            "unseen": ("dog", ["cat"]),
            "no vector": ("dog", ["zorp"]),
            "neither": ("cat quux", ["zorp dog"]),
        },
        right=["easy", "no vector"],
    )
    assert {group.label: group.queries for group in found.groups} == {
        "IV": ("also easy", "easy"),
        "OOTV": ("unseen",),
        "OOEV": ("no vector",),
        "OOBV": ("neither",),
    }
    assert [group.estimates["one"]["P@1"].value for group in found.groups] == [0.5, 0, 1, 0]
    assert [group.estimates["one"]["RR"].value for group in found.groups] == [0.75, 0.5, 1, 0.5]
    assert found.containing == {"IV": 4, "OOTV": 3, "OOEV": 2, "OOBV": 1}
    assert (found.num_queries, found.num_without_words, found.num_without_relevant) == (5, 0, 0)
    assert found.tagger == "every word" and found.has_vectors


def test_all_relevant_documents_count_and_queries_without_one_are_left_out():
    found = analysed({"several": ("cat", ["cat", "quux"]), "none": ("quux", [])})
    assert [group.queries for group in found.groups] == [(), (), (), ("several",)]
    assert found.num_without_relevant == 1
    assert found.groups[0].estimates == {"one": {}}


def test_two_systems_have_a_paired_difference_corrected_over_the_groups():
    pairs = {f"q{n}": ("cat" if n % 2 else "dog", ["cat"]) for n in range(20)}
    odd = [name for name in pairs if int(name[1:]) % 2]
    found = analysed(pairs, right=list(pairs), other=odd)
    known, unseen = found.groups[0].differences["P@1"], found.groups[1].differences["P@1"]
    assert known == (0.0, 1.0, 1.0)
    assert unseen.value == 1.0
    assert unseen.p == pytest.approx(2 / 2**10)  # exact: all ten queries won
    assert unseen.p_holm == pytest.approx(2 * unseen.p)  # two groups have queries


def test_a_pair_without_noun_or_verb_is_known():
    found = analysed({"signs": ("?", ["!"]), "word": ("cat", ["cat"])})
    assert found.num_without_words == 1 and found.groups[0].num_queries == 2
    assert found.containing["IV"] == 1


def test_without_vectors_every_word_is_new_to_them():
    bare = tokenizer_of(["cat", "dog"])
    found = analysed({"a": ("cat", ["dog"]), "b": ("cat", ["quux"])}, tokenizer=bare)
    assert [group.num_queries for group in found.groups] == [0, 0, 1, 1]
    assert found.has_vectors is False and found.to_dict()["has_vectors"] is False


words = st.lists(st.sampled_from([*WORDS, "?"]), max_size=4)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(words, st.lists(words, min_size=1, max_size=3)), min_size=1, max_size=8))
def test_classes_are_a_partition_and_counts_agree_with_it(texts):
    pairs = {
        f"q{n}": (" ".join(query), [" ".join(document) for document in documents])
        for n, (query, documents) in enumerate(texts)
    }
    found = analysed(pairs)
    members = [query for group in found.groups for query in group.queries]
    assert sorted(members) == sorted(pairs) and found.num_queries == len(pairs)
    sizes = {group.label: group.num_queries for group in found.groups}
    assert sizes["OOBV"] == found.containing["OOBV"]  # nothing is harder
    assert all(sizes[each] <= found.containing[each] for each in HARDEST_FIRST)
    assert sum(found.containing.values()) >= len(pairs) - found.num_without_words
    for group in found.groups:
        for query in group.queries:
            text, documents = pairs[query]
            present = {WORDS[word] for word in " ".join([text, *documents]).split() if word != "?"}
            assert group.label == hardest(frozenset(present))


def test_stems_and_pairs_of_words_are_looked_up_as_the_model_does():
    stemming = WordTokenizer.fit(["running dogs"], config=WordTokenizerConfig(stem="english"))
    assert word_classes("dog runs", stemming, stemming.vocabulary, EveryWord()) == {OOEV}
    config = WordTokenizerConfig(bigrams=True)
    pairs = WordTokenizer.fit(["new york"] * 2, config=config, vector_words=["new", "york"])
    assert "new york" in pairs.vocabulary and pairs.vocabulary.word_class("new york") == OOEV
    assert word_classes("New York", pairs, pairs.vocabulary, EveryWord()) == {IV}


def test_a_tokenizer_without_words_is_refused():
    class Pieces:
        kind = "pieces"

    with pytest.raises(ConfigError, match="'pieces' tokenizer keeps no words"):
        analysed({"a": ("cat", ["cat"])}, tokenizer=Pieces())


def test_rankings_of_other_queries_are_refused():
    split, other = split_of({"a": ("cat", ["cat"])}), split_of({"b": ("cat", ["cat"])})
    evaluations = {"one": ranked(split, []), "two": ranked(other, [])}
    with pytest.raises(DataError, match="'one' was measured on 1 queries, 'two' on 1, not on the"):
        out_of_vocabulary(split, evaluations, TOKENIZER, tagger=EveryWord())
    with pytest.raises(DataError, match="no query of split 'test' has a relevant document"):
        analysed({"a": ("cat", [])})
