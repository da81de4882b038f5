"""The report page of the demo."""

from typing import TYPE_CHECKING

from matchwork.explain import Highlight, heat_map
from matchwork.report.numbers import p_value, signed
from matchwork.report.page import Figure, Heading, Paragraph, Section, Table, write_report
from matchwork.report.result_charts import Bar, bar_with_intervals, wins_losses

if TYPE_CHECKING:
    from matchwork.demo.run import DemoResult


def write_demo_report(result: "DemoResult") -> None:
    """Write measurements, three rankings and one explanation as a page."""
    write_report(result.report, "Matchwork demo", [*_numbers(result), *_rankings(result)])


def _numbers(result: "DemoResult") -> list[Section]:
    splits = result.dataset.splits
    fused = list(result.evaluations)[-1]
    comparison = result.comparisons[fused]["RR"]
    bars = [
        Bar(name, evaluation["RR"], *evaluation.interval("RR"))
        for name, evaluation in result.evaluations.items()
    ]
    versions = ", ".join(f"{k} {v}" for k, v in result.dataset.versions.items())
    return [
        Paragraph(
            f"The first paragraph of a docstring is the query, the rest of it the only relevant "
            f"one among {len(splits['test'].documents):,} documents. Trained on "
            f"{len(splits['train'].queries):,} queries, the fusion weight ({result.weight:g}) "
            f"chosen on {len(splits['dev'].queries):,} dev queries, measured on "
            f"{len(splits['test'].queries):,} test queries."
        ),
        Heading("Which ranking is better?"),
        Table(*result_table(result)),
        Figure(bar_with_intervals(bars, "RR"), "Mean reciprocal rank with 95 % intervals."),
        Paragraph(
            f"Of {result.evaluations[fused].num_queries:,} test queries, {comparison.wins:,} are "
            f"answered higher than with BM25 alone and {comparison.losses:,} lower."
        ),
        Figure(
            wins_losses(comparison.changes.values(), "RR"),
            f"Change of the reciprocal rank per query, {fused} against BM25.",
        ),
        Paragraph(f"The data were made from: {versions}."),
    ]


def result_table(result: "DemoResult") -> tuple[list[str], list[list[str]]]:
    """Return header and rows of the table: values, interval and p-value per system."""
    first, *others = result.evaluations["BM25"].samples
    header = ["ranking", f"{first} (95 % interval)", *others, "change", "p"]
    rows = []
    for name, evaluation in result.evaluations.items():
        low, high = evaluation.interval(first)
        values = [f"{evaluation[measure]:.4f}" for measure in others]
        change = ["–", "–"]
        if name in result.comparisons:
            comparison = result.comparisons[name][first]
            change = [signed(comparison.difference), p_value(comparison.p_value)]
        interval = f"({low:.3f}–{high:.3f})".replace("0.", ".")
        rows.append([name, f"{evaluation[first]:.4f} {interval}", *values, *change])
    return header, rows


def _rankings(result: "DemoResult") -> list[Section]:
    sections: list[Section] = [Heading("Three queries nobody wrote a docstring for")]
    for query, hits in result.examples.items():
        rows = [
            [str(hit.rank), hit.document.id, f"{hit.score:.3f}", _shortened(hit.document.text)]
            for hit in hits
        ]
        sections.append(Table(["rank", "documents", "score", "text"], rows, f"“{query}”"))
    sections += [
        Heading("Why the first one matched"),
        Highlight(result.explanation),
        Figure(
            heat_map(result.explanation),
            "Similarity of every query word (and known pair of words) with the document's.",
        ),
    ]
    return sections


def _shortened(text: str, length: int = 160) -> str:
    return text if len(text) <= length else text[: length - 1].rsplit(" ", 1)[0] + "…"
