"""The padding of a buffer in another layout: which value it has, and the blocks that store it."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import IndexType
from xdsl.ir import Block, Operation, Region, SSAValue

from ...dialects import tir
from ...dialects.dtypes import bit_width, is_float, is_unsigned
from ...dialects.int_expr import ONE, ZERO, IntExpr
from ...dialects.nesting import enclosing
from ...dialects.sym import Values
from ...dialects.tir.verify_access import buffer_text
from ..scalar_builder import ScalarBuilder
from ..scope import Bound
from .block_padding import padding_of
from .blocks import ScheduleError, common_block, perfect_nest, statement_in, uses_of
from .copy_block import new_loops
from .index_map import IndexMap
from .index_values import undecided
from .regions import refresh_around

PadValue = float | IndexMap
"""The value of padding elements: a number, or a map of their indices to one."""


def verify_fillable(buffer: SSAValue, block: tir.BlockOp) -> None:
    """Raise ScheduleError for a buffer that the function does not store to."""
    if not uses_of(buffer).stores:
        raise ScheduleError(
            f"expected a store to {buffer_text(buffer)}, after which its padding is stored",
            block,
        )


def verify_value(buffer: SSAValue, value: object, rank: int, block: tir.BlockOp) -> None:
    """Raise ScheduleError for a value that is no number of the buffer's element type.

    A map must be of `rank` indices, to one value.
    """
    assert isinstance(buffer.type, tir.BufferType)
    dtype = buffer.type.dtype
    if isinstance(value, IndexMap):
        if len(value.names) != rank or len(value.results) != 1 or value.symbols():
            raise ScheduleError(
                f"expected pad_value to map {rank} indices to one value, without symbols, got "
                f"{value}",
                block,
            )
        return
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


def fill_padding(
    buffer: SSAValue,
    index_map: IndexMap,
    inverse: IndexMap,
    old_dims: Sequence[IntExpr],
    value: PadValue,
) -> None:
    """Store a value to the padding of a buffer, after the last store to the buffer.

    There is a block for each condition on indices that padding may violate.
    """
    places = [_statement_of(store) for store in uses_of(buffer).stores]
    parent = common_block(places)
    holders = {statement_in(parent, p) for p in places}
    last = next(op for op in reversed(list(parent.ops)) if op in holders)
    made: list[tir.BlockOp] = []
    if (padding := padding_of(index_map, old_dims)) is not None:
        values = Values()
        loops, new = _loops(buffer, values)
        made.append(_block(buffer, loops, values, padding.bounds(new), value))
    else:
        values = Values()
        _, new = _loops(buffer, values)
        count = len(undecided(index_map.conditions(inverse, new, old_dims), values))
        for number in range(count):
            values = Values()
            loops, new = _loops(buffer, values)
            lhs, rhs = undecided(index_map.conditions(inverse, new, old_dims), values)[number]
            broken = (rhs - 1, lhs) if lhs.constant is None else (rhs, lhs + 1)
            made.append(_block(buffer, loops, values, [broken], value))
    for block in reversed(made):
        parent.insert_op_after(perfect_nest(block), last)
    refresh_around(made)


def _statement_of(store: tir.StoreOp) -> Operation:
    """What has a store in the block, or in the function, around the block of the store."""
    op: Operation = enclosing(store, tir.BlockOp) or store
    while not isinstance(parent := op.parent_op(), tir.BlockOp | tir.PrimFuncOp):
        assert parent is not None
        op = parent
    return op


def _loops(buffer: SSAValue, values: Values) -> tuple[list[tir.ForOp], list[IntExpr]]:
    assert isinstance(buffer.type, tir.BufferType)
    dims = buffer.type.dims
    loops = new_loops([f"ax{i}" for i in range(len(dims))], dims, values)
    return loops, [values.expr(loop.loop_var) for loop in loops]


def _block(
    buffer: SSAValue,
    loops: Sequence[tir.ForOp],
    values: Values,
    where: Sequence[Bound],
    value: PadValue,
) -> tir.BlockOp:
    assert isinstance(buffer.type, tir.BufferType)
    body = Block(arg_types=[IndexType()] * len(loops))
    axes: list[tir.Axis] = []
    for i, (var, loop) in enumerate(zip(body.args, loops, strict=True)):
        var.name_hint = f"v_ax{i}"
        axes.append(tir.Axis("spatial", ZERO, loop.extent.data, values.expr(loop.loop_var)))
    own = Values()
    padding = add_value(body, buffer, value, body.args)
    body.add_op(tir.StoreOp(padding, buffer, [own.expr(a) for a in body.args], own.list))
    here = tuple(values.expr(a) for a in body.args)
    region = tir.BufferRegion(buffer, here, (ONE,) * len(here))
    name = f"{buffer.name_hint or 'buffer'}_pad"
    block = tir.BlockOp.build_from(name, axes, Region(body), values.list, where, [], [region])
    loops[-1].body.block.add_op(block)
    return block


def add_value(
    body: Block, buffer: SSAValue, value: PadValue, indices: Sequence[SSAValue]
) -> SSAValue:
    """Append the value of a padding element, at indices of the new layout, to a block."""
    assert isinstance(buffer.type, tir.BufferType)
    builder, dtype = ScalarBuilder(body), buffer.type.dtype
    if not isinstance(value, IndexMap):
        return builder.constant(value, dtype)
    values = Values()
    (expr,) = value([values.expr(i) for i in indices])
    return builder.cast(builder.result(tir.ApplyOp(expr, values.list)), "index", dtype)
