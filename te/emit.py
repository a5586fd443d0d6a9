"""Emission: scalar expressions become `arith`, `math`, `scf` and `tir` operations at an insertion point."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import contextmanager
from typing import Any, TypeAlias
from typing import cast as typing_cast

from xdsl.dialects import arith, math, scf
from xdsl.dialects.builtin import FloatAttr, IndexType, IntegerAttr, IntegerType, LocationAttr, i64
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue

from ..dialects import tir
from ..dialects.dtypes import bit_width, element_type, is_float, is_unsigned, value_type
from ..dialects.int_expr import IntExpr, compound
from ..dialects.sym import Values
from .expr import COMPARISONS, Binary, Call, Cast, Imm, Index, Load, PrimExpr, Reduce, Value, Var
from .intrinsics import INTEGER_ONLY, INTRINSICS

Meaning: TypeAlias = IntExpr | SSAValue
"""What a variable stands for: an index over values already numbered, or a scalar value."""

_FLOAT_OPS: dict[str, type[Operation]] = {
    "add": arith.AddfOp,
    "sub": arith.SubfOp,
    "mul": arith.MulfOp,
    "div": arith.DivfOp,
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
_INDEX_OPS = {"add", "sub", "mul", "floordiv", "floormod", "min", "max"}
_INDEX_COMPOUNDS = {"floordiv": "floordiv", "floormod": "mod", "min": "min", "max": "max"}


def ssa_type(dtype: str) -> Attribute:
    """The SSA type of values of a dtype."""
    return value_type(element_type(dtype))


class Emitter:
    """Emits expressions into a block; `values` numbers the SSA values that integer expressions use."""

    def __init__(self, block: Block):
        self.block = block
        self.values = Values()
        self.meanings: dict[Var, Meaning] = {}
        self.buffers: dict[Any, SSAValue] = {}
        self.location: LocationAttr | None = None

    def add(self, op: Operation) -> Operation:
        """Append an operation to the current block, at the current source location."""
        if self.location is not None:
            op.location = self.location
        self.block.add_op(op)
        return op

    @contextmanager
    def inside(self, block: Block):
        """Emit into another block for a while."""
        outer, self.block = self.block, block
        try:
            yield
        finally:
            self.block = outer

    def define(self, var: Var, value: SSAValue) -> None:
        """Let a variable stand for an index value (a loop variable or an axis) or a scalar value."""
        self.meanings[var] = self.values.expr(value) if isinstance(value.type, IndexType) else value

    def index(self, expr: PrimExpr) -> IntExpr:
        """An integer expression as an index; what depends on data is computed and becomes an operand."""
        known = self.try_index(expr)
        if known is not None:
            return known
        if is_float(expr.dtype):
            raise TypeError(f"expected an integer index, got {expr.dtype}")
        return self.values.expr(self._cast(self.value(expr), expr.dtype, "index"))

    def try_index(self, expr: PrimExpr) -> IntExpr | None:
        """The expression as an integer expression over indices, `None` where it depends on data."""
        match expr:
            case Index():
                return expr.expr
            case Imm() if not is_float(expr.dtype):
                return IntExpr.of(int(expr.value))
            case Var():
                meaning = self.meanings.get(expr)
                if meaning is None:
                    raise NameError(f"variable '{expr.name}' is not defined here")
                return meaning if isinstance(meaning, IntExpr) else None
            case Cast() if expr.dtype in ("int32", "int64") and expr.value.dtype in (
                "int32",
                "int64",
            ):
                return self.try_index(expr.value)
            case Binary() if expr.op in _INDEX_OPS and not is_float(expr.dtype):
                return self._binary_index(expr)
            case Value() if isinstance(expr.ssa.type, IndexType):
                return self.values.expr(expr.ssa)
            case _:
                return None

    def _binary_index(self, expr: Binary) -> IntExpr | None:
        lhs, rhs = self.try_index(expr.lhs), self.try_index(expr.rhs)
        if lhs is None or rhs is None:
            return None
        match expr.op:
            case "add":
                return lhs + rhs
            case "sub":
                return lhs - rhs
            case "mul":
                return lhs * rhs
            case op:
                if op in ("floordiv", "floormod") and rhs.constant == 0:
                    raise ValueError("expected a divisor other than 0")
                return compound(_INDEX_COMPOUNDS[op], lhs, rhs)

    def apply(self, expr: IntExpr) -> SSAValue:
        """An integer expression as an index value."""
        op = self.add(tir.ApplyOp(expr, self.values.list))
        return op.results[0]

    def value(self, expr: PrimExpr) -> SSAValue:
        """The scalar value of an expression."""
        index = self.try_index(expr) if not isinstance(expr, Imm) else None
        if index is not None:
            return self._cast(self.apply(index), "index", expr.dtype)
        match expr:
            case Imm():
                return self.constant(expr.value, expr.dtype)
            case Var():
                return typing_cast(SSAValue, self.meanings[expr])
            case Value():
                return expr.ssa
            case Load():
                return self._load(expr)
            case Cast():
                return self._cast(self.value(expr.value), expr.value.dtype, expr.dtype)
            case Binary():
                return self._binary(expr)
            case Call():
                return self._call(expr)
            case Reduce():
                raise TypeError(
                    "expected a reduction to be the whole body of a compute, got one inside an expression"
                )
            case _:
                raise TypeError(f"expected an expression, got {type(expr).__name__}")

    def constant(self, value: float | int | bool, dtype: str) -> SSAValue:
        """A constant of a dtype."""
        type_ = ssa_type(dtype)
        if is_float(dtype):
            attr = FloatAttr(float(value), typing_cast(Any, type_))
        else:
            attr = IntegerAttr(int(value), typing_cast(IntegerType, type_), truncate_bits=True)
        return self.add(arith.ConstantOp(attr)).results[0]

    def _load(self, expr: Load) -> SSAValue:
        buffer = self.buffers[expr.source]
        indices = [self.index(i) for i in expr.indices]
        return self.add(tir.LoadOp(buffer, indices, self.values.list)).results[0]

    def store(self, buffer: SSAValue, indices: Sequence[PrimExpr], value: PrimExpr) -> None:
        """Store an expression, converted to the buffer's dtype."""
        from .expr import cast

        dtype = typing_cast(tir.BufferType, buffer.type).dtype
        stored = self.value(cast(dtype, value))
        where = [self.index(i) for i in indices]
        self.add(tir.StoreOp(stored, buffer, where, self.values.list))

    def _binary(self, expr: Binary) -> SSAValue:
        if expr.op in COMPARISONS:
            return self._compare(expr)
        lhs, rhs = self.value(expr.lhs), self.value(expr.rhs)
        return self.arithmetic(expr.op, lhs, rhs, expr.dtype)

    def arithmetic(self, op: str, lhs: SSAValue, rhs: SSAValue, dtype: str) -> SSAValue:
        """An arithmetic operation on two values of one dtype."""
        if is_float(dtype):
            return self._float_arithmetic(op, lhs, rhs)
        table = _UNSIGNED_OPS if is_unsigned(dtype) else _SIGNED_OPS
        if op in table:
            return self.add(typing_cast(Any, table[op])(lhs, rhs)).results[0]
        if op == "floormod":
            quotient = self.add(arith.FloorDivSIOp(lhs, rhs)).results[0]
            product = self.add(arith.MuliOp(quotient, rhs)).results[0]
            return self.add(arith.SubiOp(lhs, product)).results[0]
        raise TypeError(f"expected an operation on {dtype}, got '{op}'")

    def _float_arithmetic(self, op: str, lhs: SSAValue, rhs: SSAValue) -> SSAValue:
        if op in _FLOAT_OPS:
            return self.add(typing_cast(Any, _FLOAT_OPS[op])(lhs, rhs)).results[0]
        rounding = {
            "floordiv": math.FloorOp,
            "floormod": math.FloorOp,
            "truncdiv": math.TruncOp,
            "truncmod": math.TruncOp,
        }
        if op not in rounding:
            raise TypeError(f"expected an operation on floats, got '{op}'")
        quotient = self.add(rounding[op](self.add(arith.DivfOp(lhs, rhs)).results[0])).results[0]
        if op.endswith("div"):
            return quotient
        product = self.add(arith.MulfOp(quotient, rhs)).results[0]
        return self.add(arith.SubfOp(lhs, product)).results[0]

    def _compare(self, expr: Binary) -> SSAValue:
        dtype = expr.lhs.dtype
        lhs_index, rhs_index = self.try_index(expr.lhs), self.try_index(expr.rhs)
        if lhs_index is not None and rhs_index is not None and dtype in ("int32", "int64"):
            lhs, rhs, dtype = self.apply(lhs_index), self.apply(rhs_index), "int64"
        else:
            lhs, rhs = self.value(expr.lhs), self.value(expr.rhs)
        if is_float(dtype):
            return self.add(arith.CmpfOp(lhs, rhs, _FLOAT_PREDICATES[expr.op])).results[0]
        prefix = "" if expr.op in ("eq", "ne") else "u" if is_unsigned(dtype) else "s"
        return self.add(arith.CmpiOp(lhs, rhs, prefix + expr.op)).results[0]

    def _call(self, expr: Call) -> SSAValue:
        special: dict[str, Callable[[Call], SSAValue]] = {
            "select": self._select,
            "if_then_else": self._if_then_else,
            "abs": lambda e: self.add(math.AbsIOp(self.value(e.args[0]))).results[0],
            "bitwise_not": self._bitwise_not,
            "call_extern": self._call_extern,
        }
        if expr.op in special:
            return special[expr.op](expr)
        intrinsic = INTRINSICS[expr.op]
        op_type: Any = intrinsic.integers if expr.op in INTEGER_ONLY else intrinsic.operation
        return self.add(op_type(*(self.value(a) for a in expr.args))).results[0]

    def _select(self, expr: Call) -> SSAValue:
        condition, on_true, on_false = (self.value(a) for a in expr.args)
        return self.add(arith.SelectOp(condition, on_true, on_false)).results[0]

    def _if_then_else(self, expr: Call) -> SSAValue:
        condition = self.value(expr.args[0])
        regions: list[Region] = []
        for arm in expr.args[1:]:
            block = Block()
            with self.inside(block):
                self.add(scf.YieldOp(self.value(arm)))
            regions.append(Region(block))
        return self.add(scf.IfOp(condition, [ssa_type(expr.dtype)], *regions)).results[0]

    def _bitwise_not(self, expr: Call) -> SSAValue:
        ones = self.constant(-1 if expr.dtype != "bool" else 1, expr.dtype)
        return self.add(arith.XOrIOp(self.value(expr.args[0]), ones)).results[0]

    def _call_extern(self, expr: Call) -> SSAValue:
        name = typing_cast(Any, expr.args[0])
        args = [self.value(a) for a in expr.args[1:]]
        return self.add(tir.CallExternOp(name.value, args, ssa_type(expr.dtype))).results[0]

    def _cast(self, value: SSAValue, source: str, target: str) -> SSAValue:
        if source == target:
            return value
        if target == "index" or source == "index":
            return self._cast_index(value, source, target)
        if is_float(source):
            return self._cast_float(value, source, target)
        if target == "bool":
            zero = self.constant(0, source)
            return self.add(arith.CmpiOp(value, zero, "ne")).results[0]
        if is_float(target):
            op: Any = arith.UIToFPOp if is_unsigned(source) else arith.SIToFPOp
            return self.add(op(value, ssa_type(target))).results[0]
        return self._resize(value, source, target)

    def _cast_index(self, value: SSAValue, source: str, target: str) -> SSAValue:
        if source == "index":
            wide = self.add(arith.IndexCastOp(value, i64)).results[0]
            return self._cast(wide, "int64", target)
        wide = self._cast(value, source, "int64")
        return self.add(arith.IndexCastOp(wide, IndexType())).results[0]

    def _cast_float(self, value: SSAValue, source: str, target: str) -> SSAValue:
        if target == "bool":
            zero = self.constant(0.0, source)
            return self.add(arith.CmpfOp(value, zero, "une")).results[0]
        if not is_float(target):
            op: Any = arith.FPToUIOp if is_unsigned(target) else arith.FPToSIOp
            return self.add(op(value, ssa_type(target))).results[0]
        if bit_width(target) == bit_width(source):  # between float16 and bfloat16
            return self._cast_float(self._cast_float(value, source, "float32"), "float32", target)
        resize: Any = arith.ExtFOp if bit_width(target) > bit_width(source) else arith.TruncFOp
        return self.add(resize(value, ssa_type(target))).results[0]

    def _resize(self, value: SSAValue, source: str, target: str) -> SSAValue:
        narrow, wide = bit_width(source), bit_width(target)
        if narrow == wide:
            return value
        if narrow > wide:
            return self.add(
                arith.TruncIOp(value, typing_cast(IntegerType, ssa_type(target)))
            ).results[0]
        op: Any = arith.ExtUIOp if is_unsigned(source) else arith.ExtSIOp
        return self.add(op(value, typing_cast(IntegerType, ssa_type(target)))).results[0]
