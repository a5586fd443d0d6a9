"""The scratch memory of parallel loops."""

from __future__ import annotations

from xdsl.ir import Operation, SSAValue

from ..dialects import tir
from ..dialects.nesting import operations_in
from .schedule.blocks import uses_of


def parallel_loops(func: tir.PrimFuncOp) -> list[tir.ForOp]:
    """The parallel loops of a function, outer ones first."""
    ops = operations_in(func)
    return [op for op in ops if isinstance(op, tir.ForOp) and op.kind.data == "parallel"]


def scratch_of(loop: tir.ForOp) -> list[tir.AllocBufferOp]:
    """The scratch memory that nothing but the loop uses, from inside and outside of it."""
    owners = dict.fromkeys(b.owner for b in buffers_in(loop))
    return [
        op
        for op in owners
        if isinstance(op, tir.AllocBufferOp) and all(loop.is_ancestor(o) for o in users_of(op))
    ]


def buffers_in(loop: tir.ForOp) -> list[SSAValue]:
    """What the operations in a loop load, store, view and pass on."""
    used = (v for op in operations_in(loop) for v in op.operands)
    return [v for v in dict.fromkeys(used) if isinstance(v.type, tir.BufferType)]


def users_of(alloc: tir.AllocBufferOp) -> list[Operation]:
    """What loads, stores, views or passes on scratch memory."""
    uses = uses_of(alloc.result)
    return [*uses.stores, *uses.loads, *uses.others]
