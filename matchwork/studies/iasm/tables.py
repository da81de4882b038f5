"""Each analysis as a table whose caption says what its numbers are computed over."""

from collections.abc import Iterator, Mapping, Sequence

from matchwork.report.numbers import p_value
from matchwork.report.page import Table
from matchwork.studies.iasm.groups import Estimate, Group
from matchwork.studies.iasm.out_of_vocabulary import OutOfVocabulary
from matchwork.studies.iasm.overlap import Overlap
from matchwork.studies.iasm.smoothing import Smoothing

_INTERVALS = "in brackets: 95 % bootstrap interval, of no width where all queries agree"


def out_of_vocabulary_table(found: OutOfVocabulary) -> Table:
    """Return a row per class and measure."""
    notes = [
        f"{found.num_queries:,} queries by the hardest noun or verb of the query and its relevant "
        "documents (IV: known to training and vectors, OOTV: vectors only, OOEV: training only, "
        "OOBV: neither)",
        "with any such word: "
        + ", ".join(f"{label} {count:,}" for label, count in found.containing.items()),
    ]
    if found.num_without_words:
        notes.append(f"{found.num_without_words:,} without noun or verb count as IV")
    if not found.has_vectors:
        notes.append("the vocabulary has no pre-trained vectors, so every word is OOEV or OOBV")
    notes.append(f"tagger: {found.tagger}")
    return _group_table("class", found.groups, [*notes, *_left_out(found.num_without_relevant)])


def overlap_table(found: Overlap) -> Table:
    """Return a row per group."""
    words = "stems of words" if found.stemmed else "words"
    notes = [
        f"{found.num_queries:,} queries by the distinct {words} they share with a relevant "
        f"document, stop words left out ({found.stop_words})"
    ]
    return _group_table("shared", found.groups, [*notes, *_left_out(found.num_without_relevant)])


def smoothing_table(results: Mapping[str, Smoothing]) -> Table:
    """Return two rows per matcher and split: trained weights beside untrained ones."""
    rows = []
    for name, found in results.items():
        for split, one in found.splits.items():
            share, ratio = one.control(lambda s: s.share), one.control(lambda s: s.ratio)
            size = f"{one.num_pairs:,}"
            rows.append([name, split, size, "share", *_beside(one.trained.share, share, ".1%")])
            rows.append(["", "", "", "ratio", *_beside(one.trained.ratio, ratio, ".2g")])
    first = next(iter(results.values()))
    num_empty = sum(one.num_empty for one in first.splits.values())
    notes = [
        "share: of the pairs of a query and a relevant document, those whose last matching matrix "
        "has a smaller variance than the first",
        "ratio: last variance by first, median over pairs",
        f"untrained: the same architecture and encoder with fresh weights, mean and range of "
        f"{len(first.seeds)} seeds",
    ]
    if num_empty:
        notes.append(f"{num_empty:,} pairs without words on both sides are left out")
    header = ["model", "split", "n", "measure", "trained", "untrained"]
    return Table(header, rows, "; ".join(notes) + ".")


def _beside(trained: float, control: tuple[float, float, float], style: str) -> list[str]:
    mean, low, high = (format(value, style) for value in control)
    return [format(trained, style), f"{mean} ({low}–{high})"]


def _left_out(number: int) -> Iterator[str]:
    if number:
        yield f"{number:,} queries without a relevant document are left out"


def _group_table(title: str, groups: Sequence[Group], notes: Sequence[str]) -> Table:
    systems = list(groups[0].estimates)
    compared = len(systems) == 2
    rows = [row for group in groups for row in _rows(group, compared)]
    header = [title, "n", "measure", *systems, *(["change", "p"] if compared else [])]
    if compared:
        change = f"change: {systems[0]} minus {systems[1]}"
        notes = [*notes, f"{change}, p by paired permutation, Holm-corrected over the groups"]
    return Table(header, rows, "; ".join([*notes, _INTERVALS]) + ".")


def _rows(group: Group, compared: bool) -> Iterator[list[str]]:
    """Yield a row per measure; an empty group has one row without values."""
    label, size = group.label, f"{group.num_queries:,}"
    if not group.queries:
        yield [label, size, "–", *("–" for _ in group.estimates), *(["–"] * 2 * compared)]
        return
    for measure in next(iter(group.estimates.values())):
        cells = [_estimate(found[measure]) for found in group.estimates.values()]
        if compared:
            change = group.differences[measure]
            cells += [f"{change.value:+.3f}", p_value(change.p_holm)]
        yield [label, size, measure, *cells]
        label = size = ""


def _estimate(one: Estimate) -> str:
    return f"{one.value:.3f} ({one.low:.2f}–{one.high:.2f})"
