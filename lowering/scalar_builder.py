"""Scalar operations of `arith` and `math` by dtype: constants, arithmetic, comparisons, casts."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from typing import Any
from typing import cast as typing_cast

from xdsl.dialects import arith, math
from xdsl.dialects.builtin import FloatAttr, IndexType, IntegerAttr, IntegerType, LocationAttr, i64
from xdsl.ir import Attribute, Block, Operation, SSAValue

from ..dialects.arith import RemFOp
from ..dialects.dtypes import bit_width, element_type, is_float, is_unsigned, value_type

_FLOAT_OPS: dict[str, type[Operation]] = {
    "add": arith.AddfOp,
    "sub": arith.SubfOp,
    "mul": arith.MulfOp,
    "div": arith.DivfOp,
    "truncmod": RemFOp,
    "min": arith.MinimumfOp,
    "max": arith.MaximumfOp,
}
_SIGNED_OPS: dict[str, type[Operation]] = {
    "add": arith.AddiOp,
    "sub": arith.SubiOp,
    "mul": arith.MuliOp,
    "floordiv": arith.FloorDivSIOp,
    "truncdiv": arith.DivSIOp,
    "truncmod": arith.RemSIOp,
    "min": arith.MinSIOp,
    "max": arith.MaxSIOp,
    "bitwise_and": arith.AndIOp,
    "bitwise_or": arith.OrIOp,
    "bitwise_xor": arith.XOrIOp,
    "shift_left": arith.ShLIOp,
    "shift_right": arith.ShRSIOp,
}
_UNSIGNED_OPS: dict[str, type[Operation]] = {
    **_SIGNED_OPS,
    "floordiv": arith.DivUIOp,
    "truncdiv": arith.DivUIOp,
    "floormod": arith.RemUIOp,
    "truncmod": arith.RemUIOp,
    "min": arith.MinUIOp,
    "max": arith.MaxUIOp,
    "shift_right": arith.ShRUIOp,
}
_FLOAT_PREDICATES = {"lt": "olt", "le": "ole", "gt": "ogt", "ge": "oge", "eq": "oeq", "ne": "une"}


def ssa_type(dtype: str) -> Attribute:
    """The SSA type of values of a dtype."""
    return value_type(element_type(dtype))


class ScalarBuilder:
    """Appends scalar operations to a block; each bears the current location."""

    def __init__(self, block: Block):
        self.block = block
        self.location: LocationAttr | None = None

    def add(self, op: Operation) -> Operation:
        """Append an operation to the current block, at the current source location."""
        if self.location is not None:
            op.location = self.location
        self.block.add_op(op)
        return op

    def result(self, op: Operation) -> SSAValue:
        """Append an operation and take its result."""
        return self.add(op).results[0]

    @contextmanager
    def inside(self, block: Block) -> Generator[None]:
        """Append to another block for a while."""
        outer, self.block = self.block, block
        try:
            yield
        finally:
            self.block = outer

    def constant(self, value: float | int | bool, dtype: str) -> SSAValue:
        """A constant of a dtype."""
        type_ = ssa_type(dtype)
        if is_float(dtype):
            attr = FloatAttr(float(value), typing_cast(Any, type_))
        else:
            attr = IntegerAttr(int(value), typing_cast(IntegerType, type_), truncate_bits=True)
        return self.result(arith.ConstantOp(attr))

    def arithmetic(self, op: str, lhs: SSAValue, rhs: SSAValue, dtype: str) -> SSAValue:
        """An arithmetic operation on two values of one dtype."""
        if is_float(dtype):
            return self._float_arithmetic(op, lhs, rhs)
        table = _UNSIGNED_OPS if is_unsigned(dtype) else _SIGNED_OPS
        if op in table:
            return self.result(typing_cast(Any, table[op])(lhs, rhs))
        return self._signed_remainder(lhs, rhs, dtype)

    def _signed_remainder(self, lhs: SSAValue, rhs: SSAValue, dtype: str) -> SSAValue:
        quotient = self.result(arith.FloorDivSIOp(lhs, rhs))
        rest = self.result(arith.SubiOp(lhs, self.result(arith.MuliOp(quotient, rhs))))
        if isinstance(rhs.owner, arith.ConstantOp) and rhs.owner.value != self._zero(dtype):
            return rest
        # A division by 0 gives 0, and so does its remainder.
        zero = self.constant(0, dtype)
        return self.result(arith.SelectOp(self.compare("eq", rhs, zero, dtype), zero, rest))

    def _zero(self, dtype: str) -> IntegerAttr[IntegerType]:
        return IntegerAttr(0, typing_cast(IntegerType, ssa_type(dtype)))

    def _float_arithmetic(self, op: str, lhs: SSAValue, rhs: SSAValue) -> SSAValue:
        if op in _FLOAT_OPS:
            return self.result(typing_cast(Any, _FLOAT_OPS[op])(lhs, rhs))
        if op == "floormod":
            return self._floor_remainder(lhs, rhs)
        rounding: Any = {"floordiv": math.FloorOp, "truncdiv": math.TruncOp}[op]
        return self.result(rounding(self.result(arith.DivfOp(lhs, rhs))))

    def _floor_remainder(self, lhs: SSAValue, rhs: SSAValue) -> SSAValue:
        """The remainder with the sign of the divisor, as Python's: exact but for one addition."""
        rest = self.result(RemFOp(lhs, rhs))
        zero = self.result(arith.ConstantOp(FloatAttr(0.0, typing_cast(Any, lhs.type))))
        is_exact = self.result(arith.CmpfOp(rest, zero, "oeq"))
        signs = [self.result(arith.CmpfOp(v, zero, "olt")) for v in (rest, rhs)]
        apart = self.result(arith.XOrIOp(signs[0], signs[1]))
        moved = self.result(arith.SelectOp(apart, self.result(arith.AddfOp(rest, rhs)), rest))
        return self.result(arith.SelectOp(is_exact, rest, moved))

    def compare(self, op: str, lhs: SSAValue, rhs: SSAValue, dtype: str) -> SSAValue:
        """A comparison of two values of one dtype; NaN is equal to nothing."""
        if is_float(dtype):
            return self.result(arith.CmpfOp(lhs, rhs, _FLOAT_PREDICATES[op]))
        sign = "" if op in ("eq", "ne") else "u" if is_unsigned(dtype) else "s"
        return self.result(arith.CmpiOp(lhs, rhs, sign + op))

    def cast(self, value: SSAValue, source: str, target: str) -> SSAValue:
        """A value of dtype `source` as one of `target`; either may be "index"."""
        if source == target:
            return value
        if "index" in (source, target):
            return self._cast_index(value, source, target)
        if target == "bool":
            return self.compare("ne", value, self.constant(0, source), source)
        if is_float(source):
            return self._cast_float(value, source, target)
        if is_float(target):
            op: Any = arith.UIToFPOp if is_unsigned(source) else arith.SIToFPOp
            return self.result(op(value, ssa_type(target)))
        return self._resize(value, source, target)

    def _cast_index(self, value: SSAValue, source: str, target: str) -> SSAValue:
        if source == "index":
            wide = self.result(arith.IndexCastOp(value, i64))
            return self.cast(wide, "int64", target)
        return self.result(arith.IndexCastOp(self.cast(value, source, "int64"), IndexType()))

    def _cast_float(self, value: SSAValue, source: str, target: str) -> SSAValue:
        if not is_float(target):
            op: Any = arith.FPToUIOp if is_unsigned(target) else arith.FPToSIOp
            return self.result(op(value, ssa_type(target)))
        if bit_width(target) == bit_width(source):  # between float16 and bfloat16
            return self._cast_float(self._cast_float(value, source, "float32"), "float32", target)
        resize: Any = arith.ExtFOp if bit_width(target) > bit_width(source) else arith.TruncFOp
        return self.result(resize(value, ssa_type(target)))

    def _resize(self, value: SSAValue, source: str, target: str) -> SSAValue:
        narrow, wide = bit_width(source), bit_width(target)
        if narrow == wide:
            return value
        extend: Any = arith.ExtUIOp if is_unsigned(source) else arith.ExtSIOp
        resize: Any = arith.TruncIOp if narrow > wide else extend
        return self.result(resize(value, ssa_type(target)))
