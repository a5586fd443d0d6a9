"""Fast-math flags for accumulations: what lets LLVM split a reduction into vector lanes and fuse multiply-adds."""

from __future__ import annotations

from xdsl.dialects import arith
from xdsl.ir import Operation, SSAValue
from xdsl.dialects.utils import FastMathFlag

from ...dialects import loops

REDUCTIONS = (
    arith.AddfOp,
    arith.MaximumfOp,
    arith.MaxnumfOp,
    arith.MinimumfOp,
    arith.MinnumfOp,
    arith.MulfOp,
)

_REDUCTION = arith.FastMathFlagsAttr(
    [FastMathFlag.REASSOC, FastMathFlag.NO_SIGNED_ZEROS, FastMathFlag.ALLOW_CONTRACT]
)
_FACTOR = arith.FastMathFlagsAttr([FastMathFlag.ALLOW_CONTRACT])


def allow_reassociation(loop: loops.ForOp) -> None:
    """Flag the operations that accumulate a carried value: ``s = s + a * b`` and chains of them.

    Only where nothing else sees the partial results: a running sum that is stored stays strict. The flags go on
    the accumulations and on the multiplications that feed them, which may become fused multiply-adds.
    """
    for start, end in zip(loop.carry_vars, loop.yielded, strict=True):
        for op in _chain(start, end):
            op.properties["fastmath"] = _REDUCTION
            for operand in op.operands:
                if _is_factor(operand):
                    operand.owner.properties["fastmath"] = _FACTOR


def _is_factor(value: SSAValue) -> bool:
    op = value.owner
    return (
        isinstance(op, arith.MulfOp)
        and value.has_one_use()
        and op.properties.get("fastmath") != _REDUCTION
    )


def _chain(start: SSAValue, end: SSAValue) -> list[Operation]:
    """The accumulations of one kind from `start` to `end`; none if there is anything else on the way."""
    chain: list[Operation] = []
    value = start
    while value is not end:
        use = value.get_user_of_unique_use()
        if not isinstance(use, REDUCTIONS) or (chain and type(use) is not type(chain[0])):
            return []
        chain.append(use)
        value = use.result
    return chain if chain and end.has_one_use() else []
