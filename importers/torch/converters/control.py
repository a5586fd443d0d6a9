"""Branches and loops on data: ``torch.cond``, ``torch.while_loop``, and ``scan``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from xdsl.dialects.builtin import ArrayAttr, TupleType
from xdsl.ir import Block, Region

from ....dialects import relax
from ....dialects.int_expr import IntExpr
from ...emitter import Emitter, Value, dims_of, is_tensor
from ...loops import emit_loop
from ...unsupported import Unsupported
from ..context import Context
from ..node_conversion import Subgraph
from ..registry import converts


@converts("higher_order.cond")
def cond(
    ctx: Context, pred: Any, true: Subgraph, false: Subgraph, operands: Sequence[Any] = ()
) -> tuple[Value, ...]:
    """The results of one of two graphs, by a bool."""
    if not is_tensor(pred):
        raise Unsupported("a condition on sizes", "export with static sizes, or pass a tensor")
    condition = ctx.reshape(ctx.astype(pred, "bool"), [])
    types = [ctx.type_like(t) for t in ctx.result]
    regions: list[Region] = []
    for branch in (true, false):
        inner = Emitter(Block(), ctx.functions)
        found = zip(branch.run(inner, operands), types, strict=True)
        values = relax.TupleOp([inner.match(v, t) for v, t in found])
        inner.insert(values)
        inner.insert(relax.YieldOp(values.result))
        regions.append(Region(inner.block))
    op = relax.IfOp(condition, regions[0], regions[1], TupleType(ArrayAttr(types)))
    ctx.insert(op)
    return ctx.fields(op.result)


@converts("higher_order.while_loop")
def while_loop(
    ctx: Context, cond: Subgraph, body: Subgraph, carried: Sequence[Any], additional: Sequence[Any]
) -> tuple[Value, ...]:
    """The carried tensors after the last iteration for which the condition holds."""
    states = _tensors(carried)
    given = [v for v in additional if is_tensor(v)]

    def values(inner: Emitter, own: list[Value], others: list[Value]) -> list[Any]:
        tensors = iter(others)
        return [*own, *(next(tensors) if is_tensor(v) else v for v in additional)]

    def condition(inner: Emitter, inputs: Sequence[Any]) -> Value:
        (holds,) = cond.run(inner, inputs)
        return inner.reshape(inner.astype(holds, "bool"), [])

    def step(
        inner: Emitter, index: IntExpr, own: list[Value], rows: list[Value], others: list[Value]
    ) -> tuple[list[Value], list[Value]]:
        found = body.run(inner, values(inner, own[1:], others))
        return [condition(inner, values(inner, found, others)), *found], []

    first = condition(ctx, [*states, *additional])
    sizes = [*body.sizes(), *cond.sizes()]
    _, *last = emit_loop(
        ctx, "while_body", step, [first, *states], given=given, is_while=True, sizes=sizes
    )
    return tuple(last)


@converts("higher_order.scan")
def scan(
    ctx: Context,
    combine: Subgraph,
    init: Sequence[Any],
    xs: Sequence[Any],
    additional: Sequence[Any] = (),
) -> tuple[Value, ...]:
    """The carried tensors after the last row of `xs`, and the outputs of all rows."""
    states, rows = _tensors(init), _tensors(xs)
    given = [v for v in additional if is_tensor(v)]

    def step(
        inner: Emitter, index: IntExpr, own: list[Value], rows: list[Value], others: list[Value]
    ) -> tuple[list[Value], list[Value]]:
        tensors = iter(others)
        rest = [next(tensors) if is_tensor(v) else v for v in additional]
        found = combine.run(inner, [*own, *rows, *rest])
        return found[: len(own)], found[len(own) :]

    trips = dims_of(rows[0])[0]
    sizes = combine.sizes()
    return tuple(
        emit_loop(
            ctx, "scan_body", step, states, scanned=rows, given=given, trips=trips, sizes=sizes
        )
    )


def _tensors(values: Sequence[Any]) -> list[Value]:
    if not all(map(is_tensor, values)):
        raise Unsupported("a loop that carries numbers", "carry tensors")
    return list(values)
