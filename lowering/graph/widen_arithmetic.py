"""Compute with f16 and bf16 in f32, as all targets do, so that fused results need no rounding.

    %2 = arith.mulf %0, %1 : bf16     ⇒     %2 = truncf (arith.mulf (extf %0), (extf %1) : f32)

TVM's ``BF16ComputeLegalize``.
"""

from __future__ import annotations

from xdsl.dialects.arith import ConstantOp, ExtFOp, TruncFOp
from xdsl.dialects.builtin import BFloat16Type, Float16Type, FloatAttr, f32
from xdsl.ir import Operation, SSAValue
from xdsl.rewriter import Rewriter

from ...dialects import tir
from ...dialects.nesting import operations_in

KINDS = ("arith.", "math.")
"""What the names of arithmetic begin with."""


def widen_arithmetic(func: tir.PrimFuncOp) -> None:
    """Let operations on f16 and bf16 compute in f32, and round their results."""
    for op in list(operations_in(func)):
        if op.name.startswith(KINDS) and op.operands and len(op.results) == 1:
            if all(
                isinstance(v.type, Float16Type | BFloat16Type) for v in (*op.operands, *op.results)
            ):
                _widen(op)


def _widen(op: Operation) -> None:
    new: list[Operation] = []
    operands: list[SSAValue] = []
    for operand in op.operands:
        owner = operand.owner
        if isinstance(owner, ConstantOp) and isinstance(owner.value, FloatAttr):
            wide: Operation = ConstantOp(FloatAttr(owner.value.value.data, f32))
        else:
            wide = ExtFOp(operand, f32)
        new.append(wide)
        operands.append(wide.results[0])
    computed = type(op).create(
        operands=operands, result_types=[f32], properties=dict(op.properties)
    )
    rounded = TruncFOp(computed.results[0], op.results[0].type)
    for made in (*new, computed, rounded):
        made.location = op.location
    Rewriter.replace_op(op, [*new, computed, rounded], [rounded.result])
