"""Operations that accumulate: which they are, what they start from, and chains of them."""

from __future__ import annotations

from math import inf, nan
from typing import TypeAlias, cast

from xdsl.dialects import arith
from xdsl.dialects.builtin import AnyFloat, FloatAttr, IntegerAttr, IntegerType
from xdsl.dialects.utils import FastMathFlag
from xdsl.ir import Attribute, SSAValue
from xdsl.utils.hints import isa

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


def is_reordered(op: Accumulation) -> bool:
    """Whether the terms that an operation accumulates may be taken in another order."""
    return not isinstance(op, FloatAccumulation) or FastMathFlag.REASSOC in op.fastmath.data


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


def identity(op: Accumulation, type_: Attribute) -> IntegerAttr | FloatAttr:
    """The number that an accumulation leaves other numbers as they are with."""
    if isa(type_, IntegerType):
        return IntegerAttr(_integer_identity(op, type_.width.data), type_, truncate_bits=True)
    return FloatAttr(_float_identity(op), cast(AnyFloat, type_))


def _integer_identity(op: Accumulation, width: int) -> int:
    match op:
        case arith.MuliOp():
            return 1
        case arith.AndIOp() | arith.MinUIOp():
            return -1
        case arith.MaxSIOp():
            return -(1 << (width - 1))
        case arith.MinSIOp():
            return (1 << (width - 1)) - 1
        case _:
            return 0


def _float_identity(op: Accumulation) -> float:
    assert isinstance(op, FloatAccumulation)
    no_nans = FastMathFlag.NO_NANS in op.fastmath.data
    match op:
        case arith.AddfOp():
            return -0.0
        case arith.MulfOp():
            return 1.0
        case arith.MaximumfOp():
            return -inf
        case arith.MinimumfOp():
            return inf
        case arith.MaxnumfOp():
            return -inf if no_nans else nan
        case _:
            return inf if no_nans else nan
