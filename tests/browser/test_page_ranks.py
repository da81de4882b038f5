"""From what a reader types, uploads or searches to ranked results."""

import json

import pytest
from playwright.sync_api import expect

from matchwork.data import toy

QUERY = "who wrote hamlet"
TEXTS = (
    "a hamlet is a settlement smaller than a village",
    "picasso painted guernica after the bombing of the town",
    "shakespeare wrote the play hamlet around 1600",
)


def test_ranks_as_the_matcher_does(at_home, bag):
    at_home.ask(QUERY, *TEXTS)
    assert at_home.ranked() == [hit.document.text for hit in bag.rerank(QUERY, TEXTS)]
    best = bag.rerank(QUERY, TEXTS)[0]
    first = at_home.page.locator(".result").first
    probability = bag.calibration.probability(bag.score([(QUERY, best.document.text)]))[0]
    expect(first).to_contain_text(f"{100 * probability:.0f} %")
    expect(first).to_contain_text(f"score {best.score:.3f}".replace("-", "−"))
    bar = first.locator(".bar").bounding_box()["width"]
    fill = first.locator(".fill").bounding_box()["width"]
    assert fill / bar == pytest.approx(probability, abs=0.02)
    expect(at_home.page.locator("#status")).to_have_text("3 candidates ranked by bag.")


def test_marks_what_speaks_for_the_match(at_home, bag):
    from matchwork.explain import explain

    text = "😀😀 shakespeare wrote the play hamlet"  # code points are not what JavaScript counts
    at_home.ask(QUERY, text)
    expect(at_home.page.locator("mark").first).to_be_visible()
    spans = [text[span.start : span.end] for span in explain(bag, QUERY, text).spans()]
    assert at_home.page.locator("mark").all_inner_texts() == spans


def test_one_click_for_a_first_visit(at_home):
    at_home.page.get_by_role("button", name="Show me an example").click()
    assert len(at_home.ranked()) == 7
    expect(at_home.page.get_by_label("Query")).to_have_value("how do I keep basil fresh")
    expect(at_home.page.locator("#welcome")).to_be_hidden()


def test_text_stays_text_and_reads_its_own_way(at_home):
    script = "<script>alert(1)</script><img src=x onerror=alert(2)> wrote"
    hebrew = "שייקספיר כתב את המחזה המלט"
    at_home.ask(f"<b>{QUERY}</b>", script, hebrew)
    assert set(at_home.ranked()) == {script, hebrew}
    assert at_home.page.locator(".result img, .result script, h2 b").count() == 0
    row = at_home.page.locator(".text", has_text="שייקספיר")
    assert row.evaluate("each => getComputedStyle(each).direction") == "rtl"
    at_home.page.locator(".result", has_text="script").click()
    expect(at_home.page.locator("dialog .quote")).to_have_text(script)


def test_two_matchers_side_by_side(at_home):
    at_home.ask(QUERY, *TEXTS, models=("bm25", "bag"))
    first, second = at_home.ranked(0), at_home.ranked(1)
    changes = at_home.page.locator(".ranked").nth(1).locator(".change")
    for rank, (text, change) in enumerate(zip(second, changes.all(), strict=True)):
        by = first.index(text) - rank
        assert change.inner_text() == (f"▲ {by}" if by > 0 else f"▼ {-by}" if by < 0 else "=")
    assert at_home.page.locator(".ranked").nth(0).locator(".change").count() == 0
    assert first[0] == second[0] == TEXTS[2]
    at_home.page.locator(".result").first.hover()
    assert at_home.page.locator(".twin .text").all_inner_texts() == [first[0]] * 2


def test_more_results_on_demand(at_home):
    texts = [f"text number {number} of many" for number in range(50)]
    at_home.ask("number 7", *texts, models=("bm25",))
    assert len(at_home.ranked()) == 20
    at_home.page.get_by_role("button", name="Show 20 more of 30").click()
    at_home.page.get_by_role("button", name="Show 10 more of 10").click()
    assert sorted(at_home.ranked()) == sorted(texts)
    assert at_home.ranked()[0] == texts[7]


