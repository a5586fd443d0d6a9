"""`annotate-tir-op-pattern`: each PrimFunc gets the attribute ``op_pattern``.

::

    tir.prim_func @relu(…)     ⇒     tir.prim_func @relu(…) attributes {op_pattern = 0 : i64}

TVM's ``AnnotateTIROpPattern``, with its numbers: see `OpPattern`. Existing patterns are kept.
"""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from ...dialects import tir
from .fusion_patterns import OP_PATTERN, summarize


def annotate_tir_op_pattern(module: ModuleOp) -> None:
    """Give every PrimFunc its pattern."""
    for func in module.body.block.ops:
        if isinstance(func, tir.PrimFuncOp) and func.attr(OP_PATTERN) is None:
            func.set_attr(OP_PATTERN, int(summarize(func).pattern))


@dataclass(frozen=True)
class AnnotateTIROpPatternPass(ModulePass):
    """Classify every PrimFunc for operator fusion by its loops and accesses."""

    name = "annotate-tir-op-pattern"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        annotate_tir_op_pattern(op)
