"""`arith` in NumPy: one function for each operation, exact in its dtype.

Where LLVM leaves a result undefined the evaluator is definite, as native code is: a division by 0
gives 0, as does its remainder, shifts by the width or more give 0 (the sign for `shrsi`), a float
out of an integer's range saturates and NaN becomes 0. Fast-math flags are not used.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

import numpy as np
from xdsl.dialects import arith
from xdsl.dialects.builtin import DenseIntOrFPElementsAttr, FloatAttr, IntegerAttr, i32
from xdsl.ir import Operation

from ..dialects.llvm_ext.vectors import FCmpOp, SelectOp, SplatOp
from ..dialects.tir.dot import BFDotOp, DotOp, MatrixDotOp
from .casts import bitcast, float_to_integer, integer_resize, integer_to_float, resize
from .values import (
    Binary,
    Maker,
    Precision,
    ScalarFunction,
    Value,
    choose,
    lanes_of,
    signed,
    unsigned,
    value_dtype,
)


def _float_op(function: ScalarFunction) -> Maker:
    def make(op: Operation, precision: Precision) -> ScalarFunction:
        dtype = value_dtype(op.results[0].type)
        if dtype != "bfloat16" or precision.float64:
            return function
        return lambda *args: precision.narrow(dtype, function(*args))

    return make


def _integer_op(function: Binary, is_unsigned: bool = False) -> Maker:
    view = unsigned if is_unsigned else signed

    def make(op: Operation, precision: Precision) -> ScalarFunction:
        dtype = value_dtype(op.results[0].type)
        result, operand = (
            precision.compute(dtype),
            precision.compute(value_dtype(op.operands[0].type)),
        )

        def apply(*args: Value) -> Value:
            values = function(*(view(np.asarray(a, operand)) for a in args))
            return (
                (values & 1 != 0) if result.kind == "b" else np.asarray(values).astype(result)[()]
            )

        return apply

    return make


def _extremum(function: Binary, zero: Binary) -> Binary:
    """IEEE 754's maximum and minimum: NaN wins, and -0 is smaller than +0."""

    def apply(x: Value, y: Value) -> Value:
        both = (x == 0) & (y == 0)
        return choose(both, zero(x, y), function(x, y)) if np.any(both) else function(x, y)

    return apply


def _truncating_division(x: Value, y: Value) -> Value:
    quotient = x // y
    return quotient + ((quotient < 0) & (quotient * y != x)).astype(quotient.dtype)


def _shift(function: Binary) -> Binary:
    """Counts are unsigned: a negative one is as large as any that is too large."""

    def apply(x: Value, count: Value) -> Value:
        width = x.dtype.itemsize * 8
        large = unsigned(count) >= width
        shifted = function(x, np.where(large, 0, count).astype(x.dtype))
        return choose(large, function(function(x, width - 1), 1), shifted)

    return apply


CMPI: tuple[tuple[Binary, bool], ...] = (
    (np.equal, False),
    (np.not_equal, False),
    (np.less, False),
    (np.less_equal, False),
    (np.greater, False),
    (np.greater_equal, False),
    (np.less, True),
    (np.less_equal, True),
    (np.greater, True),
    (np.greater_equal, True),
)
"""Function and unsignedness of each `arith.cmpi` predicate, by number."""


def _unordered(x: Value, y: Value) -> Value:
    return np.isnan(x) | np.isnan(y)


CMPF: dict[str, Binary] = {
    "false": lambda x, y: np.zeros_like(x == y),
    "oeq": np.equal,
    "ogt": np.greater,
    "oge": np.greater_equal,
    "olt": np.less,
    "ole": np.less_equal,
    "one": lambda x, y: (x < y) | (x > y),
    "ord": lambda x, y: ~_unordered(x, y),
    "ueq": lambda x, y: ~((x < y) | (x > y)),
    "ugt": lambda x, y: ~(x <= y),
    "uge": lambda x, y: ~(x < y),
    "ult": lambda x, y: ~(x >= y),
    "ule": lambda x, y: ~(x > y),
    "une": np.not_equal,
    "uno": _unordered,
    "true": lambda x, y: np.ones_like(x == y),
}
"""Float comparisons by name, in the order of `arith.cmpf`'s predicate numbers."""


def _cmpi(op: arith.CmpiOp, precision: Precision) -> ScalarFunction:
    function, is_unsigned = CMPI[op.predicate.value.data]
    view = unsigned if is_unsigned else signed
    operand = precision.compute(value_dtype(op.lhs.type))

    def compare(x: Value, y: Value) -> Value:
        return function(view(np.asarray(x, operand)), view(np.asarray(y, operand)))

    return compare


def _cmpf(op: arith.CmpfOp, precision: Precision) -> ScalarFunction:
    return list(CMPF.values())[op.predicate.value.data]


def _constant(op: arith.ConstantOp, precision: Precision) -> ScalarFunction:
    dtype, lanes = value_dtype(op.result.type), lanes_of(op.result.type)
    value = _constant_value(op.value)
    if dtype == "index" and lanes is None:
        return lambda: value
    array = precision.narrow(dtype, np.asarray(value))
    constant = array if lanes is None else np.broadcast_to(array, (lanes,))
    return lambda: constant


def _constant_value(attribute: Any) -> Any:
    if isinstance(attribute, DenseIntOrFPElementsAttr):
        return list(cast(Sequence[Any], attribute.get_values()))
    assert isinstance(attribute, IntegerAttr | FloatAttr)
    return cast(Any, attribute).value.data


