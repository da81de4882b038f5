"""Lines with intervals: values stand where they belong and keep their names."""

from matchwork.report.drawing import to_svg
from matchwork.report.line_charts import LinePoint, Titles, curves_with_bands, lines_with_intervals

TITLES = Titles("setting", "AP", "model", "A chart")


def points(*xs):
    return [
        LinePoint(line, x, height, height - 0.1, height + 0.1)
        for line, height in (("one", 0.3), ("two", 0.6))
        for x in xs
    ]


def test_lines_of_a_number_and_of_words():
    small = (1e-5, 5e-5, 2e-4)
    for xs in ((0.2, 0.4, 1.0), small, ("deep", "wide", "contextual"), (False, True)):
        picture = to_svg(lines_with_intervals(points(*xs), TITLES))
        words = (*map(str, xs), "one", "two", "setting", "AP", "model", "A chart")
        assert all(f">{word}</text>" in picture for word in words), xs


def test_intervals_of_two_lines_stand_side_by_side():
    chart = lines_with_intervals(points(1, 2), TITLES).to_dict()
    (rows,) = chart["datasets"].values()
    places = sorted(row["position"] for row in rows)
    assert len(set(places)) == 4 and abs(places[1] - places[0]) < 0.1 < places[2] - places[1]


def test_one_point_can_be_drawn():
    assert ">7</text>" in to_svg(lines_with_intervals(points(7), TITLES))


def test_curves():
    picture = to_svg(curves_with_bands(points(100, 200, 300), TITLES._replace(lines="")))
    assert "A chart" in picture and ">one</text>" not in picture
