from dataclasses import replace

import pytest


def test_notebook_view_escapes_texts_and_names_the_evidence(handmade):
    html = handmade._repr_html_()
    assert "Score <strong>0.5000</strong> by hand." in html
    assert "how far each document word stays from the query" in html
    assert "<td>fox</td><td>fox</td>" in html


@pytest.mark.parametrize("probability", [None, 0.25])
def test_notebook_view_shows_a_probability_only_when_there_is_one(handmade, probability):
    html = replace(handmade, probability=probability)._repr_html_()
    assert ("probability of a match 0.25" in html) == (probability is not None)
