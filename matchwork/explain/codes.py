"""What hashing keeps of each word: its vector before, its code, and what is restored from it."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from matchwork.ordering import order

if TYPE_CHECKING:
    from matchwork.interact import Codes

MAX_COLUMNS = 64  # of hundreds: as many as a picture can show
DECIMALS = 4
PARTS = ("before", "codes", "after")
Side: TypeAlias = Literal["query", "document"]
Values: TypeAlias = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class CodeMaps:
    """Three tables of words by values, cut to the values that differ most between words.

    `before` and `after` have the same columns; `widths` are those of whole vectors and codes.
    """

    side: Side
    before: Values
    codes: Values
    after: Values
    widths: tuple[int, int]

    @classmethod
    def of(cls, evidence: "Codes", num_words: int) -> "CodeMaps":
        """The first pair of a batch."""
        before, codes, after = (
            values[0, :num_words].double().cpu().numpy().round(DECIMALS)
            for values in (evidence.before, evidence.values, evidence.after)
        )
        kept, bits = _most_different(before), _most_different(codes)
        widths = (before.shape[1], codes.shape[1])
        return cls(evidence.side, before[:, kept], codes[:, bits], after[:, kept], widths)

    def to_json(self) -> dict[str, Any]:
        """Plain values, enough to make an equal object."""
        tables = {name: getattr(self, name).tolist() for name in PARTS}
        return {"side": self.side, **tables, "widths": list(self.widths)}

    @classmethod
    def from_json(cls, table: Mapping[str, Any]) -> "CodeMaps":
        """The inverse of `to_json`."""
        tables = {name: np.asarray(table[name], dtype=np.float64) for name in PARTS}
        width, bits = table["widths"]
        return cls(side=table["side"], **tables, widths=(width, bits))


def _most_different(values: Values) -> npt.NDArray[np.int64]:
    """Columns with the largest spread over the words, in their own order."""
    if not len(values):
        return np.arange(min(MAX_COLUMNS, values.shape[1]))
    return np.sort(order(values.std(axis=0))[:MAX_COLUMNS])
