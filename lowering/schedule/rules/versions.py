"""A contraction whose number of rows is not known becomes two: whole tiles, and the rows left.

::

    for i in (0, m), j, k: T[i, j] += X[i, k] * W[k, j]
    for i in (0, m), j: Y[i, j] = max(T[i, j], 0)
  ⇒
    for i in (0, m floordiv 4 * 4), j, k: T0[i, j] += X[i, k] * W[k, j]
    for i in (0, m floordiv 4 * 4), j: Y[i, j] = max(T0[i, j], 0)
    for i in (0, m mod 4), j, k: T1[i, j] += X[i + m floordiv 4 * 4, k] * W[k, j]
    for i in (0, m mod 4), j: Y[i + m floordiv 4 * 4, j] = max(T1[i, j], 0)

Each gets tiles that suit it: the first one's are always full, and few rows take a small one.
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import IndexType
from xdsl.ir import Block, Operation, Region, SSAValue

from ....dialects import tir
from ....dialects.int_expr import ZERO, Arg, Atom, IntExpr, IntLike, minimum
from ....dialects.nesting import operations_in
from ....dialects.sym import ExprAttr, Values, expr_array, exprs_of
from ...analysis.aliasing import may_share_memory
from ..blocks import (
    blocks_in,
    loaded_buffers,
    loops_around,
    own_nest,
    stored_buffers,
)
from ..copy_block import new_scratch, redirect
from ..regions import axes_of, refresh_around, replace_header
from .products import Product, plain_loops


def split_rows(
    product: Product, row: int, consumer: tir.BlockOp, height: int
) -> tuple[tir.BlockOp, tir.BlockOp] | None:
    """Make the rows of whole tiles of `height`, and those left, contractions of their own.

    `consumer` alone uses the result, element by element. Returns the two contractions; `None`
    where none are left, what uses the result has no row of its own, or may change what is read.
    """
    block, scratch = product.block, product.store.buffer
    position = _dim_of(product.store, block.axis_vars[row])
    other = None if position is None else _axis_at(consumer, scratch, position)
    if position is None or other is None or not _is_apart(block, consumer):
        return None
    extent = product.extent(row)
    whole = extent // height * height
    if whole == extent:
        return None
    nests = own_nest(block), own_nest(consumer)
    made: list[tir.BlockOp] = []
    for start, size in ((ZERO, whole), (whole, extent % height)):
        copies = [_copy(nest, nests[0]) for nest in nests]
        new = _resized(scratch, position, size, copies[0])
        for copy, axis in zip(copies, (row, other), strict=True):
            redirect(copy, scratch, new)
            _narrow(blocks_in(copy)[0], axis, start, size, new)
        made.append(blocks_in(copies[0])[0])
    _erase(nests, scratch)
    return made[0], made[1]


def split_by_count(
    product: Product, row: int, consumer: tir.BlockOp, limit: int
) -> tuple[tir.BlockOp, tir.BlockOp] | None:
    """Make a contraction of fewer than `limit` rows, and one of as many or more, of which one runs.

    `consumer` alone uses the result. Returns the contractions, each in a loop of one iteration or
    none; `None` where what uses the result may change what is read.
    """
    block, scratch = product.block, product.store.buffer
    if not _is_apart(block, consumer):
        return None
    type_ = scratch.type
    assert isinstance(type_, tir.BufferType)
    nests = own_nest(block), own_nest(consumer)
    is_many = minimum(product.extent(row) // limit, 1)
    made: list[tir.BlockOp] = []
    for times in (1 - is_many, is_many):
        copies = [_copy(nest, nests[0]) for nest in nests]
        new = new_scratch(scratch.name_hint or "T", type_.dims, scratch, "global", _home(nests[0]))
        for copy in copies:
            redirect(copy, scratch, new)
        made.append(blocks_in(copies[0])[0])
        _put_in_loop(copies, times)
    _erase(nests, scratch)
    return made[0], made[1]


def _put_in_loop(ops: Sequence[Operation], times: IntExpr) -> None:
    """Put neighbouring operations in a loop."""
    body = Block(arg_types=[IndexType()])
    loop = tir.ForOp(ZERO, times, [], Region(body))
    _home(ops[0]).insert_op_before(loop, ops[0])
    for op in ops:
        op.detach()
        body.add_op(op)


def _erase(nests: Sequence[Operation], scratch: SSAValue) -> None:
    """Erase the nests that make and use the elements of a scratch buffer, and the buffer."""
    for op in (*nests[::-1], scratch.owner):
        assert isinstance(op, Operation)
        op.detach()
        op.erase()


def _home(op: Operation) -> Block:
    assert op.parent is not None
    return op.parent


def _dim_of(op: tir.LoadOp | tir.StoreOp, var: SSAValue) -> int | None:
    """The dim that a variable alone indexes, if it is used there only."""
    used = [
        (dim, index.as_atom)
        for dim, index in enumerate(exprs_of(op.indices))
        if any(op.operands_[i] is var for i in index.args())
    ]
    return used[0][0] if len(used) == 1 and isinstance(used[0][1], Arg) else None


def _axis_at(consumer: tir.BlockOp, buffer: SSAValue, position: int) -> int | None:
    """The axis at which a block loads a dim of a buffer, if that has a loop of its own."""
    loops = plain_loops(consumer)
    found: set[SSAValue] = set()
    for op in operations_in(consumer):
        if isinstance(op, tir.LoadOp) and op.buffer is buffer:
            atom = exprs_of(op.indices)[position].as_atom
            if not isinstance(atom, Arg) or _dim_of(op, op.operands_[atom.index]) != position:
                return None
            found.add(op.operands_[atom.index])
    if loops is None or len(found) != 1 or consumer.predicates.data:
        return None
    (var,) = found
    moved = (tir.LoadOp, tir.StoreOp, tir.ApplyOp, tir.BlockOp)
    if var not in consumer.axis_vars or any(not isinstance(u.operation, moved) for u in var.uses):
        return None
    axis = consumer.axis_vars.index(var)
    return axis if axis in loops else None


def _is_apart(block: tir.BlockOp, consumer: tir.BlockOp) -> bool:
    """Whether the consumer's nest follows, and neither block reads what the consumer changes."""
    nest, after = own_nest(block), own_nest(consumer)
    following = nest.next_op
    while isinstance(following, tir.AllocBufferOp):
        following = following.next_op
    read = loaded_buffers(block) | loaded_buffers(consumer)
    return following is after and not any(
        may_share_memory(stored, buffer) for stored in stored_buffers(consumer) for buffer in read
    )


