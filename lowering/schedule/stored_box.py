"""Whether a block stores every element of a box of a buffer without reading old elements."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import Block, SSAValue

from ...dialects import tir
from ...dialects.bounds import interval_of
from ...dialects.int_expr import ZERO, Arg, Atom, IntExpr, IntLike
from ...dialects.nesting import ancestors, operations_in
from ...dialects.sym import Values, exprs_of
from ...dialects.tir.verify_access import buffer_text, uncovered_axis
from .blocks import ScheduleError
from .index_map import IndexMap, ranges_of_dims
from .required_ranges import extents_run


def verify_stores_box(block: tir.BlockOp, buffer: SSAValue) -> None:
    """Raise ScheduleError unless a block stores a box of a buffer, and reads nothing else of it.

    Then the block can store to other memory, from which the box is copied afterwards.
    """
    where = f"expected block '{block.block_name.data}' to store"
    stores = [s for s in accesses_in(block, buffer) if isinstance(s, tir.StoreOp)]
    always = [s for s in stores if _is_always_run(s, block)]
    places = {_place(s, block) for s in stores}
    if len(places) != 1 or not any(_is_box(s, block) for s in always):
        raise ScheduleError(
            f"{where} every element of a box of {buffer_text(buffer)}, one at a time", block
        )
    begun: set[object] = set()
    for access in accesses_in(block, buffer):
        if isinstance(access, tir.StoreOp):
            begun.add(_place(access, block))
        elif _place(access, block) not in begun:
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


def _is_box(store: tir.StoreOp, block: tir.BlockOp) -> bool:
    """Whether the indices of a store, over axes and inner loops, cover a box."""
    found = over_variables(store, block)
    if found is None or uncovered_axis(block) is not None or extents_run(block) is None:
        return False
    dims, indices, _ = found
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


def _is_always_run(store: tir.StoreOp, block: tir.BlockOp) -> bool:
    """Whether a block runs a store for all values of its axes: only loops are around it."""
    for op in ancestors(store):
        if op is block:
            return True
        if not isinstance(op, tir.ForOp | tir.BlockOp):
            return False
        if isinstance(op, tir.BlockOp) and op.predicates.data:
            return False
    return False


def _place(op: tir.LoadOp | tir.StoreOp, block: tir.BlockOp) -> object:
    """Equal for accesses to the same elements in the same order."""
    found = over_variables(op, block)
    return (op.indices, tuple(op.operands_)) if found is None else found


Offset = tuple[tuple[int, SSAValue, IntExpr], ...]
"""Terms from outside of a block: the position of the index, a value, and its factor."""


def over_variables(
    access: tir.LoadOp | tir.StoreOp, block: tir.BlockOp
) -> tuple[tuple[IntExpr, ...], tuple[IntExpr, ...], Offset] | None:
    """How many values axes and loops in a block have that an access uses, and its indices.

    Variables are numbered, axes first, and begin at 0; terms of values from outside of the block
    are apart. `None` where indices use other values.
    """
    raw = Values()
    offset: list[tuple[int, SSAValue, IntExpr]] = []
    try:
        indices: list[IntExpr] = []
        for position, index in enumerate(exprs_of(access.indices)):
            own, terms = _without_outer(index, access.operands_, block)
            offset += [(position, *term) for term in terms]
            indices.append(_expanded(own, access.operands_, block, raw))
        order = sorted(range(len(raw.list)), key=lambda i: _depth(raw.list[i], block))
        dims = tuple(_size(raw.list[i], block) for i in order)
    except ValueError:
        return None
    renumbered: dict[Atom, IntLike] = {Arg(old): Arg(new) for new, old in enumerate(order)}
    return dims, tuple(e.substitute(renumbered) for e in indices), tuple(offset)


def _without_outer(
    expr: IntExpr, operands: Sequence[SSAValue], block: tir.BlockOp
) -> tuple[IntExpr, list[tuple[SSAValue, IntExpr]]]:
    """An expression without its terms of values from outside of a block, and these terms.

    Raises ValueError where such a value is in no term of its own, or an axis of the block is bound
    to it: the term then varies with the axis.
    """
    numbering = block.numbering()
    bound = {numbering[n] for b in exprs_of(block.bindings) for n in b.args()}
    terms: list[tuple[SSAValue, IntExpr]] = []
    for number in sorted(expr.args()):
        owner = operands[number].owner
        around = owner.parent_op() if isinstance(owner, Block) else owner
        if around is None or around is block or block in ancestors(around):
            continue
        split = expr.split_on(Arg(number))
        if split is None or split[0].args() or operands[number] in bound:
            raise ValueError
        terms.append((operands[number], split[0]))
        expr = split[1]
    return expr, terms


def _expanded(
    expr: IntExpr, operands: Sequence[SSAValue], block: tir.BlockOp, values: Values
) -> IntExpr:
    """An expression over axes of the block and loops in it; raises ValueError for other values."""
    mapping: dict[Atom, IntLike] = {}
    for number in expr.args():
        value = operands[number]
        owner = value.owner
        around = owner.parent_op() if isinstance(owner, Block) else owner
        match around:
            case tir.BlockOp() if around is block:
                low = block.axes.data[_number(block, value)].min.data
                mapping[Arg(number)] = values.expr(value) + low
            case tir.BlockOp() if block in ancestors(around):
                binding = exprs_of(around.bindings)[_number(around, value)]
                mapping[Arg(number)] = _expanded(binding, around.numbering(), block, values)
            case tir.ForOp() if block in ancestors(around) and around.min.data == ZERO:
                mapping[Arg(number)] = values.expr(value)
            case _:
                raise ValueError
    return expr.substitute(mapping)


def _depth(variable: SSAValue, block: tir.BlockOp) -> int:
    """The position of an axis among those of the block, or after these of a loop among the "
    "loops."""
    if variable in block.axis_vars:
        return _number(block, variable)
    assert isinstance(variable.owner, Block)
    return len(block.axis_vars) + _level(variable.owner)


def _size(variable: SSAValue, block: tir.BlockOp) -> IntExpr:
    """How many values a variable has; raises ValueError where others decide that."""
    if variable in block.axis_vars:
        axis = block.axes.data[_number(block, variable)]
        extents = extents_run(block)
        if axis.min.data.args() or axis.extent.data.args():
            raise ValueError
        return axis.extent.data if extents is None else extents[_number(block, variable)]
    assert isinstance(variable.owner, Block)
    loop = variable.owner.parent_op()
    if not isinstance(loop, tir.ForOp) or loop.extent.data.args():
        raise ValueError
    return loop.extent.data


def _level(block: Block) -> int:
    loop = block.parent_op()
    return 0 if loop is None else sum(1 for _ in ancestors(loop))


def _number(block: tir.BlockOp, variable: SSAValue) -> int:
    """The position of an axis."""
    return next(i for i, v in enumerate(block.axis_vars) if v is variable)
