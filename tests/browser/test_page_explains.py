"""A click on a result shows why: matrix, path, phrases, word weights, for one matcher or two."""

import re

import pytest
from playwright.sync_api import expect

from matchwork.explain import explain
from matchwork.matcher import Matcher

QUERY = "who wrote hamlet"
TEXTS = ("shakespeare wrote the play hamlet around 1600", "a hamlet is a small settlement")


@pytest.fixture
def opened(at_home):
    """`opened(*models)`: the dialog of the first result."""

    def go(*models):
        at_home.ask(QUERY, *TEXTS, models=models)
        at_home.page.locator(".result").first.click()
        dialog = at_home.page.get_by_role("dialog")
        expect(dialog).to_be_visible()
        return dialog

    return go


def test_the_matrix_has_the_values_of_the_matcher(opened, at_home, bag):
    dialog = opened("bag")
    document = dialog.locator(".quote").inner_text()
    table = explain(bag, QUERY, document).table()
    expect(dialog.locator("rect.cell")).to_have_count(table.size)
    said = f"wrote × {document.split()[1]}: {table[1, 1]:.3f}".replace("-", "−")
    cell = dialog.locator("rect.cell").nth(table.shape[1] + 1)
    assert cell.locator("title").text_content() == said
    cell.hover()
    expect(dialog.locator(".readout")).to_have_text(said)
    dialog.get_by_text("As a table").click()
    expect(dialog.get_by_role("row")).to_have_count(1 + len(table))
    expect(dialog.get_by_role("cell").nth(1)).to_have_text(f"{table[0, 0]:.3f}".replace("-", "−"))


def test_the_path_over_the_matrix(opened, folders):
    dialog = opened("match-srnn")
    document = dialog.locator(".quote").inner_text()
    explanation = explain(Matcher.load(folders["match-srnn"]), QUERY, document).to_dict()
    cells = explanation["paths"][0]["cells"]
    expect(dialog.locator("polyline.path").first).to_be_attached()
    points = dialog.locator("polyline.path").first.get_attribute("points").split()
    assert len(points) == len(cells)
    dialog.get_by_text("Matching path:").click()
    steps = " → ".join(f"{cell['query']} × {cell['document']}" for cell in cells)
    expect(dialog.get_by_text(steps, exact=True)).to_be_visible()
    dialog.get_by_label("Which table").select_option("state")
    expect(dialog.get_by_role("img").first).to_have_attribute(
        "aria-label", re.compile("^How well the")
    )


def test_phrases_parts_and_weights(opened):
    dialog = opened("hcan")
    expect(dialog.get_by_text("What each part adds to the score")).to_be_visible()
    expect(dialog.get_by_text("Matching phrases")).to_be_visible()
    expect(dialog.locator(".phrases").first.locator("li")).to_have_count(len(QUERY.split()))
    expect(dialog.get_by_text("Weight of each query phrase at level 0")).to_be_visible()


def test_a_view_without_a_drawing_of_its_own_is_a_table(opened, at_home):
    table = {"caption": "", "header": ["word", "value"], "rows": [["hamlet", "0.5"]], "note": "one"}
    view = {"name": "other", "title": "Of another package", "tables": [table], "notes": ["A note."]}

    def add(route):
        response = route.fetch()
        route.fulfill(response=response, json={**response.json(), "views": [view]})

    at_home.page.route("**/explain", add)
    dialog = opened("bag")
    dialog.get_by_text("Of another package").click()
    expect(dialog.get_by_role("cell", name="hamlet")).to_be_visible()
    expect(dialog.get_by_text("A note.")).to_be_visible()


def test_two_matchers_explain_the_same_document(opened, at_home):
    dialog = opened("bag", "match-srnn")
    for name in ("bag", "match-srnn"):
        expect(dialog.get_by_label(f"By {name}").locator("rect.cell").first).to_be_visible()
    left, right = dialog.locator(".why-part").all()
    assert left.locator(".quote").inner_text() == right.locator(".quote").inner_text()
    assert left.bounding_box()["x"] + 100 < right.bounding_box()["x"]
    assert left.bounding_box()["y"] == right.bounding_box()["y"]


def test_walk_along_the_list(opened, at_home):
    dialog = opened("bag")
    second = at_home.ranked()[1]
    expect(dialog.get_by_label("Previous result")).to_be_disabled()
    dialog.get_by_label("Next result").click()
    expect(dialog.locator(".quote")).to_have_text(second)
    expect(dialog.get_by_label("Next result")).to_be_disabled()
    at_home.page.keyboard.press("Escape")
    expect(dialog).to_be_hidden()
    expect(at_home.page.locator(".result").nth(1)).to_be_focused()


def test_a_scorer_without_explanations_says_so(opened):
    expect(opened("bm25")).to_contain_text("bm25 gives only scores")


def test_long_texts_keep_their_strongest_words(at_home):
    at_home.ask("how many legs has a spider " * 8, "the spider has eight legs " * 6)
    at_home.page.locator(".result").click()
    expect(at_home.page.locator("rect.cell").first).to_be_visible()
    assert at_home.page.locator("rect.cell").count() == 40 * 30
    expect(at_home.page.get_by_text("the strongest: 40 of 48 query words.")).to_be_visible()
