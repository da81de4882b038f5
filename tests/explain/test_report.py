from html.parser import HTMLParser

import pytest
from glacier_pair import DOCUMENT, QUERY

from matchwork.errors import ConfigError, OutputError
from matchwork.explain import Explanation, Highlight, explain, save
from matchwork.files import read_json
from matchwork.report.page import Figure, Heading, Paragraph, Table, report_html
from matchwork.report.result_charts import Bar, bar_with_intervals

VOID = {"meta"}


class Checker(HTMLParser):
    """Tags balance, and nothing is fetched from anywhere."""

    def __init__(self):
        super().__init__()
        self.open, self.seen, self.words = [], [], []

    def handle_starttag(self, tag, attrs):
        self.seen.append(tag)
        assert not {"src", "href", "xlink:href", "onload"} & {name for name, _ in attrs}
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.words.append(data)


def checked(html):
    checker = Checker()
    checker.feed(html)
    assert not checker.open
    return checker


@pytest.mark.parametrize("suffix", ["html", "json", "svg", "vl.json"])
def test_a_text_that_is_no_utf8_is_written_all_the_same(make_matcher, tmp_path, suffix):
    """Half of an emoji, as texts cut by bytes have it."""
    explanation = explain(make_matcher("bag"), f"{QUERY} \ud83d", f"caf\udce9 {DOCUMENT}")
    save(explanation, tmp_path / f"why.{suffix}")
    assert "caf" in explanation.document and explanation.document.isprintable()
    assert (tmp_path / f"why.{suffix}").read_text(encoding="utf-8")


def test_report_is_one_page_and_every_text_is_escaped(make_matcher):
    hostile = "<script>alert('&')</script>"
    explanation = explain(make_matcher("bag"), hostile, f"{DOCUMENT} {hostile}")
    html = report_html(
        hostile,
        [
            Heading(hostile),
            Paragraph(hostile),
            Table([hostile], [[hostile]], caption=hostile),
            Figure(bar_with_intervals([Bar(hostile, 0.5, 0.4, 0.6)], hostile), hostile),
            Highlight(explanation),
        ],
    )
    page = checked(html)
    assert "script" not in page.seen
    assert "b" not in page.seen
    assert {"h1", "h2", "p", "table", "svg", "mark"} <= set(page.seen)
    assert page.words.count(hostile) >= 6
    assert "prefers-color-scheme: dark" in html


def test_save_by_suffix(make_matcher, tmp_path):
    explanation = explain(make_matcher("iasm-dynamic"), QUERY, DOCUMENT)
    for suffix in (".json", ".html", ".PNG", ".svg"):
        save(explanation, tmp_path / f"why{suffix}")
    again = Explanation.from_dict(read_json(tmp_path / "why.json"))
    assert again.to_dict() == explanation.to_dict()
    assert (tmp_path / "why.PNG").read_bytes().startswith(b"\x89PNG\r\n")
    assert (tmp_path / "why.svg").read_text().startswith("<svg")
    page = checked((tmp_path / "why.html").read_text())
    assert page.seen.count("script") == 2
    assert {"after 3", "all 5 words", "Which words carried the match"} <= set(page.words)
    assert any(word.endswith("the score is its negative.") for word in page.words)
    assert len(list(tmp_path.iterdir())) == 4


@pytest.mark.parametrize("suffix", [".vl.json", ".json", ".html", ".png", ".svg"])
def test_empty_texts_can_be_saved(make_matcher, tmp_path, suffix):
    save(explain(make_matcher("iasm-dynamic"), "", DOCUMENT), tmp_path / f"why{suffix}")
    assert (tmp_path / f"why{suffix}").stat().st_size > 0


def test_unknown_suffix_names_the_known_ones(handmade, tmp_path):
    with pytest.raises(ConfigError, match=r"suffix '.pdf'; use .vl.json, .json, .html, .png, .svg"):
        save(handmade, tmp_path / "why.pdf")
    assert not list(tmp_path.iterdir())


def test_unwritable_place_is_an_output_error(handmade, tmp_path):
    (tmp_path / "why.png").mkdir()
    with pytest.raises(OutputError, match="it is a folder; name a file"):
        save(handmade, tmp_path / "why.png")
