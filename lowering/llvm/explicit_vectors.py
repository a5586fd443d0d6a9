"""Which kernels are vector code already, so that LLVM has nothing to vectorize or unroll."""

from __future__ import annotations

from xdsl.dialects import scf
from xdsl.dialects.builtin import ArrayAttr, VectorType
from xdsl.ir import Operation

from ...dialects import llvm_ext, loops
from .types import Properties

MARKED: Properties = {"passthrough": ArrayAttr([llvm_ext.EXPLICIT_VECTORS])}
"""Properties of the function of such a kernel."""


def is_explicit(func: loops.FuncOp) -> bool:
    """Whether a kernel has loops, and every one without a loop in it works on vectors."""
    innermost = [
        op
        for op in func.walk()
        if isinstance(op, _LOOPS) and not any(isinstance(o, _LOOPS) for o in _inside(op))
    ]
    return bool(innermost) and all(any(map(_has_vectors, _inside(op))) for op in innermost)


_LOOPS = (loops.ForOp, scf.ForOp, scf.WhileOp)


def _inside(op: Operation) -> list[Operation]:
    return [o for o in op.walk() if o is not op]


def _has_vectors(op: Operation) -> bool:
    return any(isinstance(v.type, VectorType) for v in (*op.operands, *op.results))
