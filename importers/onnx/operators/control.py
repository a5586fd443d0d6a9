"""Conditionals and loops."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from xdsl.ir import Region

from ....dialects import relax
from ....dialects.int_expr import IntExpr
from ...emitter import Value
from ...unsupported import Unsupported
from ..context import Context
from ..importer import may_be_known, parameters_of, symbols_of
from ..iteration import Iteration, unrolled
from ..looping import looped
from ..nested import has_failed, inner_context, leaves, rebuilt, run, structure
from ..parts import common_dims, row, stacked
from ..registry import converts
from ..scope import Failed
from ..tensor import DataDependent, SizeDependent, Tensor, axis_of

UNBOUNDED = 2**31 - 1
"""Exporters write this number of iterations, or a larger one, for a loop until a condition."""

STATIC = "give sizes as numbers by shape_dict, so that the condition is known"


@converts("If")
def if_(ctx: Context, condition: Tensor, *, then_branch: Any, else_branch: Any) -> tuple[Any, ...]:
    """The results of one of two graphs; that of a known condition is run in place."""
    known = condition.known
    if known is not None and known.dtype != object:
        chosen = then_branch if condition.number("a condition") else else_branch
        return tuple(run(ctx, chosen, {}))
    return _chosen(ctx, condition, (then_branch, else_branch))


def _chosen(ctx: Context, condition: Tensor, graphs: Sequence[Any]) -> tuple[Any, ...]:
    """The results of the graph that a condition chooses on calls."""
    contexts = [inner_context(ctx) for _ in graphs]
    found: list[list[Any]] = []
    problems = len(ctx.importer.problems)
    for inner, graph in zip(contexts, graphs, strict=True):
        inner.importer.count = ctx.importer.count
        found.append(run(inner, graph, {}))
        ctx.importer.count = inner.importer.count
    if any(map(has_failed, found)):
        if may_be_known(condition.value):  # the other branch may be for other inputs
            del ctx.importer.problems[problems:]
            raise DataDependent(condition, "a condition")
        return tuple(Failed() for _ in ctx.outputs)
    forms = [[structure(item) for item in items] for items in found]
    if forms[0] != forms[1]:
        raise Unsupported("branches with sequences of different lengths", STATIC)
    tensors = [[t for item in items for t in leaves(item)] for items in found]
    results = iter(_emitted(ctx, condition, contexts, tensors))
    return tuple(rebuilt(form, results) for form in forms[0])


def _emitted(
    ctx: Context, condition: Tensor, contexts: Sequence[Context], tensors: Sequence[list[Tensor]]
) -> list[Tensor]:
    flag = ctx.astype(ctx.reshape(condition, []), "bool")
    pairs = list(zip(*tensors, strict=True))
    wanted = [_common(condition, pair) for pair in pairs]
    regions: list[Region] = []
    for inner, own in zip(contexts, tensors, strict=True):
        values = [inner.fitted(t, d).value for t, d in zip(own, wanted, strict=True)]
        inner.emitter.insert(relax.YieldOp(_packed(inner, values)))
        regions.append(Region(inner.emitter.block))
    last = regions[0].block.last_op
    assert isinstance(last, relax.YieldOp)
    op = relax.IfOp(flag.value, regions[0], regions[1], last.value.type)
    ctx.emitter.insert(op)
    fields = [op.result] if len(pairs) == 1 else ctx.emitter.fields(op.result)
    return [ctx.tensor(field) for field in fields]


def _packed(ctx: Context, values: Sequence[Value]) -> Value:
    if len(values) == 1:
        return values[0]
    op = relax.TupleOp(values)
    ctx.emitter.insert(op)
    return op.result


def _common(condition: Tensor, pair: Sequence[Tensor]) -> list[IntExpr]:
    """The dims of the results of both branches.

    Where ranks or constant dims differ the condition must be known: raises DataDependent, or
    SizeDependent.
    """
    first, second = pair
    if first.dtype != second.dtype:
        raise ValueError(f"expected branches of one dtype, got {first.dtype} and {second.dtype}")
    apart = first.rank != second.rank or any(
        a != b and a.is_constant and b.is_constant
        for a, b in zip(first.dims, second.dims, strict=False)
    )
    if apart:
        what = f"the condition of branches of shapes {shape_text(first)} and {shape_text(second)}"
        if parameters_of(condition.value):
            raise DataDependent(condition, what)
        raise SizeDependent(symbols_of(condition.value), what)
    return common_dims(pair)


def shape_text(tensor: Tensor) -> str:
    """The shape of a tensor for a message."""
    return f"({', '.join(map(str, tensor.dims))})"


@converts("Loop")
def loop(
    ctx: Context,
    trips: Tensor | None = None,
    condition: Tensor | None = None,
    *carried: Any,
    body: Any,
) -> tuple[Any, ...]:
    """A graph that is run several times, with items that each run hands to the next."""
    size = None if trips is None or trips.known is None else trips.size("a number of iterations")
    if condition is not None and size is not None and (size.constant or 0) >= UNBOUNDED:
        trips = size = None
    made = Iteration(ctx, body, True, list(carried), condition=condition, trips=size)
    bound = trips if size is None else None
    return (unrolled(made) if bound is None else None) or looped(made, bound)


@converts("Scan")
def scan_batch(
    ctx: Context,
    lengths: Tensor | None,
    *inputs: Tensor,
    body: Any,
    num_scan_inputs: int,
    directions: list[int] | None = None,
) -> tuple[Any, ...]:
    """A graph that is run for each element along axis 1, for each row of the batch; opset 8."""
    if lengths is not None:
        raise Unsupported("sequences of different lengths", "export with opset 9")
    batch = inputs[0].dims[0]
    if not batch.is_constant:
        raise SizeDependent(batch.symbols(), "a batch")
    rows = [
        scan(
            ctx,
            *(row(ctx, x, 0, IntExpr.of(b)) for x in inputs),
            body=body,
            num_scan_inputs=num_scan_inputs,
            scan_input_directions=directions,
        )
        for b in range(batch.offset)
    ]
    if any(map(has_failed, rows)):
        return tuple(Failed() for _ in ctx.outputs)
    return tuple(stacked(ctx, results, 0) for results in zip(*rows, strict=True))


@converts("Scan", since=9)
def scan(
    ctx: Context,
    *inputs: Tensor,
    body: Any,
    num_scan_inputs: int,
    scan_input_axes: list[int] | None = None,
    scan_input_directions: list[int] | None = None,
    scan_output_axes: list[int] | None = None,
    scan_output_directions: list[int] | None = None,
) -> tuple[Any, ...]:
    """A graph that is run for each element along an axis, in order or in reverse."""
    states = len(inputs) - num_scan_inputs
    carried, scanned = list(inputs[:states]), inputs[states:]
    axes = scan_input_axes or [0] * num_scan_inputs
    first = [_first(ctx, x, axis_of(a, x.rank)) for x, a in zip(scanned, axes, strict=True)]
    flags = scan_input_directions or [0] * num_scan_inputs
    first = [_in_order(ctx, x, 0, f) for x, f in zip(first, flags, strict=True)]
    rows = [x.dims[0] for x in first]
    trips = next((d for d in rows if d.is_constant), rows[0])
    first = [ctx.fitted(x, [trips, *x.dims[1:]]) for x in first]
    made = Iteration(ctx, body, False, carried, first, trips=trips)
    results = unrolled(made) or looped(made)
    if has_failed(results):
        return results
    outputs = results[states:]
    axes, flags = (
        given or [0] * len(outputs) for given in (scan_output_axes, scan_output_directions)
    )
    moved = [_moved(ctx, x, a, f) for x, a, f in zip(outputs, axes, flags, strict=True)]
    return (*results[:states], *moved)


def _first(ctx: Context, x: Tensor, axis: int) -> Tensor:
    return ctx.permute(x, [axis, *(a for a in range(x.rank) if a != axis)])


def _in_order(ctx: Context, x: Tensor, axis: int, is_reverse: int) -> Tensor:
    return ctx.emit("flip", x, axis=[axis]) if is_reverse else x


def _moved(ctx: Context, x: Tensor, axis: int, is_reverse: int) -> Tensor:
    """A stack whose first axis goes to another place."""
    axis = axis_of(axis, x.rank)
    order = [*range(1, axis + 1), 0, *range(axis + 1, x.rank)]
    return ctx.permute(_in_order(ctx, x, 0, is_reverse), order)
