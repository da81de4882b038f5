import pytest
from small_worlds import ranked, split_of

from matchwork.studies.iasm import overlap


def groups_of(found):
    return {group.label: group.queries for group in found.groups if group.queries}


TEN = "red orange yellow green blue indigo violet black white grey"


def test_distinct_words_without_stop_words_in_any_case():
    split = split_of(
        {
            "none": ("who is the king", ["The queen is who reigns."]),
            "one": ("Hamlet, Hamlet and HAMLET", ["hamlet's play"]),
            "two": ("wrote hamlet", ["Shakespeare wrote Hamlet"]),
            "nine": (TEN.removesuffix(" grey"), [TEN]),
            "ten": (TEN, [TEN]),
            "eleven": (f"{TEN} pink", [f"{TEN} pink"]),
        }
    )
    found = overlap(split, {"one": ranked(split, ["ten", "two"])})
    assert len(found.groups) == 11 and [g.label for g in found.groups][-2:] == ["9", "10+"]
    assert groups_of(found) == {
        "0": ("none",),
        "1": ("one",),
        "2": ("two",),
        "9": ("nine",),
        "10+": ("eleven", "ten"),
    }
    assert found.groups[10].estimates["one"]["P@1"].value == 0.5
    assert found.groups[2].estimates["one"]["P@1"] == (1.0, 1.0, 1.0)
    assert "bm25s" in found.to_dict()["stop_words"] and found.to_dict()["num_queries"] == 6


@pytest.mark.parametrize(("stem", "label"), [(False, "0"), (True, "2")])
def test_stems(stem, label):
    split = split_of({"a": ("running dogs", ["a dog runs"])})
    found = overlap(split, {"one": ranked(split, [])}, stem=stem)
    assert groups_of(found) == {label: ("a",)} and found.stemmed is stem


def test_of_several_documents_the_nearest_counts_and_none_is_left_out():
    split = split_of({"a": ("red dog", ["cat", "red dog", "dog"]), "b": ("red", [])})
    found = overlap(split, {"one": ranked(split, []), "two": ranked(split, ["a"])})
    assert groups_of(found) == {"2": ("a",)} and found.num_without_relevant == 1
    assert found.groups[2].differences["P@1"].value == -1.0
    assert found.groups[0].differences == {}
