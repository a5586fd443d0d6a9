"""Whether a combiner that selects by comparisons is associative and commutative.

Its result depends only on which values are smaller, greater, equal or NaN. Therefore three numbers
and NaN for each value cover all cases.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import prod
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from xdsl.dialects import arith
from xdsl.dialects.builtin import IntegerAttr, IntegerType
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.utils.hints import isa

from ...dialects import tir

Cases: TypeAlias = "NDArray[Any]"
"""For each case the number of a value in its domain."""

NAN = 3
"""Among floats, what stands for NaN."""

MAX_COMBINATIONS = 128
"""The most combinations of values of all results that are tested."""

_ORDERS: dict[str, Callable[[Cases, Cases], Cases]] = {
    "eq": np.equal,
    "ne": np.not_equal,
    "gt": np.greater,
    "ge": np.greater_equal,
    "lt": np.less,
    "le": np.less_equal,
}


def truth_table(
    combining: Sequence[Operation],
    results: Sequence[SSAValue],
    old: Mapping[SSAValue, int],
    new: Mapping[SSAValue, int],
    with_nan: bool,
) -> Cases | None:
    """The results of all pairs of old and new values, as numbers of combinations of values.

    `old` and `new` map values of `combining` to the numbers of results; floats include NaN
    `with_nan`. None if more than comparisons decide, or if there are too many combinations.
    """
    sizes = [_size(r.type, with_nan) for r in results]
    if prod(sizes) > MAX_COMBINATIONS:
        return None
    states = np.indices(sizes).reshape(len(sizes), -1)
    values: dict[SSAValue, Cases] = {v: states[i][:, None] for v, i in old.items()}
    values |= {v: states[i][None, :] for v, i in new.items()}
    for op in combining:
        if isinstance(op, tir.LoadOp) or op.results[0] in values:
            continue
        result = _evaluate(op, values)
        if result is None:
            return None
        values[op.results[0]] = result
    chosen = [np.broadcast_to(values[r], (prod(sizes), prod(sizes))) for r in results]
    return np.ravel_multi_index([c.astype(np.intp) for c in chosen], sizes)


def may_regroup(table: Cases) -> bool:
    """Whether ``(a . b) . c`` is ``a . (b . c)``."""
    return bool((table[table] == table[:, table]).all())


def may_reorder(table: Cases) -> bool:
    """Whether ``a . b`` is ``b . a``."""
    return bool((table == table.T).all())


def _size(type_: Attribute, with_nan: bool) -> int:
    """The number of values that represent a type."""
    if isa(type_, IntegerType):
        return 2 if type_.width.data == 1 else 3
    return 3 + with_nan


def _evaluate(op: Operation, values: Mapping[SSAValue, Cases]) -> Cases | None:
    """Evaluate an operation on cases; None for one that does more than compare and select."""
    if any(v not in values for v in op.operands):
        return None
    given = [values[v] for v in op.operands]
    match op:
        case arith.SelectOp():
            return np.where(given[0].astype(bool), given[1], given[2])
        case arith.CmpiOp():
            name = arith.CMPI_COMPARISON_OPERATIONS[op.predicate.value.data]
            return _ORDERS[name[-2:]](given[0], given[1])
        case arith.CmpfOp():
            return _compare(arith.CMPF_COMPARISON_OPERATIONS[op.predicate.value.data], *given)
        case arith.ExtFOp():
            return given[0]
        case arith.ConstantOp(value=IntegerAttr() as number):
            return np.full((1, 1), number.value.data != 0) if _is_truth(op) else None
        case arith.AndIOp() | arith.OrIOp() | arith.XOrIOp() if _is_truth(op):
            first, second = (v.astype(bool) for v in given)
            if isinstance(op, arith.AndIOp):
                return first & second
            return first | second if isinstance(op, arith.OrIOp) else first ^ second
        case _:
            return None


def _is_truth(op: Operation) -> bool:
    """Whether an operation's result is true or false."""
    type_ = op.results[0].type
    return isa(type_, IntegerType) and type_.width.data == 1


def _compare(name: str, lhs: Cases, rhs: Cases) -> Cases:
    """A comparison of floats: the prefix ``o`` is false and ``u`` is true if an operand is NaN."""
    unordered = (lhs == NAN) | (rhs == NAN)
    match name:
        case "false" | "true":
            return np.full_like(unordered, name == "true")
        case "ord":
            return ~unordered
        case "uno":
            return unordered
        case _:
            order = _ORDERS[name[1:]](lhs, rhs)
            return order | unordered if name[0] == "u" else order & ~unordered
