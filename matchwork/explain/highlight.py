"""Text with its words marked: how strongly each one counted, as HTML that stands alone."""

from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING

from matchwork.explain.explanation import Explanation, Side
from matchwork.explain.titles import evidence_title
from matchwork.report.highlight import marked_text

if TYPE_CHECKING:
    pass


def explanation_html(explanation: Explanation, num_pairs: int = 10) -> str:
    """Both texts with their words marked, the score and the strongest word pairs."""
    probability = explanation.probability
    chance = "" if probability is None else f", probability of a match {probability:.2f}"
    return (
        f"<p>Score <strong>{explanation.score:.4f}</strong> by "
        f"{escape(explanation.model)}{chance}.</p>"
        f"{_side(explanation, 'query')}{_side(explanation, 'document')}"
        f"{_strongest(explanation, num_pairs)}"
    )


def _side(explanation: Explanation, side: Side) -> str:
    text = explanation.query if side == "query" else explanation.document
    found = explanation.word_values(side)
    if found is None:
        body, note = escape(text), ""
    else:
        title, values = found
        body = marked_text(text, explanation.tokens(side), values)
        note = f" <small>({escape(title.lower())})</small>"
    style = "white-space:pre-wrap;overflow-wrap:anywhere;line-height:1.7;margin-left:0"
    return (
        f"<p style='margin-bottom:0'><strong>{side.capitalize()}</strong>{note}</p>"
        f"<div style='{style}'>{body or '<em>empty</em>'}</div>"
    )


def _strongest(explanation: Explanation, num_pairs: int) -> str:
    if not explanation.tables or not explanation.table().size:
        return ""
    rows = "".join(
        f"<tr><td>{escape(query)}</td><td>{escape(document)}</td>"
        f"<td style='text-align:right'>{value:.4f}</td></tr>"
        for query, document, value in explanation.strongest(top_k=num_pairs)
    )
    title = evidence_title(next(iter(explanation.tables)))
    return (
        "<p style='margin-bottom:0'><strong>Strongest word pairs</strong> "
        f"<small>({escape(title.lower())})</small></p>"
        "<table><thead><tr><th style='text-align:left'>query</th>"
        "<th style='text-align:left'>document</th><th style='text-align:right'>value</th></tr>"
        f"</thead><tbody>{rows}</tbody></table>"
    )


@dataclass(frozen=True)
class Highlight:
    """A section of a page: both texts of an explanation marked, and the strongest word pairs."""

    explanation: Explanation

    def html(self) -> str:
        """Return the explanation as running text."""
        return f"<section>{explanation_html(self.explanation)}</section>"
