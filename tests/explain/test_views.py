"""A view is one file, also in a package outside the tree, and is shown everywhere."""

import json
from collections.abc import Iterator

import jsonschema
import pytest
from glacier_pair import DOCUMENT, QUERY, labels

from matchwork.cli.explain import print_explanation
from matchwork.explain import VIEWS, explain, json_schema, picture, save, view_tables
from matchwork.explain.view import View, views
from matchwork.plugins import import_plugins
from matchwork.report.drawing import to_svg

LONGEST_WORD = '''
"""A view of another package."""

import altair as alt

from matchwork.explain import VIEWS, View
from matchwork.report.page import Table


def longest(explanation):
    return max(explanation.document_tokens, key=lambda token: len(token.text)).text


def chart(explanation, max_words):
    values = [{"word": longest(explanation)}]
    return [alt.Chart(alt.InlineData(values=values)).mark_text().encode(text="word:N")]


VIEWS.add(
    "longest-word",
    View(
        title="The longest word",
        tables=lambda found, top_k: [Table(["longest"], [[longest(found)]])],
        charts=chart,
        notes=lambda found: ["Found by another package."],
        data=longest,
        schema=str,
    ),
)
'''


@pytest.fixture
def outside(tmp_path, monkeypatch) -> Iterator[None]:
    package = tmp_path / "longest_word_view"
    package.mkdir()
    (package / "__init__.py").write_text(LONGEST_WORD)
    monkeypatch.syspath_prepend(tmp_path)
    import_plugins(["longest_word_view"])
    yield
    VIEWS._entries.pop("longest-word")


@pytest.mark.usefixtures("outside")
def test_a_view_of_another_package_is_shown_everywhere(make_matcher, tmp_path, capsys):
    explanation = explain(make_matcher("bag"), QUERY, DOCUMENT)
    print_explanation(explanation, top_k=3)
    printed = capsys.readouterr().out
    assert "The longest word" in printed and "Found by another package." in printed
    save(explanation, tmp_path / "why.html")
    page = (tmp_path / "why.html").read_text()
    assert "<h2>The longest word</h2><figure>" in page.replace("\n", "")
    assert "<td>submerged</td>" in page and "<p>Found by another package.</p>" in page
    assert "submerged" in labels(to_svg(picture(explanation)))
    table = json.loads(json.dumps(explanation.to_dict()))
    assert table["longest-word"] == "submerged"
    jsonschema.validate(table, json_schema())
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(table | {"longest-word": 9}, json_schema())
    shown = view_tables(explanation)[-1]
    assert (shown["name"], shown["tables"][0]["rows"]) == ("longest-word", [["submerged"]])


def test_views_have_an_order_and_each_says_what_it_is():
    listed = dict(views())
    assert list(listed)[:2] == ["texts", "shares"] and len(listed) == 12
    orders = [view.order for view in listed.values()]
    assert orders == sorted(orders) and len(set(orders)) == len(orders)
    assert all(view.title for view in listed.values())
    assert View(title="own").order > max(orders)
