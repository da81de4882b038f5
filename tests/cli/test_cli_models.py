def test_every_model_is_listed_with_its_settings(call, call_json):
    from matchwork.models import MODELS

    found = {one["name"]: one for one in call_json("models")}
    assert list(found) == list(MODELS)
    assert found["iasm-static"]["settings"]["update"]["default"] == "static"
    assert found["iasm-static"]["training"]["max_epochs"]["default"] == 50
    shown = call("models").stdout
    assert "interactive attention" in shown and "update=dynamic" in shown


def test_one_model_shows_all_that_can_be_set(call):
    shown = call("models", "iasm-dynamic").stdout
    assert "static | dynamic" in shown and "learning_rate" in shown and "0.0001" in shown


def test_stages_of_a_model_are_listed(call, call_json):
    found = {one["name"]: one["stages"] for one in call_json("models")}
    assert found["bag"] == {}
    assert list(found["iam"]) == [*found["iam-no-jump"], "energy"]
    assert found["iam"]["energy"]["steps"] == {"type": "int", "default": 5}
    shown = call("models", "iam").stdout
    assert "[stage.language-model-query] in a recipe" in shown and "min_count" in shown


def test_unknown_model_gets_a_suggestion(call):
    result = call("models", "iasm-dinamic")
    assert result.exit_code == 2 and result.stdout == ""
    assert "no model named 'iasm-dinamic'; did you mean 'iasm-dynamic'?" in result.stderr
