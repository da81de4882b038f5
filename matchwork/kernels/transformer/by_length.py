"""Less padding: equal rows are computed once, rows of unequal length in several passes."""

from collections.abc import Callable, Sequence
from itertools import pairwise

import torch
from torch import Tensor


def pass_ends(lengths: Sequence[int], min_saving: int) -> list[int]:
    """Return where to cut rows of ascending length into passes that each save enough padding.

    >>> pass_ends([3, 3, 4, 40], min_saving=10)
    [3, 4]
    """
    ends, waiting = [], [(0, len(lengths))]
    while waiting:
        start, end = waiting.pop()
        longest = lengths[end - 1] if end > start else 0
        saved, cut = max(
            (((cut - start) * (longest - lengths[cut - 1]), cut) for cut in range(start + 1, end)),
            default=(0, end),
        )
        if saved >= max(1, min_saving):
            waiting += [(cut, end), (start, cut)]
        else:
            ends.append(end)
    return ends


def in_passes(run: Callable[[Tensor, int], Tensor], lengths: Tensor, min_saving: int) -> Tensor:
    """Call `run` on groups of rows of similar length and join the results in the rows' order.

    `run` takes row numbers and the length of the longest; it returns a tensor of shape (rows,
    tokens, dim) with at most that many tokens. Each further call must save `min_saving` tokens.
    """
    ascending, rows = lengths.sort(stable=True)
    sizes = ascending.tolist()
    ends = pass_ends(sizes, min_saving)
    if len(ends) == 1:
        longest = max(1, *sizes[-1:])
        return run(torch.arange(len(lengths), device=lengths.device), longest)
    parts = [run(rows[start:end], max(1, sizes[end - 1])) for start, end in pairwise([0, *ends])]
    tokens = max(part.shape[1] for part in parts)
    padded = [torch.nn.functional.pad(part, (0, 0, 0, tokens - part.shape[1])) for part in parts]
    return torch.cat(padded)[rows.argsort()]


def distinct_rows(ids: Tensor, mask: Tensor) -> tuple[Tensor, Tensor]:
    """Return the index of one row per distinct text, and for every row which of these it equals."""
    real = ids.masked_fill(~mask, -1)
    distinct, group = real.unique(dim=0, return_inverse=True)  # type: ignore[no-untyped-call]
    rows = torch.arange(len(ids), device=ids.device)
    first = rows.new_full((len(distinct),), len(ids)).scatter_reduce(0, group, rows, "amin")
    return first, group
