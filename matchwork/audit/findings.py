"""Findings: what the numbers say is wrong with the data, and what to do about it."""

from collections.abc import Iterable, Iterator, Mapping
from typing import TypeAlias

from matchwork.audit.report import Finding, Level, Overlap, SplitReport
from matchwork.types import Task

Problem: TypeAlias = tuple[Level, str, str]
"""Level, message and remedy."""
LEVELS: tuple[Level, ...] = ("error", "warning", "info")
"""Worst first."""
SERIOUS_LEAK = 0.01
"""Share of held-out queries seen in training from which a leak is an error."""
CLEAR_MARGIN = 0.005
"""Difference in MAP from which file order counts as better than BM25."""


def explain_split(split: SplitReport, task: Task) -> Iterator[Finding]:
    """Yield the findings about one split."""
    for problem in (*_contents(split), *_labels(split, task), *_ranking(split)):
        yield Finding(problem[0], split.name, *problem[1:])


def _contents(split: SplitReport) -> Iterator[Problem]:
    if not split.pairs:
        yield "error", "no judged pairs", "check ids and columns of the files"
    if split.missing_documents:
        yield (
            "warning",
            f"{_count(split.missing_documents, 'judged document')} without a text, "
            f"such as {_list(split.missing_examples)}",
            "they count as never found; add their texts or say so with the results",
        )
    if split.empty_queries or split.empty_documents:
        yield (
            "warning",
            f"{_count(split.empty_queries, 'empty query')} and "
            f"{_count(split.empty_documents, 'empty document')}",
            "drop them, or check the columns they were read from",
        )


def _labels(split: SplitReport, task: Task) -> Iterator[Problem]:
    if split.pairs and not split.positives:
        yield "error", "no positive label", "check the label column and its meaning"
    if split.conflicting_pairs:
        yield (
            "warning",
            f"{_count(split.conflicting_pairs, 'pair')} with contradicting labels, "
            f"such as {_list(split.conflict_examples)}",
            "no model can get both right: keep the majority label or drop the pair",
        )
    if split.duplicate_pairs:
        yield (
            "info",
            f"{_count(split.duplicate_pairs, 'pair')} repeating an earlier one",
            "drop repeats in training; leave test as published",
        )
    if split.positives and split.queries_without_positives and task == "ranking":
        yield (
            "info",
            f"{_count(split.queries_without_positives, 'query')} without a positive "
            f"and {split.queries_only_positives:,} with nothing else",
            "name the protocol with every result: raw, has-positive or clean",
        )


def _ranking(split: SplitReport) -> Iterator[Problem]:
    orders, stage = split.orders, split.first_stage
    if orders is not None and orders.file_ap > orders.bm25_ap + CLEAR_MARGIN:
        yield (
            "warning",
            f"file order alone scores MAP {orders.file_ap:.3f} on {split.name} "
            f"(BM25 {orders.bm25_ap:.3f}, random {orders.random_ap:.3f})",
            "break ties pessimistically or shuffle the candidates; never feed their position",
        )
    if stage is not None and stage.success.get("pool", 1.0) < 1:
        yield (
            "info",
            f"only {stage.success['pool']:.1%} of the answerable queries have a relevant document "
            "among their candidates",
            "no re-ranking can exceed it: report it beside the results",
        )


def explain_overlap(overlap: Overlap, splits: Mapping[str, SplitReport]) -> Iterator[Finding]:
    """Yield the findings about texts that two splits share, above all leaks of training data."""
    for level, message, remedy in _shared(overlap, splits):
        yield Finding(level, f"{overlap.first} / {overlap.second}", message, remedy)


def _shared(overlap: Overlap, splits: Mapping[str, SplitReport]) -> Iterator[Problem]:
    names = overlap.first, overlap.second
    smaller = min(names, key=lambda name: splits[name].queries)
    training = [name for name in names if name.startswith("train")]
    if overlap.queries and overlap.queries >= splits[smaller].queries:
        yield (
            "info" if len(training) != 1 else "error",
            f"every query of {smaller} is also in the other split",
            "use one or the other, never one to test what the other trained",
        )
    elif overlap.queries:
        share = overlap.queries / splits[smaller].queries
        yield (
            "error" if training and share > SERIOUS_LEAK else "warning",
            f"{_count(overlap.queries, 'query')} ({_count(overlap.pairs, 'pair')}) in both, "
            f"such as {_list(overlap.query_examples)}",
            f"drop them from {training[0] if training else overlap.first}",
        )
    if overlap.documents and not overlap.same_collection:
        yield (
            "info",
            f"{_count(overlap.documents, 'document text')} in both",
            "fine when the queries differ; a model may still remember them",
        )
    if overlap.relevant_documents and overlap.same_collection:
        yield (
            "info",
            f"{_count(overlap.relevant_documents, 'document')} relevant in both",
            "a model may remember popular answers: watch it when comparing with BM25",
        )


def _count(number: int, noun: str) -> str:
    plural = noun[:-1] + "ies" if noun.endswith("query") else noun + "s"
    return f"{number:,} {noun if number == 1 else plural}"


def _list(examples: Iterable[str]) -> str:
    return ", ".join(repr(example) for example in examples)
