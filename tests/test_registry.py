import pytest

from matchwork.errors import ConfigError, DataError, MissingExtraError, UnknownNameError
from matchwork.models import MODELS
from matchwork.registry import Registry, did_you_mean


@pytest.fixture
def fruits() -> Registry[int]:
    fruits: Registry[int] = Registry("fruit")
    fruits.add("pear", 1)
    fruits.add("apple", 2)
    return fruits


def test_a_registry_is_a_sorted_table_of_names(fruits: Registry[int]) -> None:
    assert list(fruits) == ["apple", "pear"]
    assert len(fruits) == 2
    assert fruits["pear"] == 1
    assert "apple" in fruits and "plum" not in fruits


def test_unknown_names_suggest_the_nearest(fruits: Registry[int]) -> None:
    with pytest.raises(UnknownNameError, match=r"no fruit named 'aple'; did you mean 'apple'\?"):
        fruits["aple"]
    with pytest.raises(ConfigError, match="no fruit named 'zzz'; known: apple, pear"):
        fruits["zzz"]


def test_case_does_not_hide_a_name() -> None:
    assert did_you_mean("ndcg@10", ["nDCG@10", "AP"]) == "did you mean 'nDCG@10'?"
    assert did_you_mean("x", []) == "there are none"


def test_a_name_is_taken_once(fruits: Registry[int]) -> None:
    with pytest.raises(ValueError, match="fruit 'pear' is already registered"):
        fruits.register("pear")(3)


def test_register_gives_back_what_it_got(fruits: Registry[int]) -> None:
    assert fruits.register("plum")(7) == 7
    assert fruits["plum"] == 7


def test_models_are_registered_by_importing_them() -> None:
    assert {"bag", "iasm-dynamic", "iasm-static"} <= set(MODELS)
    with pytest.raises(
        UnknownNameError, match="no model named 'iasm-statik'; did you mean 'iasm-static'"
    ):
        MODELS["iasm-statik"]


def test_a_registered_name_stands_for_its_preset() -> None:
    assert MODELS["iasm-static"].config({}).update == "static"
    assert MODELS["iasm-static"].config({"num_layers": 5}).num_layers == 5
    with pytest.raises(ConfigError, match="model: unknown key 'layers'"):
        MODELS["iasm-static"].config({"layers": 5})


def test_errors_say_where_and_what_to_do() -> None:
    error = DataError("not a label", path="pairs.tsv", line=3, column="label")
    assert str(error) == "pairs.tsv, line 3, column 'label': not a label"
    assert str(DataError("odd")) == "odd"
    assert "pip install 'matchwork[serve]'" in str(MissingExtraError("the service", "serve"))
    assert (ConfigError.exit_code, DataError.exit_code) == (2, 1)
