"""What every word added, and what all of them add up to."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from matchwork.explain.explanation import Explanation, Side, Values
from matchwork.ordering import order

SIDES: tuple[Side, Side] = ("query", "document")
# Weights of words in a summary and the like: their sum says nothing about the score.
NO_SHARES = ("salience", "attention", "jump")
MEANS = ("jump",)  # of several words: their sum says nothing at all


@dataclass(frozen=True, eq=False)
class Contributions:
    """The word weights of one side, word by word; the most helpful word first.

    `values` has a row per word, a column per kind of weight ("agreement", "distance"). A word
    that stands in several places is one row, their sum or, of `MEANS`, their mean; `counts` says
    how many they are.
    """

    side: Side
    kinds: tuple[str, ...]
    words: tuple[str, ...]
    counts: tuple[int, ...]
    values: Values

    @property
    def labels(self) -> list[str]:
        """The words, each with the number of its places where it has several."""
        return [
            word if count == 1 else f"{word} \N{MULTIPLICATION SIGN}{count}"
            for word, count in zip(self.words, self.counts, strict=True)
        ]

    @property
    def totals(self) -> Values:
        """The sum of each kind over all words, or the mean."""
        return self._together(0)

    def rows(self, top_k: int) -> list[tuple[str, list[float]]]:
        """The first words, the others as one, and all of them: rows of a table that adds up."""
        shown = list(zip(self.labels, self.values.tolist(), strict=True))[:top_k]
        others = sum(self.counts[top_k:])
        if others:
            shown.append((f"({others} more)", self._together(top_k).tolist()))
        return [*shown, (f"all {sum(self.counts)} words", self.totals.tolist())]

    def _together(self, first: int) -> Values:
        """All words from that one on, as one."""
        values, counts = self.values[first:], np.array(self.counts[first:])
        means = counts @ values / max(1, counts.sum())
        together: Values = np.where(_are_means(self.kinds), means, values.sum(axis=0))
        return together


def contributions(explanation: Explanation) -> list[Contributions]:
    """The word weights of each side that has some and is not empty, query first."""
    return [
        _of_side(explanation, side)
        for side in SIDES
        if explanation.tokens(side) and explanation.word_weights(side)
    ]


def sum_line(explanation: Explanation) -> str:
    """How the words make the score, in a sentence; empty when they do not add up to it."""
    totals: dict[str, dict[Side, float]] = {}
    for one in contributions(explanation):
        for kind, value in zip(one.kinds, one.totals.tolist(), strict=True):
            totals.setdefault(kind, {})[one.side] = value
    for kind, parts in totals.items():
        if len(parts) > 1 and np.allclose(list(parts.values()), explanation.score, rtol=1e-3):
            return f"The words of either side add up to {explanation.score:.4f}; the score."
        total = 0.0 if kind.startswith(NO_SHARES) else sum(parts.values())
        if total and np.isclose(abs(total), abs(explanation.score), rtol=1e-3):
            sides = " + ".join(f"{value:.4f} ({side})" for side, value in parts.items())
            whole = f" = {total:.4f}" if len(parts) > 1 else ""
            end = "the score" if total * explanation.score > 0 else "the score is its negative"
            return f"{kind.capitalize()} of all words: {sides}{whole}; {end}."
    return ""


def _of_side(explanation: Explanation, side: Side) -> Contributions:
    weights = {
        name.removeprefix(f"{side}_"): values
        for name, values in explanation.word_weights(side).items()
    }
    places: dict[str, list[int]] = {}
    for place, token in enumerate(explanation.tokens(side)):
        places.setdefault(token.text.casefold(), []).append(place)
    table = np.stack(list(weights.values()), axis=1)
    found = [table[where] for where in places.values()]
    means = _are_means(tuple(weights))
    sums = np.stack([np.where(means, one.mean(axis=0), one.sum(axis=0)) for one in found])
    words = [explanation.tokens(side)[where[0]].text for where in places.values()]
    counts = [len(where) for where in places.values()]
    ranking = order(sums[:, 0]).tolist()
    return Contributions(
        side,
        tuple(weights),
        tuple(words[i] for i in ranking),
        tuple(counts[i] for i in ranking),
        sums[ranking],
    )


def _are_means(kinds: Sequence[str]) -> npt.NDArray[np.bool_]:
    return np.array([kind.startswith(MEANS) for kind in kinds])
