"""Layers in which two texts rewrite each other through their matching matrix (IASM, eq. 2 to 7).

A layer replaces every document word by a mixture of the query words it matches, and every query
word by one of document words, so that the roles of the texts swap. The code indexes vectors by
their rows and columns in the matching matrix A instead, which do not swap. With x the vectors at
the rows and y those at the columns,

    y' = relu(transpose(A) x U + b)    x' = relu(A y V + c)    A' = alpha cos(x', y') + beta A

where x is Q in even layers and D in odd ones, and likewise its weights U. Biases are not added at
padding, whose vectors therefore stay zero; nothing else needs a mask.

In code x is the shorter text. It is projected before mixing and y after it, so that the longer
text is never multiplied by a dim x dim matrix, forward or backward.
"""

from itertools import chain
from typing import Any, NamedTuple

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from matchwork.encode import Encoded
from matchwork.interact.similarity import Cosines, cosine_table, product_type, wide_type
from matchwork.kernels import kernel


class Weights(NamedTuple):
    """Parameters of all layers: matrices (L, dim, dim), applied from the right; biases (L, dim)."""

    Wq: Tensor
    Wd: Tensor
    bq: Tensor
    bd: Tensor


class Layers(NamedTuple):
    """The output of every layer; entry 0 of each list is the input.

    Attributes:
        tables: A[t], always of shape (batch, query, document).
        by_query: Vectors at the query words after t layers, shape (batch, query, dim).
        by_document: Vectors at the document words, shape (batch, document, dim).
    """

    tables: list[Tensor]
    by_query: list[Tensor]
    by_document: list[Tensor]


def interactive_layers(
    matrix: Tensor, query: Encoded, document: Encoded, weights: Weights, alpha: float, beta: float
) -> Layers:
    """Run all layers from A[0], shape (batch, query, document), 0 at padding.

    Products have autocast's dtype, matching matrices keep their own.
    """
    if matrix.shape[-1] < matrix.shape[-2]:  # swap the texts: the first must be the shorter one
        swapped = Weights(weights.Wd, weights.Wq, weights.bd, weights.bq)
        layers = interactive_layers(matrix.mT, document, query, swapped, alpha, beta)
        return Layers([table.mT for table in layers.tables], layers.by_document, layers.by_query)
    dtype = product_type(query.vectors)
    texts = query.vectors, document.vectors
    outputs = _stack(
        alpha, beta, matrix, query.mask, document.mask, *(x.to(dtype) for x in (*texts, *weights))
    )
    depth = len(weights.Wq)
    return Layers(
        [matrix, *outputs[2 * depth :]],
        [query.vectors, *outputs[:depth]],
        [document.vectors, *outputs[depth : 2 * depth]],
    )


def renewed(table: Tensor, cosines: Tensor | None, alpha: float, beta: float) -> Tensor:
    """Return `alpha * cosines + beta * table`; without cosines, `beta * table`."""
    old = beta * table
    return old if cosines is None else old.add_(cosines, alpha=alpha)


def _plain_stack(
    alpha: float, beta: float, matrix: Tensor, short_mask: Tensor, long_mask: Tensor, *parts: Tensor
) -> tuple[Tensor, ...]:
    short, long, *weights = parts
    short_rows, long_rows = (m.unsqueeze(-1).to(long.dtype) for m in (short_mask, long_mask))
    tables, shorts, longs = [matrix], [short], [long]
    for t in range(len(weights[0])):
        x, y = shorts[-1], longs[-1]
        if t:
            tables.append(renewed(tables[-1], cosine_table(x, y) if alpha else None, alpha, beta))
        table = tables[-1].to(y.dtype)
        U, V, b, c = (weights[i][t] for i in _weight_order(t))
        longs.append(torch.relu(table.mT @ (x @ U) + long_rows * b))
        shorts.append(torch.relu(table @ y @ V + short_rows * c))
    return *shorts[1:], *longs[1:], *tables[1:]


@kernel("interactive-layers", plain=_plain_stack)
def _stack(
    alpha: float, beta: float, matrix: Tensor, short_mask: Tensor, long_mask: Tensor, *parts: Tensor
) -> tuple[Tensor, ...]:
    """Return the vectors of the shorter and of the longer text, and the tables, layer by layer."""
    outputs: tuple[Tensor, ...] = _Stack.apply(  # type: ignore[no-untyped-call]
        alpha, beta, matrix, short_mask, long_mask, *parts
    )
    return outputs


