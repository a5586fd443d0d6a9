"""Fast-math flags for accumulations: LLVM may split them into lanes and fuse multiply-adds."""

from __future__ import annotations

from typing import TypeAlias

from xdsl.dialects import arith
from xdsl.dialects.utils import FastMathFlag
from xdsl.ir import SSAValue

from ...dialects import loops

Accumulation: TypeAlias = (
    arith.AddfOp
    | arith.MaximumfOp
    | arith.MaxnumfOp
    | arith.MinimumfOp
    | arith.MinnumfOp
    | arith.MulfOp
)
"""Operations that may be applied to the terms of a reduction in any order."""

_REDUCTION = arith.FastMathFlagsAttr(
    [FastMathFlag.REASSOC, FastMathFlag.NO_SIGNED_ZEROS, FastMathFlag.ALLOW_CONTRACT]
)
_FACTOR = arith.FastMathFlagsAttr([FastMathFlag.ALLOW_CONTRACT])


def allow_reassociation(loop: loops.ForOp) -> None:
    """Flag the operations that accumulate a carried value: ``s = s + a * b`` and chains of them.

    Only where nothing else sees the partial results: a running sum that is stored stays strict. The
    flags go on the accumulations and on the multiplications that feed them, which may become fused
    multiply-adds.
    """
    for start, end in zip(loop.carry_vars, loop.yielded, strict=True):
        for op in _chain(start, end):
            op.fastmath = _REDUCTION
            for operand in op.operands:
                if (factor := _factor(operand)) is not None:
                    factor.fastmath = _FACTOR


def _factor(value: SSAValue) -> arith.MulfOp | None:
    """The multiplication whose only use is to be accumulated."""
    op = value.owner
    if isinstance(op, arith.MulfOp) and value.has_one_use() and op.fastmath != _REDUCTION:
        return op
    return None


def _chain(start: SSAValue, end: SSAValue) -> list[Accumulation]:
    """The accumulations of one kind from `start` to `end`; none if anything else is on the way."""
    chain: list[Accumulation] = []
    value = start
    while value is not end:
        use = value.get_user_of_unique_use()
        if not isinstance(use, Accumulation) or (chain and type(use) is not type(chain[0])):
            return []
        chain.append(use)
        value = use.result
    return chain if chain and end.has_one_use() else []
