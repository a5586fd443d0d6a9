"""`transform_layout`: store the elements of a buffer in another layout.

::

    T: [n, m]                                    T: [m, n]
    for i, j: T[i, j] = …              ⇒         for i, j: T[j, i] = …
    … T[i, j] …                                  … T[j, i] …

Loops and blocks do not change; only the indices of accesses do.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod
from typing import Any, NamedTuple, cast

from xdsl.dialects import arith
from xdsl.dialects.builtin import FloatAttr, IndexType, IntegerAttr
from xdsl.ir import Block, BlockArgument, Operation, Region, SSAValue
from xdsl.rewriter import Rewriter

from ...dialects import tir
from ...dialects.bounds import interval_of, is_less, is_non_negative
from ...dialects.dtypes import bit_width, is_float, is_unsigned, value_type
from ...dialects.int_expr import ONE, ZERO, Atom, IntExpr, Sym
from ...dialects.nesting import ancestors, enclosing
from ...dialects.sym import Values, expr_array, pack
from ...dialects.tir.ranges import ranges_of
from ...dialects.tir.verify_access import buffer_text
from ..scope import Bound, describe
from .block_padding import padding_of
from .blocks import ScheduleError, common_block, function_of, perfect_nest, statement_in, uses_of
from .copy_block import new_loops
from .copy_place import scope_statement
from .index_map import IndexMap
from .index_values import fixed_values, simplify_around, undecided
from .regions import refresh_around


def verify_fillable(buffer: SSAValue, block: tir.BlockOp) -> None:
    """Raise ScheduleError for a buffer that the function does not store to in blocks."""
    stores = uses_of(buffer).stores
    if not stores or any(enclosing(s, tir.BlockOp) is None for s in stores):
        raise ScheduleError(
            f"expected a block to store to {buffer_text(buffer)}, whose padding it also stores",
            block,
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
    """Raise ScheduleError if new dims may have padding."""
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
    """Store a value to the padding of a buffer, after the last store to the buffer.

    There is a block for each condition on indices that padding may violate.
    """
    writers = [enclosing(s, tir.BlockOp) for s in uses_of(buffer).stores]
    places = [scope_statement(w) for w in writers if w is not None]
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
    value: float,
) -> tir.BlockOp:
    assert isinstance(buffer.type, tir.BufferType)
    body = Block(arg_types=[IndexType()] * len(loops))
    axes: list[tir.Axis] = []
    for i, (var, loop) in enumerate(zip(body.args, loops, strict=True)):
        var.name_hint = f"v_ax{i}"
        axes.append(tir.Axis("spatial", ZERO, loop.extent.data, values.expr(loop.loop_var)))
    own = Values()
    number = constant_of(buffer, value)
    store = tir.StoreOp(number.results[0], buffer, [own.expr(a) for a in body.args], own.list)
    body.add_ops([number, store])
    here = tuple(values.expr(a) for a in body.args)
    region = tir.BufferRegion(buffer, here, (ONE,) * len(here))
    name = f"{buffer.name_hint or 'buffer'}_pad"
    block = tir.BlockOp.build_from(name, axes, Region(body), values.list, where, [], [region])
    loops[-1].body.block.add_op(block)
    return block


def constant_of(buffer: SSAValue, value: float) -> Operation:
    """A constant of the element type of a buffer."""
    type_ = buffer.type
    assert isinstance(type_, tir.BufferType)
    element = cast(Any, value_type(type_.element_type))
    if is_float(type_.dtype):
        return arith.ConstantOp(FloatAttr(float(value), element))
    return arith.ConstantOp(IntegerAttr(int(value), element, truncate_bits=True))


class MovedParameter(NamedTuple):
    """A parameter of a function that got another layout, and its types before and after."""

    function: str
    position: int
    index_map: IndexMap
    old: tir.BufferType
    new: tir.BufferType


Placement = Callable[[Sequence[IntExpr]], Sequence[IntExpr]]
"""The new indices of an element by its old ones; an `IndexMap` is one."""


def transform_layout(
    block: tir.BlockOp,
    buffer: SSAValue,
    index_map: Placement,
    shape: Sequence[IntExpr] | None = None,
    pad_value: float | None = None,
    assume_injective: bool = False,
) -> SSAValue:
    """Store the elements of a buffer that a block uses where `index_map` says; TVM's namesake.

    Each new dim is as long as the largest new index needs unless `shape` has the dims. Where the
    map leaves gaps, `pad_value` is stored after the last store to the buffer; a value that fits the
    element type must be given then, unless `shape` or `assume_injective` says that gaps do not
    matter. A parameter gets the new type, which callers must pass then. Returns the new buffer.
    Raises ScheduleError for a buffer that is viewed, passed on or not dense, for a map whose values
    are not known, for one that is not known to keep elements apart, unless `assume_injective` says
    that it does, for gaps without `pad_value`, and for padding of a buffer that is not stored to.
    """
    if buffer not in (*block.read_buffers, *block.write_buffers):
        raise ScheduleError(
            f"expected block '{block.block_name.data}' to use {buffer_text(buffer)}", block
        )
    verify_movable(buffer, block)
    type_ = buffer.type
    assert isinstance(type_, tir.BufferType)
    moved = map_of(index_map, type_.rank, block)
    try:
        dims = moved.shape(type_.dims) if shape is None else list(shape)
        inverse = None if assume_injective and pad_value is None else moved.inverse(type_.dims)
    except ValueError as error:
        raise ScheduleError(str(error), block) from None
    _verify_symbols(buffer, dims, block)
    if pad_value is not None:
        verify_value(buffer, pad_value, block)
        verify_fillable(buffer, block)
    elif inverse is not None and shape is None:
        verify_no_padding(buffer, dims, block)
    if shape is not None:
        _verify_inside(buffer, moved, dims, block)
    new = relayout(buffer, moved, dims)
    if pad_value is not None and inverse is not None:
        fill_padding(new, moved, inverse, type_.dims, pad_value)
    return new


def map_of(index_map: Placement, rank: int, block: tir.BlockOp) -> IndexMap:
    """The map of as many indices; raises ScheduleError for a map of another number."""
    if isinstance(index_map, IndexMap):
        if len(index_map.names) != rank:
            raise ScheduleError(
                f"expected a map of {rank} indices, got {index_map} of {len(index_map.names)}",
                block,
            )
        return index_map
    return IndexMap.of(index_map, rank)


def relayout(buffer: SSAValue, index_map: Placement, dims: Sequence[IntExpr]) -> SSAValue:
    """Give a buffer that is only loaded and stored to these dims, its accesses new indices."""
    type_ = buffer.type
    assert isinstance(type_, tir.BufferType)
    uses = uses_of(buffer)
    accesses = [*uses.loads, *uses.stores]
    blocks = [p for op in accesses for p in ancestors(op) if isinstance(p, tir.BlockOp)]
    new = Rewriter.replace_value_with_new_type(
        buffer, tir.BufferType.of(dims, type_.element_type, scope=type_.scope.data)
    )
    for op in accesses:
        values = Values()
        indices = values.exprs(op.indices, op.operands_)
        moved = [_simplified(e, values) for e in index_map(indices)]
        operands, packed = pack(moved, values.list)
        first = list(op.operands)[: len(op.operands) - len(op.operands_)]
        op.operands = [*first, *operands]
        op.properties["indices"] = expr_array(packed)
    refresh_around(dict.fromkeys(blocks))
    return new


def _simplified(index: IntExpr, values: Values) -> IntExpr:
    """A new index without compounds that ranges decide, and without axes of one value in sums."""
    index = simplify_around(index, values)
    return index if index.as_atom else index.substitute(fixed_values(index, ranges_of(values.list)))


def verify_movable(buffer: SSAValue, block: tir.BlockOp) -> None:
    """Raise ScheduleError for a buffer that is viewed, passed on or not dense."""
    type_ = buffer.type
    assert isinstance(type_, tir.BufferType)
    if uses_of(buffer).others or not type_.is_dense:
        raise ScheduleError(
            f"expected {buffer_text(buffer)} to be dense, and only loaded and stored to", block
        )


def _verify_inside(
    buffer: SSAValue, moved: IndexMap, dims: Sequence[IntExpr], block: tir.BlockOp
) -> None:
    """Raise ScheduleError unless accesses are provably in the new dims.

    An index that is unchanged, in a dim of the same size, is in bounds as before.
    """
    uses = uses_of(buffer)
    for op in (*uses.loads, *uses.stores):
        values = Values()
        given = values.exprs(op.indices, op.operands_)
        inside = set(zip(given, _dims(buffer), strict=True))
        ranges = ranges_of(values.list)
        for index, dim in zip(moved(given), dims, strict=True):
            if (index, dim) in inside:
                continue
            span = interval_of(index, ranges)
            if span is None or not (is_non_negative(span.lower) and is_less(span.upper, dim)):
                raise ScheduleError(
                    f"expected all accesses to {buffer_text(buffer)} to be in bounds of "
                    f"[{', '.join(map(str, dims))}], got index {describe(index, values.list)}",
                    block,
                )


def _verify_symbols(buffer: SSAValue, dims: Sequence[IntExpr], block: tir.BlockOp) -> None:
    """Raise ScheduleError if a parameter's new dims do not determine a symbol."""
    if not isinstance(buffer, BlockArgument):
        return
    func = function_of(block)
    pairs = zip(func.names, func.params, strict=True)
    known: set[Atom | None] = {Sym(name) for name, p in pairs if isinstance(p.type, IndexType)}
    known |= {d.as_atom for p in func.params if p is not buffer for d in _dims(p)}
    known |= {d.as_atom for d in dims}
    for dim in _dims(buffer):
        if isinstance(symbol := dim.as_atom, Sym) and symbol not in known:
            raise ScheduleError(
                f"expected symbol '{symbol.name}' to remain a dim of a parameter, "
                f"got {buffer_text(buffer)} of [{', '.join(str(d) for d in dims)}]",
                block,
            )


def _dims(value: SSAValue) -> Sequence[IntExpr]:
    return value.type.dims if isinstance(value.type, tir.BufferType) else ()
