"""Scratch memory that iterations of a parallel loop would share becomes memory of each iteration.

::

    T: [m]                                      for i in (0, n) parallel:
    for i in (0, n) parallel:                     T: [m]
      for j in (0, m): T[j] = exp(X[i, j])  ⇒     for j in (0, m): T[j] = exp(X[i, j])
      Y[i] = T[I[i]]                              Y[i] = T[I[i]]

TVM moves all memory to its uses, in its pass ``PlanAndUpdateBufferAllocationLocation``.
"""

from __future__ import annotations

from ...dialects import tir
from ..analysis.independence import conflict_of
from ..schedule.regions import refresh_around
from .verify_kernels import buffers_in, parallel_loops, scratch_of, users_of


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
