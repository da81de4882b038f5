"""The report of an explanation, as a browser shows the file."""

import torch

import matchwork as mw
from matchwork.data import toy
from matchwork.encode import WordEmbedding
from matchwork.explain import save
from matchwork.models import ADDAX, AddaxConfig

QUERY, DOCUMENT = "who wrote hamlet", "Hamlet , a tragedy , was written by William Shakespeare"


def test_drawings_fit_on_the_page_and_have_legends_of_their_own(browser, tmp_path):
    tokenizer = mw.WordTokenizer.fit(toy()["train"].texts)
    encoder = WordEmbedding.from_vocabulary(tokenizer.vocabulary, dim=300)
    torch.manual_seed(0)
    matcher = mw.Matcher(tokenizer, ADDAX(AddaxConfig(), encoder))
    save(mw.explain(matcher, QUERY, DOCUMENT), tmp_path / "why.html")
    with browser.new_page(viewport={"width": 1000, "height": 800}) as page:
        page.goto((tmp_path / "why.html").as_uri())
        page.locator("#chart svg").wait_for()
        drawn = page.locator("svg").evaluate_all(
            """drawings => drawings.map(svg => ({
                own: [...svg.querySelectorAll('[id]')].map(part => part.id),
                used: svg.outerHTML.match(/url\\(#[^)]+/g) || [],
            }))"""
        )
        cut = "figures => figures.filter(one => one.scrollWidth > one.clientWidth + 1).length"
        assert page.locator("figure").evaluate_all(cut) == 0
    ids = [name for drawing in drawn for name in drawing["own"]]
    assert len(ids) == len(set(ids)) >= 5
    for drawing in drawn:
        assert {name.removeprefix("url(#") for name in drawing["used"]} <= set(drawing["own"])
