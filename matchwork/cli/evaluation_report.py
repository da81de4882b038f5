"""The HTML page of `matchwork evaluate --report`."""

from collections.abc import Iterator
from pathlib import Path

from matchwork.cli import show
from matchwork.cli.evaluation_tables import (
    conditions,
    evaluation_header,
    evaluation_rows,
    reliability_line,
)
from matchwork.evaluate import Comparison
from matchwork.evaluate.benchmark import BenchmarkResult
from matchwork.explain import Highlight, explain
from matchwork.matcher import Matcher
from matchwork.report.page import Figure, Heading, Paragraph, Section, Table, write_report
from matchwork.report.result_charts import Bar, bar_with_intervals, reliability_chart, wins_losses

_EXAMPLES = 8  # number of queries in each table of wins and losses


def write_evaluation_report(path: Path, result: BenchmarkResult) -> None:
    """Write a page of numbers, intervals, wins and losses, and explanations of a few pairs.

    Args:
        path: The HTML file.
        result: What was measured.
    """
    benchmark = result.benchmark
    title = f"{result.system} on {benchmark.dataset}, split {benchmark.split}"
    with show.working("drawing the report"):
        write_report(path, title, _sections(result))


def _sections(result: BenchmarkResult) -> Iterator[Section]:
    header = evaluation_header(bool(result.comparisons))
    yield Paragraph(conditions(result.evaluations) + ".")
    yield Table(header, evaluation_rows(result.evaluations, result.comparisons))
    first = result.measured.measures[0]
    bars = [Bar(name, e[first], *e.interval(first)) for name, e in result.evaluations.items()]
    yield Figure(bar_with_intervals(bars, first), "With 95 % bootstrap intervals over queries.")
    if result.reliability is not None:
        yield Heading("Calibration")
        yield Figure(reliability_chart(result.reliability))
        yield Paragraph(reliability_line(result.reliability) + ".")
    for name, comparisons in result.comparisons.items():
        comparison = next(iter(comparisons.values()))
        if comparison.changes:
            yield from _changes(result, name, comparison)


def _changes(result: BenchmarkResult, name: str, comparison: Comparison) -> Iterator[Section]:
    yield Heading(f"{name} against BM25, query by query")
    yield Figure(wins_losses(comparison.changes.values(), comparison.measure))
    for caption, changes in (
        ("Biggest wins", comparison.biggest_wins(_EXAMPLES)),
        ("Biggest losses", comparison.biggest_losses(_EXAMPLES)),
    ):
        if changes:
            queries = result.measured.split.queries
            rows = [[q, queries.get(q, ""), show.signed(change)] for q, change in changes]
            yield Table(["id", "query", comparison.measure], rows, caption)
            if isinstance(result.scorer, Matcher) and name == result.scorer.name:
                yield from _explanation(result, result.scorer, changes[0][0])


def _explanation(result: BenchmarkResult, matcher: Matcher, query: str) -> Iterator[Section]:
    """Explain the document that the matcher ranks first for a query."""
    split, scores = result.measured.split, result.runs[matcher.name].get(query)
    if not scores:
        return
    best = max(scores, key=scores.__getitem__)
    relevant = "relevant" if split.label(query, best) > 0 else "not relevant"
    yield Paragraph(f"The document it ranks first for query {query} ({best}, {relevant}):")
    yield Highlight(explain(matcher, split.queries[query], split.documents[best]))
