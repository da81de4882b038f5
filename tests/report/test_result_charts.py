import re

from matchwork.report.drawing import to_svg
from matchwork.report.result_charts import Bar, bar_with_intervals, wins_losses


def labels(svg):
    """Everything written in a drawing."""
    return re.findall(r"<t(?:ext|span)[^>]*>([^<]+)</t", svg)


def test_bars_keep_their_order_and_print_their_values():
    svg = to_svg(bar_with_intervals([Bar("z", 0.5, 0.4, 0.6), Bar("a", 0.25, 0.2, 0.3)], "RR"))
    found = labels(svg)
    assert found.index("z") < found.index("a")
    assert {"0.5000", "0.2500", "RR"} <= set(found)


def test_wins_losses_counts_queries():
    found = labels(to_svg(wins_losses([0.5, 0.0, -0.25, 0.125], "RR")))
    assert "2 queries better, 1 worse, 1 equal" in found
    assert "0 queries better, 0 worse, 2 equal" in labels(to_svg(wins_losses([0.0, 0.0])))
