"""What a block stores in additional iterations must be elements that nobody uses."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import BlockArgument, SSAValue

from ...dialects import tir
from ...dialects.bounds import interval_of, is_non_negative
from ...dialects.int_expr import IntExpr
from ...dialects.nesting import ancestors, enclosing, operations_in
from ...dialects.sym import Values, exprs_of
from ...dialects.tir.verify_access import buffer_text
from .blocks import ScheduleError, uses_of
from .copy_scalars import ranges_of_values

Access = tir.LoadOp | tir.StoreOp


def verify_unused(store: tir.StoreOp, block: tir.BlockOp, axes: Sequence[int]) -> None:
    """Raise ScheduleError unless a block may store beyond the ends of these axes.

    That needs a scratch buffer of which other statements do not store the elements there, or load
    none of them: then they are undefined as long as the buffer lives.
    """
    alloc, name = store.buffer.owner, buffer_text(store.buffer)
    where = f"block '{block.block_name.data}'"
    if not isinstance(alloc, tir.AllocBufferOp):
        raise ScheduleError(f"expected {where} to store to a scratch buffer, got {name}", store)
    uses = uses_of(store.buffer)
    if uses.others:
        raise ScheduleError(f"expected {name} to be only loaded and stored to", store)
    stores = [op for op in uses.stores if enclosing(op, tir.BlockOp) is not block]
    loads = [op for op in uses.loads if not _is_accumulation(op)]
    for number in axes:
        axis, values = block.axes.data[number], Values()
        end = values.rebase(axis.min.data + axis.extent.data, block.numbering())
        place = _end(store, block.axis_vars[number], end, values)
        if place is None or not _is_fixed(place[1], values, alloc):
            raise ScheduleError(
                f"expected {where} to store to {name} beyond the elements of axis "
                f"'{block.axis_vars[number].name_hint}' in additional iterations",
                store,
            )
        if not all(_is_before(op, *place, values) for op in stores) and not all(
            _is_before(op, *place, values) for op in loads
        ):
            raise ScheduleError(
                f"expected other blocks not to use what {where} stores to {name} in additional "
                "iterations",
                store,
            )


def _end(
    store: tir.StoreOp, var: SSAValue, end: IntExpr, values: Values
) -> tuple[int, IntExpr] | None:
    """The dim that an axis indexes, and the first element beyond those up to an end of the axis."""
    atom = values.expr(var).as_atom
    assert atom is not None
    for dim, index in enumerate(exprs_of(store.indices)):
        parts = values.rebase(index, store.operands_).split_on(atom)
        step = None if parts is None else parts[0].constant
        if parts is not None and step is not None and step > 0:
            return dim, parts[1] + end * step
    return None


def _is_fixed(expr: IntExpr, values: Values, alloc: tir.AllocBufferOp) -> bool:
    """Whether an expression does not change as long as a buffer lives."""
    around = set(ancestors(alloc))
    used = [values.list[i] for i in expr.args()]
    return all(isinstance(v, BlockArgument) and v.owner.parent_op() in around for v in used)


def _is_before(op: Access, dim: int, end: IntExpr, values: Values) -> bool:
    """Whether an access is certainly to elements before an end of a dim."""
    index = values.rebase(exprs_of(op.indices)[dim], op.operands_)
    span = interval_of(end - 1 - index, ranges_of_values(values))
    return span is not None and is_non_negative(span.lower)


def _is_accumulation(load: tir.LoadOp) -> bool:
    """Whether a block loads an element only to store that element again."""
    block = enclosing(load, tir.BlockOp)
    stores = [] if block is None else [op for op in operations_in(block) if _stores(op)]
    return all(_place(op) == _place(load) for op in stores) and bool(stores)


def _stores(op: object) -> bool:
    return isinstance(op, tir.StoreOp | tir.CallExternOp)


def _place(op: object) -> tuple[object, ...]:
    if not isinstance(op, Access):
        return (op,)
    return (op.buffer, op.indices, *op.operands_)
