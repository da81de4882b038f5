import subprocess
import sys
from dataclasses import replace

import numpy as np
from glacier_pair import DOCUMENT, QUERY, labels, tokens_of

from matchwork.explain import explain, heat_map, word_strip
from matchwork.explain.views.texts import LINE, MAX_LETTERS
from matchwork.report.drawing import to_live_html, to_svg


def cells(chart, *path):
    """The rows that the chart, or the part of it at `path`, draws."""
    part = spec = chart.to_dict()
    for step in path:
        part = part[step]
    return spec["datasets"][part["data"]["name"]]


def test_heat_map_has_a_cell_per_word_pair_even_when_words_repeat(handmade):
    again = replace(handmade, document="fox and fox", document_tokens=tokens_of("fox and fox"))
    chart = heat_map(again)
    assert len(cells(chart)) == 6
    assert cells(chart)[3] == {"q": 1, "d": 0, "query": "fox", "document": "fox", "value": 0.9}
    found = labels(to_svg(chart))
    assert found.count("fox") == 3
    assert "Word matching before the first layer" in found


def test_colours_fit_the_range(handmade):
    scale = heat_map(handmade).to_dict()["encoding"]["color"]["scale"]
    assert (scale["scheme"], scale["domain"]) == ("blueorange", [-0.9, 0.9])
    positive = replace(handmade, tables={"similarity": np.full((2, 3), 0.25)})
    scale = heat_map(positive).to_dict()["encoding"]["color"]["scale"]
    assert (scale["scheme"], scale["domain"]) == ("blues", [0, 0.25])


def test_long_texts_keep_the_strongest_words_in_text_order_and_say_so(handmade):
    chart = heat_map(handmade, max_words=2)
    assert [cell["document"] for cell in cells(chart)[:2]] == ["fox", "Fox"]
    assert "the 2 of 3 document words with the strongest cells" in labels(to_svg(chart))
    assert "subtitle" not in heat_map(handmade).to_dict()["title"]


def test_bigrams_stand_where_they_begin(make_matcher):
    explanation = explain(make_matcher("bag", bigrams=True), QUERY, DOCUMENT)
    words = [cell["query"] for cell in cells(heat_map(explanation)) if cell["d"] == 0]
    assert words[:4] == ["how", "how are", "are", "are glacier"]


def test_labels_survive_any_characters(handmade):
    odd = ("</script>", '"\\', "'&<ü🧊\u2028")
    tokens = tokens_of(" ".join(odd))
    chart = heat_map(replace(handmade, document=" ".join(odd), document_tokens=tokens))
    found = labels(to_svg(chart))
    assert "&lt;/script&gt;" in found
    assert any("ü🧊" in label for label in found)
    live = to_live_html(chart)
    assert live.count("</script>") == 2
    assert "<script src" not in live


def test_strip_wraps_whole_words(handmade):
    text = " ".join(f"word{i}" for i in range(400))
    tokens = tokens_of(text)
    long = replace(
        handmade, document=text, document_tokens=tokens, tables={"x": np.ones((2, 400))}, weights={}
    )
    chart = word_strip(long, "document")
    placed = cells(chart)
    assert all(item["end"] <= LINE + 1 for item in placed)
    words = [item["text"] for item in placed if item["text"]]
    assert words == text.split()[: len(words)]
    assert chart.to_dict()["title"]["text"] == (
        f"Document, first {MAX_LETTERS:,} of {len(text):,} characters"
    )


def test_importing_the_package_waits_for_neither_altair_nor_torch():
    check = (
        "import sys, matchwork.explain; "
        "assert not {'altair', 'vl_convert', 'torch'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", check], check=True)