class _Layer(NamedTuple):
    """The input of a layer, and the first product of each text."""

    table: Tensor
    short: Tensor
    long: Tensor
    projected: Tensor  # short @ U
    mixed: Tensor  # table @ long


class _Stack(torch.autograd.Function):
    """Differentiated by hand: autograd allocates new memory for every gradient of a long text."""

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
            U, V, b, c = (weights[i][t] for i in _weight_order(t))
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
        # At least 32 bits: quotients by small norms overflow 16.
        with torch.autocast(ctx.saved_tensors[0].device.type, enabled=False):
            return _gradients(ctx, given)


def _gradients(ctx: Any, given: tuple[Tensor | None, ...]) -> tuple[Tensor | None, ...]:
    """Return the gradients of all inputs of `_Stack`, given those of its outputs."""
    depth: int = ctx.depth
    Wq, Wd, short_out, long_out, *saved = ctx.saved_tensors
    starts = range(5 * depth, len(saved), 3)
    cosines = {t: Cosines(*saved[i : i + 3]) for t, i in enumerate(starts, start=1)}
    wide = wide_type(long_out)
    matrices = Wq.to(wide), Wd.to(wide)
    slopes = [torch.empty_like(W) for W in matrices] + [W.new_empty(W.shape[:2]) for W in matrices]
    short = long = table = None  # gradients of a layer's outputs, then of its inputs
    for t in reversed(range(depth)):
        layer = _Layer(*(part.to(wide) for part in saved[5 * t : 5 * t + 5]))
        short = _through_relu(short, given[t], short_out.to(wide))
        long = _through_relu(long, given[depth + t], long_out.to(wide))
        short_out, long_out = layer.short, layer.long
        u, v, b, c = _weight_order(t)
        projected, mixed = layer.table @ long, short @ matrices[v][t].T
        slopes[u][t] = layer.short.flatten(0, 1).T @ projected.flatten(0, 1)
        slopes[v][t] = layer.mixed.flatten(0, 1).T @ short.flatten(0, 1)
        slopes[b][t], slopes[c][t] = long.sum(1).sum(0), short.sum(1).sum(0)
        if t == 0 and not any(ctx.needs_input_grad[:7]):
            return *[None] * 7, *slopes
        own = (layer.projected @ long.mT).baddbmm_(mixed, layer.long.mT)
        table = own if table is None else own.add_(table, alpha=ctx.beta)
        if t and (direct := given[2 * depth + t - 1]) is not None:
            table.add_(direct)
        # The gradient of the long text is no longer needed: its memory is reused.
        short = projected @ matrices[u][t].T
        if t in cosines:
            dots, short_factors, long_factors = cosines[t].slopes(ctx.alpha * table)
            short.baddbmm_(dots, layer.long).addcmul_(layer.short, short_factors)
            # table' mixed + dots' short as one product: adding two would take as long again.
            rows, columns = torch.cat((layer.table, dots), 1), torch.cat((mixed, layer.short), 1)
            torch.bmm(rows.mT, columns, out=long).addcmul_(layer.long, long_factors)
        else:
            torch.bmm(layer.table.mT, mixed, out=long)
    return None, None, table, None, None, short, long, *slopes


def _weight_order(t: int) -> tuple[int, int, int, int]:
    """Return the positions of U, V, b and c of layer t among Wq, Wd, bq and bd."""
    return (1, 0, 3, 2) if t % 2 else (0, 1, 2, 3)


def _through_relu(own: Tensor | None, given: Tensor | None, output: Tensor) -> Tensor:
    """Sum both gradients where `output` is positive, in place if `own` is given."""
    if own is None:
        gradient = torch.zeros_like(output) if given is None else given.to(output.dtype)
        passed: Tensor = torch.ops.aten.threshold_backward(gradient, output, 0)
        return passed
    if given is not None:
        own = own.add_(given)
    torch.ops.aten.threshold_backward.grad_input(own, output, 0, grad_input=own)
    return own
