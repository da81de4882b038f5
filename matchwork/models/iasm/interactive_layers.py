"""Layers in which two texts rewrite each other through their matching matrix (IASM, eq. 2 to 7).

A layer gives every document word a mixture of the query words it matches, and every query word
one of document words: the texts swap places. Counted by places instead of by texts nothing
moves. Let `A` be the matching matrix, x what stands at its rows and y what stands at its columns:

    y' = relu(transpose(A) x U + b)    x' = relu(A y V + c)    A' = alpha cos(x', y') + beta A

where x is Q in even layers and D in odd ones, and so are its weights U. Biases stay away from
padding, whose vectors therefore remain zero; nothing else needs a mask.

In code x is the shorter text. It is projected before it is mixed and y mixed before it is
projected, so that the long text meets no dim x dim matrix, forwards or backwards.
"""

from itertools import chain
from typing import Any, NamedTuple

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from matchwork.encode import Encoded
from matchwork.interact.precision import product_type, wide_type
from matchwork.interact.similarity import Cosines


class Weights(NamedTuple):
    """Parameters of all layers: matrices (L, dim, dim), multiplied from the right, and biases."""

    Wq: Tensor
    Wd: Tensor
    bq: Tensor
    bd: Tensor


class Layers(NamedTuple):
    """Everything the stack computed; entry 0 of each list is what it began with.

    `tables[t]` is A[t] as query x document. The texts are listed by the words they stand for:
    `by_query[t]` has one vector per query word, whichever text that is after t layers.
    """

    tables: list[Tensor]
    by_query: list[Tensor]
    by_document: list[Tensor]

    @property
    def matrices(self) -> list[Tensor]:
        """The paper's A[t]: m x n for even t, n x m for odd t."""
        return [table.mT if t % 2 else table for t, table in enumerate(self.tables)]

    @property
    def queries(self) -> list[Tensor]:
        """The paper's Q[t], which has a row per document word for odd t."""
        return _alternate(self.by_query, self.by_document)

    @property
    def documents(self) -> list[Tensor]:
        """The paper's D[t], which has a row per query word for odd t."""
        return _alternate(self.by_document, self.by_query)


def interactive_layers(
    matrix: Tensor, query: Encoded, document: Encoded, weights: Weights, alpha: float, beta: float
) -> Layers:
    """As many layers as there are weights, beginning with `matrix`, which is zero at padding.

    Products have the type that autocast asks for, matching matrices keep their own.
    """
    if matrix.shape[-1] < matrix.shape[-2]:  # the same, seen from the shorter text
        turned = Weights(weights.Wd, weights.Wq, weights.bd, weights.bq)
        seen = interactive_layers(matrix.mT, document, query, turned, alpha, beta)
        return Layers([table.mT for table in seen.tables], seen.by_document, seen.by_query)
    dtype = product_type(query.vectors)
    texts = query.vectors, document.vectors
    made: tuple[Tensor, ...] = _Stack.apply(  # type: ignore[no-untyped-call]
        alpha, beta, matrix, query.mask, document.mask, *(x.to(dtype) for x in (*texts, *weights))
    )
    depth = len(weights.Wq)
    return Layers(
        [matrix, *made[2 * depth :]],
        [query.vectors, *made[:depth]],
        [document.vectors, *made[depth : 2 * depth]],
    )


def renewed(table: Tensor, cosines: Tensor | None, alpha: float, beta: float) -> Tensor:
    """A' from A and the cosines of the new texts; without these, `alpha` is 0."""
    kept = beta * table
    return kept if cosines is None else kept.add_(cosines, alpha=alpha)


def _alternate(even: list[Tensor], odd: list[Tensor]) -> list[Tensor]:
    return [pair[t % 2] for t, pair in enumerate(zip(even, odd, strict=True))]


class _Layer(NamedTuple):
    """What one layer read, and the first product of each text on its way."""

    table: Tensor
    short: Tensor
    long: Tensor
    projected: Tensor  # short @ U
    mixed: Tensor  # table @ long


