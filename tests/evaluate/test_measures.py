import pytest

from matchwork.errors import ConfigError, UnknownNameError
from matchwork.evaluate import canonical
from matchwork.evaluate.measures import parse_measure, parse_measures


@pytest.mark.parametrize(
    ("spelling", "name"),
    [
        ("AP", "AP"),
        ("MAP", "AP"),
        ("RR", "RR"),
        ("MRR", "RR"),
        ("MRR@10", "RR@10"),
        (" P@30 ", "P@30"),
        ("nDCG@10", "nDCG@10"),
        ("S@1", "Success@1"),
        ("Hit@1", "Success@1"),
        ("Recall@100", "R@100"),
        ("AP(rel=2)", "AP(rel=2)"),
        ("P(rel=2)@5", "P(rel=2)@5"),
        ("Acc", "Accuracy"),
        ("F1", "F1"),
        (" F1( class = 2 )", "F1(class=2)"),
        ("macro-F1", "macro-F1"),
    ],
)
def test_a_measure_prints_as_its_canonical_name(spelling, name):
    assert canonical(spelling) == name
    assert canonical(canonical(spelling)) == name


@pytest.mark.parametrize(
    ("wrong", "hint"),
    [
        ("ap", "did you mean 'AP'"),
        ("ndcg@10", "did you mean 'nDCG@10'"),
        ("macro-f1", "did you mean 'macro-F1'"),
        ("AP@", "did you mean 'AP'"),
        ("NumRet", "no measure named 'NumRet'"),  # a sum, not a mean over queries
        ("", "no measure named ''"),
    ],
)
def test_an_unknown_name_gets_a_suggestion(wrong, hint):
    with pytest.raises(UnknownNameError, match=hint):
        canonical(wrong)


@pytest.mark.parametrize("wrong", ["P", "Success", "P@1.5", "AP(depth=3)", "AP(rel)", "nDCG(rel=)"])
def test_wrong_options_say_how_to_write_a_measure(wrong):
    with pytest.raises(ConfigError, match="write it as in 'P@1'"):
        parse_measure(wrong)


def test_ranking_and_classification_are_not_confused():
    with pytest.raises(ConfigError, match="'macro-F1' measures classification, not ranking; try"):
        parse_measures(["AP", "macro-F1"], "ranking")
    with pytest.raises(ConfigError, match="'AP' measures ranking, not classification; try 'Acc"):
        parse_measures(["AP"], "classification")


@pytest.mark.parametrize("wrong", ["F1(rel=2)", "Accuracy@5", "MSE(a=1)", "F1(class)"])
def test_options_that_a_measure_does_not_take(wrong):
    with pytest.raises(ConfigError, match=r"measure .*write it as in"):
        parse_measure(wrong)
