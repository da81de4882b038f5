import pytest

from matchwork.report.page import Paragraph, Table, report_html, write_report


def test_columns_of_numbers_are_aligned_to_the_right():
    html = Table(
        ["system", "RR", "interval", "p", "queries"],
        [["BM25", 0.5, "[.45, .55]", None, 1234], ["bag 2", 0.25, "[.2, .3]", "< .001", 1234]],
    ).html()
    assert "<th>system</th><th class=number>RR</th><th class=number>interval</th>" in html
    assert "<td>BM25</td><td class=number>0.5000</td>" in html
    assert "<td class=number>–</td><td class=number>1,234</td>" in html


def test_ragged_table_names_the_row():
    with pytest.raises(ValueError, match="row 2 has 1 cells, the header 2"):
        Table(["a", "b"], [[1, 2], [3]])


def test_write_report_leaves_only_the_page(tmp_path):
    path = tmp_path / "reports" / "report.html"
    write_report(path, "Title", [Paragraph("text")])
    assert [file.name for file in path.parent.iterdir()] == ["report.html"]
    assert path.read_text(encoding="utf-8") == report_html("Title", [Paragraph("text")])