FILES = {
    "lines.txt": "\ufeffone fox\r\n\r\ntwo whales\n",
    "named.tsv": "id\ttext\nx\tone fox\ny\ttwo whales\n",
    "quoted.csv": 'label,Document\n1,"one\n fox"\n0,two whales\n',
    "rows.jsonl": '{"id": 1, "text": "one fox"}\n\n"two whales"\n',
}


def upload(page, name, content):
    file = {"name": name, "mimeType": "text/plain", "buffer": content.encode()}
    page.locator("#file").set_input_files(file)


def test_upload(at_home):
    for name, content in FILES.items():
        at_home.page.get_by_label("Candidates", exact=True).fill("")
        upload(at_home.page, name, content)
        expect(at_home.page.locator("#status")).to_have_text(f"2 candidates from {name}.")
        expect(at_home.page.get_by_label("Candidates", exact=True)).to_have_value(
            "one fox\ntwo whales"
        )
    at_home.ask("fox", models=("bm25",))
    assert at_home.ranked() == ["one fox", "two whales"]


def test_drop_a_file(at_home):
    dropped = at_home.page.evaluate_handle(
        """() => {
            const data = new DataTransfer();
            data.items.add(new File(['one fox\\ntwo whales'], 'dropped.txt'));
            return data;
        }"""
    )
    at_home.page.dispatch_event("#candidates", "drop", {"dataTransfer": dropped})
    expect(at_home.page.get_by_label("Candidates", exact=True)).to_have_value("one fox\ntwo whales")
    expect(at_home.page.locator("#count")).to_have_text("2 texts")


BROKEN_FILES = {
    "other.tsv": ("a\tb\n1\t2\n", "has no column of candidates; its first line is a, b"),
    "cut.jsonl": ('{"text": "a"}\n{"text": ', "has invalid JSON in line 2"),
    "numbers.jsonl": ("7\n", "has no text in line 1"),
    "empty.txt": ("\n", "contains no text"),
    "picture.txt": ("PNG\0", "is not UTF-8 text"),
}


def test_a_file_that_cannot_be_read(at_home):
    for name, (content, message) in BROKEN_FILES.items():
        upload(at_home.page, name, content)
        expect(at_home.page.get_by_role("alert")).to_contain_text(f"{name} {message}")


def test_search_the_collection(at_home, bag):
    documents = toy()["train"].documents
    at_home.page.get_by_label(f"Collection ({len(documents)})").check()
    at_home.ask(QUERY)
    found = at_home.ranked()
    assert "shakespeare wrote the play hamlet around 1600" in found
    assert set(found) <= set(documents.values())
    assert found == [hit.document.text for hit in bag.rerank(QUERY, found)]
    expect(at_home.page.locator(".result").first).to_contain_text("train-")  # its id
    at_home.ask("xyzzy")
    expect(at_home.page.get_by_role("alert")).to_contain_text("shares a word with the query")


def test_texts_that_were_cut_are_counted(at_home):
    at_home.ask("fox", "word " * 40)
    expect(at_home.page.locator(".list .note")).to_have_text(
        "1 text longer than bag reads: 10 tokens left out."
    )


def test_what_is_missing_is_named(at_home):
    at_home.ask("")
    expect(at_home.page.get_by_role("alert")).to_contain_text("The query is empty.")
    at_home.ask("fox")
    expect(at_home.page.get_by_role("alert")).to_contain_text("There are no candidates.")
    expect(at_home.page.get_by_label("Candidates", exact=True)).to_be_focused()


def test_half_of_a_surrogate_pair_does_not_stop_a_ranking(at_home):
    value = json.dumps("fox \ud83d fox")
    at_home.page.evaluate(f"document.getElementById('candidates').value = {value}")
    at_home.ask("fox", models=("bm25",))
    assert at_home.ranked() == ["fox � fox"]