class _Stack(torch.autograd.Function):
    """Written by hand: autograd adds gradients of long texts up in ever fresh memory."""

    @staticmethod
    def forward(
        ctx: Any,
        alpha: float,
        beta: float,
        matrix: Tensor,
        short_mask: Tensor,
        long_mask: Tensor,
        short: Tensor,
        long: Tensor,
        *weights: Tensor,
    ) -> tuple[Tensor, ...]:
        short_rows, long_rows = (m.unsqueeze(-1).to(long.dtype) for m in (short_mask, long_mask))
        tables, shorts, longs = [matrix], [short], [long]
        layers: list[_Layer] = []
        cosines: list[Cosines] = []
        for t in range(len(weights[0])):
            if t:
                cosines += [Cosines.of(short, long)] if alpha else []
                fresh = cosines[-1].table if alpha else None
                tables.append(renewed(tables[-1], fresh, alpha, beta))
            table = tables[-1].to(long.dtype)
            U, V, b, c = (weights[place][t] for place in _places(t))
            layer = _Layer(table, short, long, short @ U, table @ long)
            long = torch.relu_((table.mT @ layer.projected).addcmul_(long_rows, b))
            short = torch.relu_((layer.mixed @ V).addcmul_(short_rows, c))
            layers.append(layer)
            shorts.append(short)
            longs.append(long)
        ctx.alpha, ctx.beta, ctx.depth = alpha, beta, len(layers)
        ctx.set_materialize_grads(False)
        ctx.save_for_backward(*weights[:2], short, long, *chain(*layers), *chain(*cosines))
        return *shorts[1:], *longs[1:], *tables[1:]

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *given: Tensor | None) -> tuple[Tensor | None, ...]:
        # At least 32 bits throughout: what is divided by small lengths leaves the range of 16.
        with torch.autocast(ctx.saved_tensors[0].device.type, enabled=False):
            return _gradients(ctx, given)


def _gradients(ctx: Any, given: tuple[Tensor | None, ...]) -> tuple[Tensor | None, ...]:
    """Gradients of all inputs of `_Stack`, those of its outputs given."""
    depth: int = ctx.depth
    Wq, Wd, short_out, long_out, *saved = ctx.saved_tensors
    starts = range(5 * depth, len(saved), 3)
    cosines = {t: Cosines(*saved[i : i + 3]) for t, i in enumerate(starts, start=1)}
    wide = wide_type(long_out)
    matrices = Wq.to(wide), Wd.to(wide)
    found = [torch.empty_like(W) for W in matrices] + [W.new_empty(W.shape[:2]) for W in matrices]
    # Gradients of what a layer wrote, then of what it read.
    short: Tensor | None = None
    long: Tensor | None = None
    table: Tensor | None = None
    for t in reversed(range(depth)):
        layer = _Layer(*(part.to(wide) for part in saved[5 * t : 5 * t + 5]))
        short = _through_relu(short, given[t], short_out.to(wide))
        long = _through_relu(long, given[depth + t], long_out.to(wide))
        short_out, long_out = layer.short, layer.long
        u, v, b, c = _places(t)
        projected, mixed = layer.table @ long, short @ matrices[v][t].T
        found[u][t] = layer.short.flatten(0, 1).T @ projected.flatten(0, 1)
        found[v][t] = layer.mixed.flatten(0, 1).T @ short.flatten(0, 1)
        found[b][t], found[c][t] = long.sum(1).sum(0), short.sum(1).sum(0)
        if t == 0 and not any(ctx.needs_input_grad[:7]):
            return *[None] * 7, *found
        own = (layer.projected @ long.mT).baddbmm_(mixed, layer.long.mT)
        table = own if table is None else own.add_(table, alpha=ctx.beta)
        if t and (direct := given[2 * depth + t - 1]) is not None:
            table.add_(direct)
        # The gradient of the long text was used for the last time: its memory is free.
        short = projected @ matrices[u][t].T
        if t in cosines:
            dots, short_factors, long_factors = cosines[t].slopes(ctx.alpha * table)
            short.baddbmm_(dots, layer.long).addcmul_(layer.short, short_factors)
            # table' mixed + dots' short as one product: adding to a long text takes as long.
            rows, columns = torch.cat((layer.table, dots), 1), torch.cat((mixed, layer.short), 1)
            torch.bmm(rows.mT, columns, out=long).addcmul_(layer.long, long_factors)
        else:
            torch.bmm(layer.table.mT, mixed, out=long)
    return None, None, table, None, None, short, long, *found


def _places(t: int) -> tuple[int, int, int, int]:
    """Where U, V, b and c of layer t stand among Wq, Wd, bq and bd."""
    return (1, 0, 3, 2) if t % 2 else (0, 1, 2, 3)


def _through_relu(own: Tensor | None, given: Tensor | None, output: Tensor) -> Tensor:
    """The sum of both gradients where `output` is positive, written over `own` if there is one."""
    if own is None:
        gradient = torch.zeros_like(output) if given is None else given.to(output.dtype)
        passed: Tensor = torch.ops.aten.threshold_backward(gradient, output, 0)
        return passed
    if given is not None:
        own = own.add_(given)
    torch.ops.aten.threshold_backward.grad_input(own, output, 0, grad_input=own)
    return own
