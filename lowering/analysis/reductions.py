"""Accumulations: their operations, identities, and chains of them."""

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

Reduction: TypeAlias = Accumulation | loops.MultiReductionOp
"""Operations that accumulate terms, or lanes of them."""


def is_reordered(op: Reduction) -> bool:
    """Whether the terms that an operation accumulates may be reordered."""
    return not isinstance(op, FloatAccumulation) or FastMathFlag.REASSOC in op.fastmath.data


def combiner_of(op: Reduction) -> loops.Combiner:
    """The operation on two values that a reduction applies."""
    return op.combiner if isinstance(op, loops.MultiReductionOp) else type(op)


def fastmath_of(op: Reduction) -> arith.FastMathFlagsAttr | None:
    """Flags of an operation on floats."""
    return op.fastmath if isinstance(op, FloatAccumulation | loops.MultiReductionOp) else None


def accumulations(start: SSAValue, end: SSAValue) -> list[Reduction]:
    """The chain of accumulations of one kind from `start` to `end`; empty for anything else.

    Loops on the way that carry the value count with what they do to it.
    """
    chain: list[Reduction] = []
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
        elif isinstance(use, Reduction):
            chain.append(use)
            value = use.result
        else:
            return []
    same_kind = len({combiner_of(op) for op in chain}) == 1
    return chain if same_kind and end.has_one_use() else []


def identity(op: Reduction, type_: Attribute) -> IntegerAttr | FloatAttr:
    """The identity of an accumulation."""
    kind, flags = loops.COMBINING_KINDS[combiner_of(op)], fastmath_of(op)
    if isa(type_, IntegerType):
        most = (1 << (type_.width.data - 1)) - 1
        numbers = {"mul": 1, "and": -1, "minui": -1, "maxsi": -1 - most, "minsi": most}
        return IntegerAttr(numbers.get(kind, 0), type_, truncate_bits=True)
    has_nan = flags is None or FastMathFlag.NO_NANS not in flags.data
    floats = {
        "add": -0.0,
        "mul": 1.0,
        "maximumf": -inf,
        "minimumf": inf,
        "maxnumf": nan if has_nan else -inf,
        "minnumf": nan if has_nan else inf,
    }
    return FloatAttr(floats[kind], cast(AnyFloat, type_))
