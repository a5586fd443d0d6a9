"""`arith` conversions in NumPy: between widths, integers and floats, and of bits."""

from __future__ import annotations

import numpy as np
from xdsl.ir import Operation

from .values import (
    Maker,
    Precision,
    ScalarFunction,
    Value,
    bfloat16_bits,
    bfloat16_values,
    signed,
    unsigned,
    value_dtype,
)


def resize(op: Operation, precision: Precision) -> ScalarFunction:
    """`arith.extf`, `truncf`: rounded once."""
    dtype = value_dtype(op.results[0].type)

    def convert(x: Value) -> Value:
        return precision.narrow(dtype, x)

    return convert


def integer_resize(is_unsigned: bool) -> Maker:
    """`arith.extsi`, `extui`, `trunci`, `index_cast`."""
    view = unsigned if is_unsigned else signed

    def make(op: Operation, precision: Precision) -> ScalarFunction:
        source = precision.compute(value_dtype(op.operands[0].type))
        target = precision.compute(value_dtype(op.results[0].type))

        def convert(x: Value) -> Value:
            values = np.asarray(view(np.asarray(x, source)))
            return values & 1 != 0 if target.kind == "b" else values.astype(target)[()]

        return convert

    return make


def integer_to_float(is_unsigned: bool) -> Maker:
    """`arith.sitofp`, `uitofp`: rounded once."""
    view = unsigned if is_unsigned else signed

    def make(op: Operation, precision: Precision) -> ScalarFunction:
        dtype = value_dtype(op.results[0].type)
        source = precision.compute(value_dtype(op.operands[0].type))

        def convert(x: Value) -> Value:
            values = np.asarray(view(np.asarray(x, source)))
            if dtype == "bfloat16":
                return precision.narrow(dtype, values.astype(np.float64))
            return values.astype(precision.compute(dtype))[()]

        return convert

    return make


def float_to_integer(is_unsigned: bool) -> Maker:
    """`arith.fptosi`, `fptoui`: towards zero; what is out of range saturates, NaN is 0."""

    def make(op: Operation, precision: Precision) -> ScalarFunction:
        target = precision.compute(value_dtype(op.results[0].type))
        bits = 1 if target.kind == "b" else target.itemsize * 8
        low, high = (0, 2**bits - 1) if is_unsigned else (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1)
        held = np.dtype(f"{'u' if is_unsigned else 'i'}{target.itemsize}")

        def convert(x: Value) -> Value:
            wide = np.nan_to_num(
                np.trunc(np.asarray(x, np.float64)), nan=0.0, posinf=np.inf, neginf=-np.inf
            )
            inside = np.where((wide > low) & (wide < high), wide, 0).astype(held)
            result = np.where(
                wide >= high, held.type(high), np.where(wide <= low, held.type(low), inside)
            )
            return (result & 1 != 0)[()] if target.kind == "b" else result.view(target)[()]

        return convert

    return make


def bitcast(op: Operation, precision: Precision) -> ScalarFunction:
    """`arith.bitcast`: the same bits, of the exact value even in a float64 run."""
    source, target = value_dtype(op.operands[0].type), value_dtype(op.results[0].type)
    held = precision.compute(target)

    def cast_bits(x: Value) -> Value:
        exact = Precision().narrow(source, x)
        bits = bfloat16_bits(exact) if source == "bfloat16" else np.asarray(exact)
        if target == "bfloat16":
            return bfloat16_values(bits.view(np.uint16)).astype(held)[()]
        return bits.view(Precision().compute(target)).astype(held)[()]

    return cast_bits
