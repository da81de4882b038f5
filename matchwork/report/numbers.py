"""Format numbers, in every table: on the console, on a page, in Markdown."""

import re
from typing import NamedTuple, TypeAlias

MISSING = "–"
METER = 24  # letters of a full meter


class Meter(NamedTuple):
    """A cell drawn as a bar of length -1 to 1; negative ones have another colour on the console."""

    share: float


Cell: TypeAlias = str | int | float | Meter | None


def cell_text(cell: Cell) -> str:
    """Return a cell as text: four decimals for floats, thousands separators for integers."""
    if cell is None:
        return MISSING
    if isinstance(cell, Meter):
        return "█" * max(1, round(abs(cell.share) * METER))
    if isinstance(cell, float):
        return f"{cell:.4f}"
    return f"{cell:,}" if isinstance(cell, int) else cell


def is_numeric(text: str) -> bool:
    """Return whether a cell holds numbers only, or nothing: "12 %", "[.45, .49]", "1e-5", "–"."""
    letters = re.sub(r"(?<=\d)e(?=[+-]?\d)", "", text).strip(f" {MISSING}")
    return not letters or (
        any(letter.isdigit() for letter in letters)
        and not any(letter.isalpha() or letter == "█" for letter in letters)
    )


def p_value(p: float) -> str:
    """Return a p-value with four decimals, or "< .0001"."""
    return "< .0001" if p < 1e-4 else f"{p:.4f}"


def interval(low: float, high: float) -> str:
    """Return a confidence interval in brackets."""
    return f"[{low:.4f}, {high:.4f}]"


def signed(difference: float) -> str:
    """Return a difference with its sign."""
    return f"{difference:+.4f}"


def shortened(text: str, length: int = 200) -> str:
    """Return the start of a text on one line, at most `length` characters."""
    flat = " ".join(text.split())
    return flat if len(flat) <= length else f"{flat[: length - 1]}…"
