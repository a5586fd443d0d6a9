"""What `transform_layout` stores where a buffer's new layout has room for no element.

::

    T: [(n + 3) // 4, 4]                 element i at [i // 4, i % 4]
    for a, b: where n - 1 < a * 4 + b: T[a, b] = 0
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any, cast

from xdsl.dialects import arith
from xdsl.dialects.builtin import FloatAttr, IndexType, IntegerAttr
from xdsl.ir import Block, Operation, Region, SSAValue

from ...dialects import tir
from ...dialects.dtypes import bit_width, is_float, is_unsigned, value_type
from ...dialects.int_expr import ONE, ZERO, IntExpr
from ...dialects.nesting import enclosing
from ...dialects.sym import Values
from ...dialects.tir.verify_access import buffer_text
from ..scope import Bound
from .blocks import ScheduleError, common_block, perfect_nest, statement_in, uses_of
from .cache import scope_statement
from .copy_block import new_loops
from .index_map import IndexMap
from .index_values import undecided
from .regions import refresh_around


def verify_fillable(buffer: SSAValue, block: tir.BlockOp) -> None:
    """Raise ScheduleError for a buffer that the function does not store to in blocks."""
    stores = uses_of(buffer).stores
    if not stores or any(enclosing(s, tir.BlockOp) is None for s in stores):
        raise ScheduleError(
            f"expected blocks to store to {buffer_text(buffer)}, which gets padding", block
        )


def verify_value(buffer: SSAValue, value: object, block: tir.BlockOp) -> None:
    """Raise ScheduleError for a value that is no number of the buffer's element type."""
    assert isinstance(buffer.type, tir.BufferType)
    dtype = buffer.type.dtype
    if is_float(dtype):
        fits = isinstance(value, int | float)
    else:
        low = 0 if is_unsigned(dtype) or dtype == "bool" else -(1 << (bit_width(dtype) - 1))
        fits = isinstance(value, int) and low <= value < low + (1 << bit_width(dtype))
    if not fits:
        raise ScheduleError(
            f"expected pad_value to be a number of type {dtype}, as {buffer_text(buffer)} has, "
            f"got {value!r}",
            block,
        )


def verify_no_padding(buffer: SSAValue, dims: Sequence[IntExpr], block: tir.BlockOp) -> None:
    """Raise ScheduleError where new dims may have places without an element."""
    assert isinstance(buffer.type, tir.BufferType)
    old = buffer.type.dims
    if prod(dims, start=ONE) != prod(old, start=ONE):
        shapes = (f"[{', '.join(str(d) for d in shape)}]" for shape in (dims, old))
        raise ScheduleError(
            f"expected pad_value for {buffer_text(buffer)}, whose layout {{}} has room for more "
            "than the elements of {}, got None".format(*shapes),
            block,
        )


def fill_padding(
    buffer: SSAValue,
    index_map: IndexMap,
    inverse: IndexMap,
    old_dims: Sequence[IntExpr],
    value: float,
) -> None:
    """Store a value, after the last store to a buffer, to all places that have no element.

    There is a block for each condition of an element that such a place can break.
    """
    writers = [enclosing(s, tir.BlockOp) for s in uses_of(buffer).stores]
    places = [scope_statement(w) for w in writers if w is not None]
    parent = common_block(places)
    holders = {statement_in(parent, p) for p in places}
    last = next(op for op in reversed(list(parent.ops)) if op in holders)
    values = Values()
    _, new = _loops(buffer, values)
    count = len(undecided(index_map.conditions(inverse, new, old_dims), values))
    made: list[tir.BlockOp] = []
    for number in range(count):
        values = Values()
        loops, new = _loops(buffer, values)
        lhs, rhs = undecided(index_map.conditions(inverse, new, old_dims), values)[number]
        broken = (rhs - 1, lhs) if lhs.constant is None else (rhs, lhs + 1)
        made.append(_block(buffer, loops, values, broken, value))
    for block in reversed(made):
        parent.insert_op_after(perfect_nest(block), last)
    refresh_around(made)


def _loops(buffer: SSAValue, values: Values) -> tuple[list[tir.ForOp], list[IntExpr]]:
    assert isinstance(buffer.type, tir.BufferType)
    dims = buffer.type.dims
    loops = new_loops([f"ax{i}" for i in range(len(dims))], dims, values)
    return loops, [values.expr(loop.loop_var) for loop in loops]


def _block(
    buffer: SSAValue,
    loops: Sequence[tir.ForOp],
    values: Values,
    where: Bound,
    value: float,
) -> tir.BlockOp:
    assert isinstance(buffer.type, tir.BufferType)
    body = Block(arg_types=[IndexType()] * len(loops))
    axes: list[tir.Axis] = []
    for i, (var, loop) in enumerate(zip(body.args, loops, strict=True)):
        var.name_hint = f"v_ax{i}"
        axes.append(tir.Axis("spatial", ZERO, loop.extent.data, values.expr(loop.loop_var)))
    own = Values()
    number = _constant(buffer.type, value)
    store = tir.StoreOp(number.results[0], buffer, [own.expr(a) for a in body.args], own.list)
    body.add_ops([number, store])
    here = tuple(values.expr(a) for a in body.args)
    region = tir.BufferRegion(buffer, here, (ONE,) * len(here))
    name = f"{buffer.name_hint or 'buffer'}_pad"
    block = tir.BlockOp.build_from(name, axes, Region(body), values.list, [where], [], [region])
    loops[-1].body.block.add_op(block)
    return block


def _constant(type_: tir.BufferType, value: float) -> Operation:
    element = cast(Any, value_type(type_.element_type))
    if is_float(type_.dtype):
        return arith.ConstantOp(FloatAttr(float(value), element))
    return arith.ConstantOp(IntegerAttr(int(value), element, truncate_bits=True))
