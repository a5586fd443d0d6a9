"""Scratch memory that iterations of a parallel loop would share becomes memory of each iteration.

::

    T: [m]                                      for i in (0, n) parallel:
    for i in (0, n) parallel:                     T: [m]
      for j in (0, m): T[j] = exp(X[i, j])  ⇒     for j in (0, m): T[j] = exp(X[i, j])
      Y[i] = T[I[i]]                              Y[i] = T[I[i]]

TVM moves all memory to its uses, in its pass ``PlanAndUpdateBufferAllocationLocation``.
"""

from __future__ import annotations

from xdsl.ir import Operation, SSAValue

from ...dialects import tir
from ...dialects.nesting import operations_in
from ..analysis.independence import conflict_of
from ..schedule.blocks import uses_of
from ..schedule.regions import refresh_around


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


def privatize(func: tir.PrimFuncOp) -> None:
    """Move scratch memory into the parallel loops whose iterations would share its elements."""
    for loop in parallel_loops(func):
        buffers = set(buffers_in(loop))
        for alloc in [op for op in scratch_of(loop) if not loop.is_ancestor(op)]:
            if conflict_of(loop, buffers - {alloc.result}) is not None:
                _move_into(loop, alloc)


def _move_into(loop: tir.ForOp, alloc: tir.AllocBufferOp) -> None:
    alloc.detach()
    body = loop.body.block
    assert body.first_op is not None
    body.insert_op_before(alloc, body.first_op)
    refresh_around(users_of(alloc))
