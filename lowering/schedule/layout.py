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
from typing import NamedTuple

from xdsl.dialects.builtin import IndexType
from xdsl.ir import BlockArgument, SSAValue
from xdsl.rewriter import Rewriter

from ...dialects import tir
from ...dialects.bounds import interval_of, is_less, is_non_negative
from ...dialects.int_expr import ONE, Atom, IntExpr, Sym
from ...dialects.nesting import ancestors
from ...dialects.sym import Values, expr_array, pack
from ...dialects.tir.ranges import ranges_of
from ...dialects.tir.verify_access import buffer_text
from ..scope import describe
from .blocks import ScheduleError, function_of, uses_of
from .fill_padding import PadValue, fill_padding, verify_fillable, verify_value
from .index_map import IndexMap
from .index_values import fixed_values, simplify_around
from .regions import refresh_around
from .storage import is_declared


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
    pad_value: PadValue | None = None,
    assume_injective: bool = False,
) -> SSAValue:
    """Store the elements of a buffer that a block uses where `index_map` says; TVM's namesake.

    Each new dim is as long as the largest new index needs unless `shape` has the dims. Where the
    map leaves gaps, `pad_value` is stored after the last store to the buffer: a number that fits
    the element type, or a map of the new indices. It must be given then, unless `shape` or
    `assume_injective` says that gaps do not matter. A parameter gets the new type, which callers
    must pass then. Returns the new buffer. Raises ScheduleError for a buffer that is viewed, passed
    on, not dense or in a declared region, for a map whose values are not known, for one that is not
    known to keep elements apart, unless `assume_injective` says that it does, for gaps without
    `pad_value`, and for padding of a buffer that is not stored to.
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
        verify_value(buffer, pad_value, len(moved.results), block)
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
    """Raise ScheduleError unless a buffer is dense, only accessed, and in no declared region."""
    type_ = buffer.type
    assert isinstance(type_, tir.BufferType)
    if uses_of(buffer).others or not type_.is_dense:
        raise ScheduleError(
            f"expected {buffer_text(buffer)} to be dense, and only loaded and stored to", block
        )
    if is_declared(buffer):
        raise ScheduleError(
            f"expected no block to declare a region of {buffer_text(buffer)}", block
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
