"""Fast-math flags for accumulations: LLVM may split them into lanes and fuse multiply-adds."""

from __future__ import annotations

from typing import TypeAlias

from xdsl.dialects import arith
from xdsl.dialects.utils import FastMathFlag
from xdsl.ir import SSAValue

from ...dialects import loops

FloatAccumulation: TypeAlias = (
    arith.AddfOp
    | arith.MaximumfOp
    | arith.MaxnumfOp
    | arith.MinimumfOp
    | arith.MinnumfOp
    | arith.MulfOp
)
"""Operations that may be applied to the terms of a reduction in any order."""

Accumulation: TypeAlias = (
    FloatAccumulation
    | arith.AddiOp
    | arith.AndIOp
    | arith.MaxSIOp
    | arith.MaxUIOp
    | arith.MinSIOp
    | arith.MinUIOp
    | arith.MuliOp
    | arith.OrIOp
    | arith.XOrIOp
)
"""All of these, with those on integers, which give the same in any order."""

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
        for op in accumulations(start, end):
            if not isinstance(op, FloatAccumulation):
                continue
            op.fastmath = _REDUCTION
            for operand in op.operands:
                if (factor := _factor(operand)) is not None:
                    factor.fastmath = _FACTOR


def is_reordered(op: Accumulation) -> bool:
    """Whether the terms that an operation accumulates may be taken in another order."""
    return not isinstance(op, FloatAccumulation) or FastMathFlag.REASSOC in op.fastmath.data


def _factor(value: SSAValue) -> arith.MulfOp | None:
    """The multiplication whose only use is to be accumulated."""
    op = value.owner
    if isinstance(op, arith.MulfOp) and value.has_one_use() and op.fastmath != _REDUCTION:
        return op
    return None


def accumulations(start: SSAValue, end: SSAValue) -> list[Accumulation]:
    """The accumulations of one kind from `start` to `end`; none if anything else is on the way.

    Loops on the way that carry the value count with what they do to it.
    """
    chain: list[Accumulation] = []
    value = start
    while value is not end:
        use = value.get_user_of_unique_use()
        if isinstance(use, loops.ForOp) and value in use.inits:
            position = list(use.inits).index(value)
            inner = accumulations(use.carry_vars[position], use.yielded[position])
            if not inner:
                return []
            chain += inner
            value = use.carried[position]
        elif isinstance(use, Accumulation):
            chain.append(use)
            value = use.result
        else:
            return []
    same_kind = len({type(op) for op in chain}) == 1
    return chain if same_kind and end.has_one_use() else []
