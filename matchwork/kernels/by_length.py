"""Less work for the same vectors: equal rows once, unequal lengths in several passes."""

from collections.abc import Callable, Sequence

import torch
from torch import Tensor


def pass_ends(lengths: Sequence[int], worth: int) -> list[int]:
    """Where to cut rows, shortest first: each cut saves at least `worth` tokens of padding.

    >>> pass_ends([3, 3, 4, 40], worth=10)
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
        if saved >= max(1, worth):
            waiting += [(cut, end), (start, cut)]
        else:
            ends.append(end)
    return ends


def in_passes(run: Callable[[Tensor, int], Tensor], lengths: Tensor, worth: int) -> Tensor:
    """What `run(rows, longest)` gives for rows of similar length, as if it had run once.

    It gives (rows, tokens, dim), with `longest` tokens or fewer; so does the whole.
    """
    ordered, rows = lengths.sort(stable=True)
    sizes = ordered.tolist()
    ends = pass_ends(sizes, worth)
    if len(ends) == 1:
        longest = max(1, *sizes[-1:])
        return run(torch.arange(len(lengths), device=lengths.device), longest)
    parts, start = [], 0
    for end in ends:
        parts.append(run(rows[start:end], max(1, sizes[end - 1])))
        start = end
    tokens = max(part.shape[1] for part in parts)
    padded = [torch.nn.functional.pad(part, (0, 0, 0, tokens - part.shape[1])) for part in parts]
    return torch.cat(padded)[rows.argsort()]


def distinct_rows(ids: Tensor, mask: Tensor) -> tuple[Tensor, Tensor]:
    """Places of rows that all differ, and for every row which of them it equals."""
    real = ids.masked_fill(~mask, -1)
    distinct, same = real.unique(dim=0, return_inverse=True)  # type: ignore[no-untyped-call]
    rows = torch.arange(len(ids), device=ids.device)
    first = rows.new_full((len(distinct),), len(ids)).scatter_reduce(0, same, rows, "amin")
    return first, same