def _copy(nest: Operation, before: Operation) -> Operation:
    copy = nest.clone()
    for old, new in zip(operations_in(nest), operations_in(copy), strict=True):
        new.location = old.location
    _home(before).insert_op_before(copy, before)
    return copy


def _resized(buffer: SSAValue, position: int, size: IntExpr, before: Operation) -> SSAValue:
    """A scratch buffer like another one with another extent of one dim."""
    type_ = buffer.type
    assert isinstance(type_, tir.BufferType)
    dims = [size if dim == position else d for dim, d in enumerate(type_.dims)]
    return new_scratch(buffer.name_hint or "T", dims, buffer, "global", _home(before))


def _narrow(
    block: tir.BlockOp, axis: int, start: IntExpr, size: IntExpr, scratch: SSAValue
) -> None:
    """Let an axis run over `size` values from 0, which stand for those from `start`."""
    var = block.axis_vars[axis]
    numbering = block.numbering()
    (bound,) = exprs_of(block.bindings)[axis].args()
    for loop in loops_around(block):
        if loop.loop_var is numbering[bound]:
            loop.properties["extent"] = ExprAttr(size)
    for op in operations_in(block):
        if isinstance(op, tir.LoadOp | tir.StoreOp) and op.buffer is not scratch:
            op.properties["indices"] = expr_array(_moved(exprs_of(op.indices), op, var, start))
        elif isinstance(op, tir.ApplyOp):
            (expr,) = _moved([op.expr.data], op, var, start)
            op.properties["expr"] = ExprAttr(expr)
    values = Values()
    for value in numbering:
        values.expr(value)
    axes = axes_of(block)
    axes[axis] = tir.Axis(axes[axis].kind, ZERO, size, axes[axis].binding)
    reads, writes = block.regions_of("reads"), block.regions_of("writes")
    replace_header(block, axes, values, reads, writes)
    refresh_around([block])


def _moved(
    exprs: Sequence[IntExpr],
    op: tir.LoadOp | tir.StoreOp | tir.ApplyOp,
    var: SSAValue,
    start: IntExpr,
) -> list[IntExpr]:
    operands = op.operands if isinstance(op, tir.ApplyOp) else op.operands_
    moved = [Arg(i) for i, v in enumerate(operands) if v is var]
    mapping: dict[Atom, IntLike] = {atom: IntExpr.of(atom) + start for atom in moved}
    return [e.substitute(mapping) for e in exprs]
