"""Buffers as one row, where the lanes of a loop run over the ends of their rows.

::

    loops.for %l in (0, 16) vectorized {                    %F = loops.view %X at %0 : … to […, 196]
      loops.load %X[(%b * 16 + %l) floordiv 14,       ⇒     loops.for %l in (0, 16) vectorized {
                    (%b * 2 + %l) mod 14]                     loops.load %F[%b * 16 + %l]

Loops that are fused and split again are like this. A vector is of elements in one row; all accesses
of the buffer, a parameter or scratch memory, are to that row then.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import prod
from typing import TypeAlias, cast

from xdsl.dialects.arith import ConstantOp
from xdsl.dialects.builtin import IndexType, IntegerAttr
from xdsl.ir import SSAValue
from xdsl.rewriter import InsertPoint, Rewriter

from ...dialects import loops
from ...dialects.int_expr import ONE
from ...dialects.nesting import ancestors
from ...dialects.quotients import join_remainders
from ...dialects.sym import Values, exprs_of
from ...dialects.tir.types import BufferType

Access: TypeAlias = "loops.LoadOp | loops.StoreOp"


def flatten_rows(func: loops.FuncOp) -> None:
    """Let accesses of a dense buffer be to one row, if lanes run over the ends of its rows."""
    scratch = [op for op in func.walk() if isinstance(op, loops.AllocaOp)]
    for buffer in (*func.params, *(op.result for op in scratch)):
        accesses = [use.operation for use in buffer.uses]
        type_ = buffer.type
        if not isinstance(type_, BufferType) or not type_.is_dense or type_.rank < 2:
            continue
        if not any(map(_runs_over_rows, accesses)):
            continue
        if all(isinstance(op, loops.LoadOp | loops.StoreOp) for op in accesses):
            _flatten(func, buffer, cast("list[Access]", accesses))


def _runs_over_rows(op: object) -> bool:
    """Whether the lanes around an access are in several rows, and neighbours in memory."""
    if not isinstance(op, loops.LoadOp | loops.StoreOp):
        return False
    for loop in _vectorized_around(op):
        values = Values()
        *rows, column = values.exprs(op.indices, op.operands_)
        lane = values.atom(loop.loop_var)
        if any(lane in row.atoms() for row in rows):
            place = cast(BufferType, op.buffer.type).linear_index([*rows, column])
            return join_remainders(place).coefficient_of(lane) == ONE
    return False


def _vectorized_around(op: Access) -> Iterator[loops.ForOp]:
    for loop in ancestors(op):
        if isinstance(loop, loops.ForOp) and loop.kind.data == "vectorized":
            yield loop


def _flatten(func: loops.FuncOp, buffer: SSAValue, accesses: list[Access]) -> None:
    type_ = cast(BufferType, buffer.type)
    row = BufferType.of([prod(type_.dims, start=ONE)], type_.element_type, scope=type_.scope.data)
    if isinstance(buffer.owner, loops.AllocaOp):
        scratch = loops.AllocaOp(row)
        flat, scratch.result.name_hint = scratch.result, buffer.name_hint
        Rewriter.insert_op(scratch, InsertPoint.before(buffer.owner))
    else:
        start = ConstantOp(IntegerAttr(0, IndexType()))
        view = loops.ViewOp(buffer, start.result, row)
        Rewriter.insert_op([start, view], InsertPoint.at_start(func.body.block))
        flat = view.result
    for op in accesses:
        place = [join_remainders(type_.linear_index(list(exprs_of(op.indices))))]
        if isinstance(op, loops.LoadOp):
            new = loops.LoadOp(flat, place, op.operands_, op.result.type, op.mask)
        else:
            past = op.nontemporal is not None
            new = loops.StoreOp(op.value, flat, place, op.operands_, op.mask, past)
        Rewriter.replace_op(op, new)
    if isinstance(buffer.owner, loops.AllocaOp):
        Rewriter.erase_op(buffer.owner)
