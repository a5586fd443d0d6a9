"""Whether a block stores every element of a box of a buffer without reading old elements."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from xdsl.ir import Operation, SSAValue

from ...dialects import tir
from ...dialects.bounds import interval_of
from ...dialects.int_expr import Arg, Atom, IntExpr
from ...dialects.nesting import ancestors, enclosing, operations_in
from ...dialects.sym import Values, exprs_of
from ...dialects.tir.verify_access import buffer_text, uncovered_axis
from .block_variables import ends_of, over_variables
from .blocks import ScheduleError, loaded_buffers, uses_of
from .copy_block import has_views
from .index_map import IndexMap, ranges_of_dims
from .required_ranges import extents_run


def verify_stores_box(block: tir.BlockOp, buffer: SSAValue) -> None:
    """Raise ScheduleError unless a block stores a box of a buffer, and reads nothing else of it.

    Then the block can store to other memory, from which the box is copied afterwards. A call in it
    is taken to store all that the block declares to write.
    """
    if has_views(block, buffer):
        return _verify_declares_box(block, buffer)
    where = f"expected block '{block.block_name.data}' to store"
    stores = [s for s in accesses_in(block, buffer) if isinstance(s, tir.StoreOp)]
    if len({_place(s, block) for s in stores}) != 1 or not _store_box(stores, block):
        raise ScheduleError(
            f"{where} every element of a box of {buffer_text(buffer)}, one at a time", block
        )
    begun: set[tuple[object, object]] = set()
    always: object = frozenset[object]()
    for access in accesses_in(block, buffer):
        place, run = _place(access, block), frozenset((ends_of(access, block) or {}).items())
        if isinstance(access, tir.StoreOp):
            begun.add((place, run))
        elif (place, run) not in begun and (place, always) not in begun:
            raise ScheduleError(
                f"expected block '{block.block_name.data}' to read nothing of "
                f"{buffer_text(buffer)} that it has not stored",
                block,
            )


def accesses_in(block: tir.BlockOp, buffer: SSAValue) -> list[tir.LoadOp | tir.StoreOp]:
    """The loads and stores of a buffer in a block, in order."""
    found = [op for op in operations_in(block) if isinstance(op, tir.LoadOp | tir.StoreOp)]
    return [op for op in found if op.buffer is buffer]


def indices_over_axes(
    access: tir.LoadOp | tir.StoreOp, block: tir.BlockOp
) -> tuple[list[int], list[IntExpr]] | None:
    """The axes in the indices of an access, and the indices over them, each from 0.

    `None` where indices are over other values.
    """
    axes = [v for v in block.axis_vars if v in access.operands_]
    if len(axes) != len(set(access.operands_)):
        return None
    values = Values()
    shift: dict[Atom, IntExpr] = {}
    for var in axes:
        shift[values.atom(var)] = values.expr(var) + block.axes.data[var.index].min.data
    indices = values.exprs(access.indices, access.operands_)
    return [v.index for v in axes], [e.substitute(shift) for e in indices]


def _store_box(stores: Sequence[tir.StoreOp], block: tir.BlockOp) -> bool:
    """Whether one of some stores to the same elements runs for a box, and the others inside it."""
    ends = [ends_of(s, block) for s in stores]
    return any(
        _is_box(store, block, own)
        for store, own in zip(stores, ends, strict=True)
        if own is not None and (not own or all(own == other for other in ends))
    )


def _is_box(store: tir.StoreOp, block: tir.BlockOp, ends: Mapping[SSAValue, IntExpr]) -> bool:
    """Whether the indices of a store, over axes and inner loops up to `ends`, cover a box."""
    found = over_variables(exprs_of(store.indices), store.operands_, block, ends)
    return found is not None and _runs_whole(block) and _cover_box(found[0], found[1])


def _runs_whole(block: tir.BlockOp) -> bool:
    """Whether axes take all values from their first on, to ends that are known."""
    return uncovered_axis(block) is None and extents_run(block) is not None


def _cover_box(dims: Sequence[IntExpr], indices: Sequence[IntExpr]) -> bool:
    """Whether indices over variables of these sizes are all elements of a box, once each."""
    ranges = ranges_of_dims(dims)
    spans = [interval_of(e, ranges) for e in indices]
    moved = [e - s.lower for e, s in zip(indices, spans, strict=True) if s is not None]
    if len(moved) != len(indices):
        return False
    box = IndexMap(tuple(f"v{i}" for i in range(len(dims))), tuple(moved))
    try:
        box.inverse(dims)
        return box.is_onto(dims)
    except ValueError:
        return False


def _verify_declares_box(block: tir.BlockOp, buffer: SSAValue) -> None:
    """Raise ScheduleError unless a block passes a buffer to calls, and declares to write a box.

    Views of the buffer have its layout, which a copy has if the buffer is dense.
    """
    assert isinstance(buffer.type, tir.BufferType)
    users = [o for o in uses_of(buffer).others if block in ancestors(o)]
    is_passed = buffer.type.is_dense and not accesses_in(block, buffer)
    is_read = buffer in loaded_buffers(block)
    if not is_passed or is_read or not all(_is_call(op, block) for op in users):
        raise ScheduleError(
            f"expected block '{block.block_name.data}' to only store {buffer_text(buffer)}, or to "
            "pass it, dense and always, to calls that do not read it",
            block,
        )
    region = next(r for r in block.regions_of("writes") if r.buffer is buffer)
    found = over_variables(region.mins, block.numbering(), block)
    sizes = [size for size in region.extents if size.constant is not None]
    if found is None or len(sizes) != len(region.extents) or not _runs_whole(block):
        covers = False
    else:
        dims, firsts, _ = found
        inside = [first + IntExpr.of(Arg(len(dims) + n)) for n, first in enumerate(firsts)]
        covers = _cover_box([*dims, *sizes], inside)
    if not covers:
        raise ScheduleError(
            f"expected block '{block.block_name.data}' to declare that it writes every element of "
            f"a box of {buffer_text(buffer)}, once each",
            block,
        )


def _is_call(op: Operation, block: tir.BlockOp) -> bool:
    """Whether an operation always passes a buffer on, or is a view that only such calls use."""
    if isinstance(op, tir.MatchBufferOp):
        uses = uses_of(op.result)
        return not uses.loads and not uses.stores and all(_is_call(o, block) for o in uses.others)
    is_call = isinstance(op, tir.OpaqueCallOp) and enclosing(op, tir.BlockOp) is block
    return is_call and ends_of(op, block) == {}


def _place(op: tir.LoadOp | tir.StoreOp, block: tir.BlockOp) -> object:
    """Equal for accesses to the same elements in the same order."""
    found = over_variables(exprs_of(op.indices), op.operands_, block)
    return (op.indices, tuple(op.operands_)) if found is None else found
