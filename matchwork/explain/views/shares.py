"""View: what each part of a model adds to the score."""

from matchwork.explain.shares import Shares
from matchwork.explain.view import VIEWS, View
from matchwork.report.altair import Chart, alt
from matchwork.report.drawing import signed_bars
from matchwork.report.page import Table


def share_bars(shares: Shares) -> Chart:
    """Draw how far relevance and semantics move the score from where every pair starts."""
    effects = [("relevance", shares.relevance_effect), ("semantics", shares.semantic_effect)]
    title = alt.TitleParams(
        "What relevance and semantics add to the score",
        subtitle=f"from {shares.neither:.4f}, both at their mean, to {shares.score:.4f}",
        fontSize=13,
    )
    x = alt.X("value:Q", title=None, axis=alt.Axis(tickCount=5))
    return signed_bars("part", effects, x, step=22, format="+.4f").properties(
        width=420, title=title
    )


VIEWS.add(
    "shares",
    View(
        title="Relevance or semantics",
        order=10,
        charts=lambda found, max_words: [share_bars(found.shares)] if found.shares else [],
        tables=lambda found, top_k: (
            [Table(["features", "score"], found.shares.rows())] if found.shares else []
        ),
        notes=lambda found: [found.shares.in_words()] if found.shares else [],
    ),
)