def _select(op: arith.SelectOp | SelectOp, precision: Precision) -> ScalarFunction:
    spread = lanes_of(op.operands[0].type) is None and lanes_of(op.results[0].type) is not None

    def select(condition: Value, on_true: Value, on_false: Value) -> Value:
        on = np.asarray(condition)[..., None] if spread else condition
        return choose(on, on_true, on_false)

    return select


def _dot(op: DotOp | MatrixDotOp, precision: Precision) -> ScalarFunction:
    """The sum of the products of the bytes of words."""
    flags = (op.lhs_unsigned, op.rhs_unsigned)
    dtypes = [np.int8 if flag is None else np.uint8 for flag in flags]

    def dot(lhs: Value, rhs: Value) -> Value:
        a, b = (
            np.asarray(word, np.int32)[..., None].view(dtype).astype(np.int32)
            for word, dtype in zip((lhs, rhs), dtypes, strict=True)
        )
        return (a * b).sum(-1, dtype=np.int32)

    return dot


def _bfdot(op: BFDotOp | MatrixDotOp, precision: Precision) -> ScalarFunction:
    """The sum of the products of the bf16 in words."""
    working = np.float64 if precision.float64 else np.float32

    def numbers(word: Value) -> tuple[Value, Value]:
        bits = np.asarray(word, np.int32)
        low, high = (half.view(np.float32).astype(working) for half in (bits << 16, bits & -65536))
        return low, high

    def dot(lhs: Value, rhs: Value) -> Value:
        (a, c), (b, d) = numbers(lhs), numbers(rhs)
        return a * b + c * d

    return dot


def _matrix_dot(op: MatrixDotOp, precision: Precision) -> ScalarFunction:
    """The product of a matrix of two rows of two words, and one of two columns of two."""
    is_integer = op.result.type.element_type == i32
    dot = _dot(op, precision) if is_integer else _bfdot(op, precision)

    def product(lhs: Value, rhs: Value) -> Value:
        rows, columns = np.array([0, 0, 2, 2]), np.array([0, 2, 0, 2])
        first, second = (dot(lhs[..., rows + k], rhs[..., columns + k]) for k in (0, 1))
        return first + second

    return product


def _splat(op: Operation, precision: Precision) -> ScalarFunction:
    """A scalar in every lane; a vector is returned unchanged."""
    is_vector, lanes = lanes_of(op.operands[0].type) is not None, lanes_of(op.results[0].type) or 1

    def splat(x: Value) -> Value:
        return x if is_vector else np.broadcast_to(np.asarray(x)[..., None], (*np.shape(x), lanes))

    return splat


SCALARS: dict[str, Maker] = {
    "arith.constant": _constant,
    "arith.addf": _float_op(np.add),
    "arith.subf": _float_op(np.subtract),
    "arith.mulf": _float_op(np.multiply),
    "arith.divf": _float_op(np.divide),
    "arith.negf": _float_op(np.negative),
    "arith.remf": _float_op(np.fmod),
    "arith.maximumf": _float_op(_extremum(np.maximum, np.add)),
    "arith.minimumf": _float_op(_extremum(np.minimum, lambda x, y: -(-x - y))),
    "arith.maxnumf": _float_op(np.fmax),
    "arith.minnumf": _float_op(np.fmin),
    "arith.addi": _integer_op(np.add),
    "arith.subi": _integer_op(np.subtract),
    "arith.muli": _integer_op(np.multiply),
    "arith.divsi": _integer_op(_truncating_division),
    "arith.divui": _integer_op(np.floor_divide, True),
    "arith.floordivsi": _integer_op(np.floor_divide),
    "arith.ceildivsi": _integer_op(lambda x, y: x // y + (x % y != 0)),
    "arith.ceildivui": _integer_op(lambda x, y: x // y + (x % y != 0), True),
    "arith.remsi": _integer_op(np.fmod),
    "arith.remui": _integer_op(np.remainder, True),
    "arith.minsi": _integer_op(np.minimum),
    "arith.maxsi": _integer_op(np.maximum),
    "arith.minui": _integer_op(np.minimum, True),
    "arith.maxui": _integer_op(np.maximum, True),
    "arith.andi": _integer_op(np.bitwise_and),
    "arith.ori": _integer_op(np.bitwise_or),
    "arith.xori": _integer_op(np.bitwise_xor),
    "arith.shli": _integer_op(_shift(np.left_shift)),
    "arith.shrsi": _integer_op(_shift(np.right_shift)),
    "arith.shrui": _integer_op(_shift(np.right_shift), True),
    "arith.cmpi": _cmpi,
    "arith.cmpf": _cmpf,
    "arith.select": _select,
    "arith.extf": resize,
    "arith.truncf": resize,
    "arith.extsi": integer_resize(False),
    "arith.extui": integer_resize(True),
    "arith.trunci": integer_resize(False),
    "arith.index_cast": integer_resize(False),
    "arith.index_castui": integer_resize(True),
    "arith.sitofp": integer_to_float(False),
    "arith.uitofp": integer_to_float(True),
    "arith.fptosi": float_to_integer(False),
    "arith.fptoui": float_to_integer(True),
    "arith.bitcast": bitcast,
    "vector.bitcast": bitcast,
    DotOp.name: _dot,
    BFDotOp.name: _bfdot,
    MatrixDotOp.name: _matrix_dot,
    "vector.broadcast": _splat,
    SplatOp.name: _splat,
    SelectOp.name: _select,
    FCmpOp.name: lambda op, precision: CMPF[op.predicate.data.value],
}
"""How each operation on scalars, or elementwise on vectors, is computed."""
