"""`annotate-reuse-distance`: note on kernels how much data comes between two calls of them.

::

    tir.prim_func @matmul(…)                     tir.prim_func @matmul(…)
                                          ⇒        attributes {"reuse_distance" = 16777216}

The reuse distance of an operand is what is read and written until its next use (Mattson et al.,
1970): here the operands of all calls of the function around, and those of its callers. Only the
sizes of caches matter, so that a kernel of other modules has the same note.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from ...backend.target import Target
from ...dialects import rt, tir
from ...dialects.nesting import ancestors
from ...dialects.tir.func import REUSE_DISTANCE
from ..sizes import known_bytes


def reuse_distances(module: ModuleOp) -> dict[str, int]:
    """The bytes of operands, as far as known, of all calls around those of each function."""
    funcs = (op for op in module.body.block.ops if isinstance(op, rt.FuncOp))
    calls = {func.sym_name.data: _called(func) for func in funcs if func.on_load is None}
    found: dict[str, int] = {}
    work = [(name, 0) for name in calls]
    while work:
        name, outer = work.pop()
        total = max(outer, sum(calls[name].values()))
        for callee in calls[name]:
            if total > found.get(callee, -1):
                found[callee] = total
                if callee in calls:
                    work.append((callee, total))
    return found


def _called(func: rt.FuncOp) -> dict[str, int]:
    """The functions that a function calls, and the bytes of their operands in all iterations."""
    found: dict[str, int] = {}
    for op in func.walk():
        if isinstance(op, rt.CallDPSOp):
            loops = [p for p in ancestors(op) if isinstance(p, rt.ForOp)]
            trips = [None if p.trips is None else p.trips.data.constant for p in loops]
            nbytes = sum(known_bytes([v]) or 0 for v in op.operands)
            total = nbytes * math.prod(n or 1 for n in trips)
            found[op.callee_name] = found.get(op.callee_name, 0) + total
    return found


@dataclass(frozen=True)
class AnnotateReuseDistancePass(ModulePass):
    """Note for kernels which sizes of caches their reuse distance exceeds."""

    name = "annotate-reuse-distance"
    target: str = "llvm"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        caches = Target(self.target).caches
        sizes, distances = (caches.l2, caches.l3 // 2), reuse_distances(op)
        for func in op.body.block.ops:
            if isinstance(func, tir.PrimFuncOp):
                distance = distances.get(func.sym_name.data, 0)
                exceeded = [size for size in sizes if distance > size]
                func.set_attr(REUSE_DISTANCE, max(exceeded, default=None))
