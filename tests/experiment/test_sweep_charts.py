"""What a chart of a sweep shows, from a result made by hand."""

import pytest

from matchwork.experiment.sweep.charts import sweep_charts


def result(values, split):
    rows = [
        {
            "values": {"model.delta": value},
            "measures": {"AP": {"mean": 0.5, "ci": [0.4, 0.6]}},
            "per_seed": [{"dev": 0.6}, {"dev": 0.8}],
        }
        for value in values
    ]
    chart = {"measure": "AP", "curve": "", "title": "", "where": {}, "split": split}
    return {"keys": {"model.delta": values}, "charts": [chart], "combinations": rows}


def points_of(chart):
    (points,) = chart.to_dict()["datasets"].values()
    return points


@pytest.mark.parametrize(("split", "mean", "low"), [("dev", 0.7, 0.6), ("test", 0.5, 0.4)])
def test_values_are_those_of_the_split(split, mean, low):
    ((chart, caption),) = sweep_charts(result([1.0, 2.0], split))
    point = points_of(chart)[0]
    assert (point["value"], point["low"]) == pytest.approx((mean, low))
    assert f"on {split}" in caption


def test_values_are_joined_where_they_have_an_order():
    for values, joined in (([1.0, 2.0], True), (["own", "hard"], False), ([False, True], False)):
        ((chart, _),) = sweep_charts(result(values, "dev"))
        marks = [layer["mark"]["type"] for layer in chart.to_dict()["layer"]]
        assert ("line" in marks) == joined, values


def test_powers_of_ten_stand_in_their_order():
    ((chart, _),) = sweep_charts(result([1e-8, 1e-6, 1e-4], "dev"))
    points = points_of(chart)
    assert [point["x"] for point in points] == ["1e-08", "1e-06", "0.0001"]
    ((chart, _),) = sweep_charts(result([1.0, 3.0, 5.0], "dev"))
    points = points_of(chart)
    assert [point["x"] for point in points] == [1, 3, 5]
