"""Codes of words: the vector before hashing, the code, and the restored vector."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from matchwork.ordering import order
from matchwork.report.highlight import Values
from matchwork.types import Side

if TYPE_CHECKING:
    from matchwork.interact import Codes

MAX_COLUMNS = 64  # of hundreds: as many as a picture can show
DECIMALS = 4
PARTS = ("before", "codes", "after")


@dataclass(frozen=True, eq=False)
class CodeMaps:
    """Tables cut to the values that differ most between words; `widths` of vectors and codes.

    Shape (words, values) for vectors `before` and `after` hashing, (words, bits) for `codes`.
    """

    side: Side
    before: Values
    codes: Values
    after: Values
    widths: tuple[int, int]

    @classmethod
    def of(cls, evidence: "Codes", num_words: int) -> "CodeMaps":
        """Read the first pair of a batch, whose side has `num_words` words."""
        before, codes, after = (
            values[0, :num_words].double().cpu().numpy().round(DECIMALS)
            for values in (evidence.before, evidence.values, evidence.after)
        )
        columns, bits = _most_different(before), _most_different(codes)
        widths = (before.shape[1], codes.shape[1])
        return cls(evidence.side, before[:, columns], codes[:, bits], after[:, columns], widths)

    def to_dict(self) -> dict[str, Any]:
        """Return plain values, enough to make an equal object."""
        tables = {name: getattr(self, name).tolist() for name in PARTS}
        return {"side": self.side, **tables, "widths": list(self.widths)}

    @classmethod
    def from_dict(cls, table: Mapping[str, Any]) -> "CodeMaps":
        """Read what `to_dict` returned."""
        tables = {name: np.asarray(table[name], dtype=np.float64) for name in PARTS}
        width, bits = table["widths"]
        return cls(side=table["side"], **tables, widths=(width, bits))


def _most_different(values: Values) -> npt.NDArray[np.int64]:
    """Return the columns with the largest spread over the words, in their own order."""
    if not len(values):
        return np.arange(min(MAX_COLUMNS, values.shape[1]))
    return np.sort(order(values.std(axis=0))[:MAX_COLUMNS])
