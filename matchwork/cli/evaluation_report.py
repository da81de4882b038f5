"""The HTML page of `matchwork evaluate --report`."""

from collections.abc import Iterator
from pathlib import Path

from matchwork.cli import show
from matchwork.cli.evaluate import (
    conditions,
    evaluation_header,
    evaluation_rows,
    reliability_line,
)
from matchwork.cli.measure import Answer
from matchwork.evaluate import Comparison
from matchwork.explain import Highlight, explain
from matchwork.report.page import Figure, Heading, Paragraph, Section, Table, write_report
from matchwork.report.result_charts import Bar, bar_with_intervals, reliability_chart, wins_losses

_EXAMPLES = 8  # queries in each table of wins and losses


def write_evaluation_report(path: Path, answer: Answer) -> None:
    """Numbers, intervals, wins and losses, and the matcher's reasons for a few pairs."""
    question, system = answer.question, list(answer.evaluations)[-1]
    title = f"{system} on {question.dataset}, split {question.split}"
    with show.working("drawing the report"):
        write_report(path, title, _sections(answer))


def _sections(answer: Answer) -> Iterator[Section]:
    header = evaluation_header(bool(answer.comparisons))
    yield Paragraph(conditions(answer.evaluations) + ".")
    yield Table(header, evaluation_rows(answer.evaluations, answer.comparisons))
    first = answer.measured.measures[0]
    bars = [Bar(name, e[first], *e.interval(first)) for name, e in answer.evaluations.items()]
    yield Figure(bar_with_intervals(bars, first), "With 95 % bootstrap intervals over queries.")
    if answer.reliability is not None:
        yield Heading("What its probabilities are worth")
        yield Figure(reliability_chart(answer.reliability))
        yield Paragraph(reliability_line(answer.reliability) + ".")
    for name, comparisons in answer.comparisons.items():
        comparison = next(iter(comparisons.values()))
        if comparison.changes:
            yield from _changes(answer, name, comparison)


def _changes(answer: Answer, name: str, comparison: Comparison) -> Iterator[Section]:
    yield Heading(f"{name} against BM25, query by query")
    yield Figure(wins_losses(comparison.changes.values(), comparison.measure))
    for caption, changes in (
        ("Biggest wins", comparison.biggest_wins(_EXAMPLES)),
        ("Biggest losses", comparison.biggest_losses(_EXAMPLES)),
    ):
        if changes:
            queries = answer.measured.split.queries
            rows = [[q, queries.get(q, ""), show.signed(change)] for q, change in changes]
            yield Table(["id", "query", comparison.measure], rows, caption)
            if answer.matcher is not None and name == answer.matcher.name:
                yield from _reasons(answer, changes[0][0])


def _reasons(answer: Answer, query: str) -> Iterator[Section]:
    """The matcher's best document for a query, explained."""
    matcher, split = answer.matcher, answer.measured.split
    scores = answer.runs[matcher.name].get(query) if matcher is not None else None
    if matcher is None or not scores:
        return
    best = max(scores, key=scores.__getitem__)
    relevant = "relevant" if split.label(query, best) > 0 else "not relevant"
    yield Paragraph(f"The document it ranks first for query {query} ({best}, {relevant}):")
    yield Highlight(explain(matcher, split.queries[query], split.documents[best]))
