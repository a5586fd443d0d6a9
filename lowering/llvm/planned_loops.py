"""Loops of planned functions, slices of tensors, and memory that iterations exchange.

    rt.for i to n carried (%a, %b) = (%x, %y) : … { rt.call_dps @step(%a) outs(%b) … }

⇒

    ^header(%i: i64, %a: ptr, %b: ptr):
      br %i < %n, ^body, ^end
    ^body:
      … call i32 @xrelax.step(ptr %ctx, ptr %a, ptr %b, i64 %i)
      br ^header(%i + 1, %b, %a)
    ^end:
      br %i & 1: memcpy(ptr %x, ptr %y)
"""

from __future__ import annotations

from typing import cast

from xdsl.dialects import llvm
from xdsl.dialects.builtin import i1, i8, i64
from xdsl.ir import Block, Operation, SSAValue

from ...dialects import rt
from ...dialects.int_expr import Sym
from ...dialects.tir.types import BufferType
from .builder import FunctionBuilder, Lowering
from .index import index_value, place_sum
from .interrupts import poll_in_iteration
from .layout import root_of
from .memory import copy_dense, offset_address
from .types import NE, NSW, PTR, SLT


def lower_for(f: FunctionBuilder, op: rt.ForOp) -> None:
    """A loop of calls, over a symbol, while a bool in memory holds if there is one."""
    trips = None if op.trips is None else index_value(f, op.trips.data, ())
    memory = f.values([*op.carried, *op.spare])
    header = f.add_block([i64, *(PTR for _ in memory)])
    test, body, following = Block(), Block(), Block()
    position, *pointers = header.args
    level = f.push(body)
    level.values[Sym(op.var.data)] = position
    level.values.update(zip(op.body.block.args, pointers, strict=True))
    poll_in_iteration(f, op)
    f.lower_block(op.body.block)
    next_position = f.emit(llvm.AddOp, (position, f.integer(1)), i64, NSW)
    half = len(op.carried)
    f.branch(header, (next_position, *pointers[half:], *pointers[:half]))
    f.pop()
    f.branch(header, (f.integer(0), *memory))
    f.levels[-1].block = header
    if trips is not None:
        f.branch_if(f.emit(llvm.ICmpOp, (position, trips), i1, SLT), test, following)
        f.continue_in(test)
    if op.condition is not None:
        value = f.emit(llvm.LoadOp, (f.value(op.condition),), i8)
        f.branch_if(f.emit(llvm.ICmpOp, (value, f.integer(0, i8)), i1, NE), body, following)
    else:
        f.branch(body, ())
    f.continue_in(following)
    _take_back(f, op, position)


def _take_back(f: FunctionBuilder, op: rt.ForOp, position: SSAValue) -> None:
    """After an odd number of iterations, copy what is in spare memory."""
    if not op.carried:
        return
    copies, following = Block(), Block()
    is_odd = f.emit(llvm.AndOp, (position, f.integer(1)), i64)
    f.branch_if(f.emit(llvm.ICmpOp, (is_odd, f.integer(0)), i1, NE), copies, following)
    f.continue_in(copies)
    for carried, spare in zip(op.carried, op.spare, strict=True):
        f.written.update((root_of(carried), root_of(spare)))
        layout = f.module.layout(cast(BufferType, carried.type))
        copy_dense(f, layout, f.value(spare), f.value(carried))
    f.branch(following)
    f.continue_in(following)


def lower_slice(f: FunctionBuilder, op: rt.SliceOp) -> None:
    """An element along the first axis: a pointer to it."""
    source = cast(BufferType, op.source.type)
    base, level = f.find(op.source)
    offset, inner = place_sum(f, (op.index.data * source.element_strides()[0]).terms, ())
    level = max(level, inner)
    address = f.module.layout(source).address
    f.levels[level].values[op.result] = offset_address(f, base, offset, level, address)


PLANNED_LOOPS: dict[type[Operation], Lowering] = {
    rt.ForOp: lower_for,
    rt.SliceOp: lower_slice,
}
"""The lowerings of loops of planned functions."""
