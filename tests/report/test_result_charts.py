import re

import pytest

from matchwork.errors import DataError
from matchwork.report.drawing import to_svg
from matchwork.report.result_charts import Bar, bar_with_intervals, curve, wins_losses


def cells(chart, *path):
    """The rows that the chart, or the part of it at `path`, draws."""
    part = spec = chart.to_dict()
    for step in path:
        part = part[step]
    return spec["datasets"][part["data"]["name"]]


def labels(svg):
    """Everything written in a drawing."""
    return re.findall(r"<t(?:ext|span)[^>]*>([^<]+)</t", svg)


def test_curve_reads_csv_rows_and_averages_an_epoch():
    rows = [
        {"epoch": "0", "step": "1", "train_loss": "3", "dev_RR": ""},
        {"epoch": "0", "step": "2", "train_loss": "1", "dev_RR": "0.25"},
        {"epoch": "1", "step": "3", "train_loss": "1", "dev_RR": "nan"},
    ]
    chart = curve(rows)
    assert cells(chart, "hconcat", 0) == [{"epoch": 0, "value": 2}, {"epoch": 1, "value": 1}]
    assert cells(chart, "hconcat", 1) == [{"epoch": 0, "value": 0.25}]
    assert {"train loss", "dev RR"} <= set(labels(to_svg(chart)))


def test_curve_without_the_column_says_what_there_is():
    with pytest.raises(DataError, match="no 'dev_AP' by 'epoch'; it has loss"):
        curve([{"epoch": 0, "loss": 1.0}], ["dev_AP"])
    with pytest.raises(DataError, match="no numbers by 'epoch'"):
        curve([])


def test_bars_keep_their_order_and_print_their_values():
    svg = to_svg(bar_with_intervals([Bar("z", 0.5, 0.4, 0.6), Bar("a", 0.25, 0.2, 0.3)], "RR"))
    found = labels(svg)
    assert found.index("z") < found.index("a")
    assert {"0.5000", "0.2500", "RR"} <= set(found)


def test_wins_losses_counts_queries():
    found = labels(to_svg(wins_losses([0.5, 0.0, -0.25, 0.125], "RR")))
    assert "2 queries better, 1 worse, 1 equal" in found
    assert "0 queries better, 0 worse, 2 equal" in labels(to_svg(wins_losses([0.0, 0.0])))
