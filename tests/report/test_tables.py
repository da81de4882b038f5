from matchwork.report.markdown import markdown_table
from matchwork.report.numbers import Meter, cell_text, interval, is_numeric, p_value, shortened


def test_cells():
    cells = [0.5, 1234, None, "word", Meter(-0.5)]
    assert [cell_text(cell) for cell in cells] == ["0.5000", "1,234", "–", "word", "█" * 12]


def test_what_is_a_number():
    assert all(map(is_numeric, ["[.45, .49]", "< .001", "12 %", "+0.0213", "1e-05", "–", ""]))
    assert not any(map(is_numeric, ["bag 2", "k = 3", "█", "e"]))


def test_small_p_values_say_so():
    assert p_value(0.00001) == "< .0001" and p_value(0.0123) == "0.0123"
    assert interval(0.1, 0.25) == "[0.1000, 0.2500]"


def test_shortened_keeps_one_line():
    assert shortened("a\n b " * 100, 9) == "a b a b …"


def test_markdown():
    lines = markdown_table(["system", "RR"], [["BM25", 0.5], ["bag", None]], align="lr")
    assert lines == ["| system | RR |", "|---|--:|", "| BM25 | 0.5000 |", "| bag | – |"]
