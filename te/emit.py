"""Emission: scalar expressions become `arith`, `math`, `scf` and `tir` operations in a block."""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from typing import Any, TypeAlias
from typing import cast as typing_cast

from xdsl.dialects import arith, math, scf
from xdsl.dialects.builtin import IndexType
from xdsl.ir import Block, Region, SSAValue

from ..dialects import tir
from ..dialects.dtypes import is_float, is_unsigned
from ..dialects.int_expr import Atom, IntExpr, compound
from ..dialects.sym import Values
from ..lowering.scalar_builder import ScalarBuilder, ssa_type
from .arithmetic import COMPARISONS, cast, convert
from .expr import (
    Address,
    Binary,
    Call,
    Cast,
    ExternCall,
    Imm,
    Index,
    IntrinCall,
    KernelCall,
    Let,
    Load,
    PrimExpr,
    Reduce,
    Value,
    Var,
)
from .intrinsics import INTRINSICS

Meaning: TypeAlias = IntExpr | SSAValue
"""What a variable stands for: an index over values already numbered, or a scalar value."""

_INDEX_OPS = {"add", "sub", "mul", "floordiv", "floormod", "min", "max"}
_INDEX_COMPOUNDS = {"floordiv": "floordiv", "floormod": "mod", "min": "min", "max": "max"}
_INDEX_DTYPES = ("int32", "int64")


class Emitter(ScalarBuilder):
    """Emits expressions into a block; `values` numbers the values that integer expressions use."""

    def __init__(self, block: Block):
        super().__init__(block)
        self.values = Values()
        self.meanings: dict[Var, Meaning] = {}
        self.symbols: dict[Atom, IntExpr] = {}
        self.buffers: dict[Any, SSAValue] = {}

    def define(self, var: Var, value: SSAValue) -> None:
        """Let a variable stand for an index (a loop variable or an axis) or a scalar value."""
        self.meanings[var] = self.values.expr(value) if isinstance(value.type, IndexType) else value

    def index(self, expr: PrimExpr) -> IntExpr:
        """An integer expression as an index; what depends on data becomes an operand."""
        known = self.try_index(expr)
        if known is not None:
            return known
        if is_float(expr.dtype):
            raise TypeError(f"expected an integer index, got {expr.dtype}")
        return self.values.expr(self.cast(self.value(expr), expr.dtype, "index"))

    def try_index(self, expr: PrimExpr) -> IntExpr | None:
        """The expression as an integer expression over indices, `None` where it depends on data."""
        match expr:
            case Index():
                return expr.expr.substitute(self.symbols) if self.symbols else expr.expr
            case Imm() if not is_float(expr.dtype):
                return IntExpr.of(int(expr.value))
            case Var():
                meaning = self.meanings.get(expr)
                if meaning is None:
                    raise NameError(f"expected variable '{expr.name}' to be defined here")
                return meaning if isinstance(meaning, IntExpr) else None
            case Cast() if expr.dtype in _INDEX_DTYPES and expr.value.dtype in _INDEX_DTYPES:
                return self.try_index(expr.value)
            case Binary() if expr.op in _INDEX_OPS and expr.dtype in _INDEX_DTYPES:
                return self._binary_index(expr)
            case Value() if isinstance(expr.ssa.type, IndexType):
                return self.values.expr(expr.ssa)
            case Let() if (value := self.try_index(expr.value)) is not None:
                with self._bound(expr.var, value):
                    return self.try_index(expr.body)
            case _:
                return None

    @contextmanager
    def _bound(self, var: PrimExpr, value: Meaning) -> Generator[None]:
        """Inside, the variable of a let, or the symbol, stands for a value."""
        outside = self.symbols
        if isinstance(var, Index):
            atom = var.expr.as_atom
            assert atom is not None
            index = value
            if not isinstance(index, IntExpr):
                index = self.values.expr(self.cast(index, var.dtype, "index"))
            self.symbols = {**outside, atom: index}
        else:
            self.meanings[typing_cast(Var, var)] = value
        yield
        self.symbols = outside

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
        return self.result(tir.ApplyOp(expr, self.values.list))

    def value(self, expr: PrimExpr) -> SSAValue:
        """The scalar value of an expression."""
        index = None if isinstance(expr, Imm) else self.try_index(expr)
        if index is not None:
            known = index.constant
            if known is not None:
                return self.constant(known, expr.dtype)
            return self.cast(self.apply(index), "index", expr.dtype)
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
                return self.cast(self.value(expr.value), expr.value.dtype, expr.dtype)
            case Binary():
                return self._binary(expr)
            case Call():
                return self._call(expr)
            case Let():
                index = self.try_index(expr.value)
                with self._bound(expr.var, self.value(expr.value) if index is None else index):
                    return self.value(expr.body)
            case ExternCall():
                if expr.dtype == "void":
                    raise TypeError(f"expected a call with a result, got '{expr.callee}' of void")
                return self.extern_call(expr).results[0]
            case Reduce():
                raise TypeError("expected a reduction to be the whole body of a compute")
            case _:
                raise TypeError(f"expected an expression, got {type(expr).__name__}")

    def _load(self, expr: Load) -> SSAValue:
        buffer = self.buffers[expr.source]
        indices = [self.index(i) for i in expr.indices]
        return self.result(tir.LoadOp(buffer, indices, self.values.list))

    def store(self, buffer: SSAValue, indices: Sequence[PrimExpr], value: PrimExpr) -> None:
        """Store an expression, converted to the buffer's dtype."""
        dtype = typing_cast(tir.BufferType, buffer.type).dtype
        stored = self.value(cast(dtype, value))
        where = [self.index(i) for i in indices]
        self.add(tir.StoreOp(stored, buffer, where, self.values.list))

    def _binary(self, expr: Binary) -> SSAValue:
        if expr.op in COMPARISONS:
            return self._compare(expr)
        return self.arithmetic(expr.op, self.value(expr.lhs), self.value(expr.rhs), expr.dtype)

    def _compare(self, expr: Binary) -> SSAValue:
        dtype = expr.lhs.dtype
        sides = (self.try_index(expr.lhs), self.try_index(expr.rhs))
        if sides[0] is not None and sides[1] is not None and dtype in _INDEX_DTYPES:
            return self.compare(expr.op, self.apply(sides[0]), self.apply(sides[1]), "int64")
        return self.compare(expr.op, self.value(expr.lhs), self.value(expr.rhs), dtype)

    def _call(self, expr: Call) -> SSAValue:
        special: dict[str, Callable[[Call], SSAValue]] = {
            "select": self._select,
            "if_then_else": self._if_then_else,
            "abs": lambda e: self.result(math.AbsIOp(self.value(e.args[0]))),
            "bitwise_not": self._bitwise_not,
            "reinterpret": self._reinterpret,
            "dp4a": self._dot,
            "bfdot": lambda e: self.result(tir.BFDotOp(*map(self.value, e.args))),
        }
        if expr.op in special:
            return special[expr.op](expr)
        operation: Any = INTRINSICS[expr.op].operation
        return self.result(operation(*(self.value(a) for a in expr.args)))

    def _select(self, expr: Call) -> SSAValue:
        condition, on_true, on_false = (self.value(a) for a in expr.args)
        return self.result(arith.SelectOp(condition, on_true, on_false))

    def _if_then_else(self, expr: Call) -> SSAValue:
        condition = self.value(expr.args[0])
        regions: list[Region] = []
        for arm in expr.args[1:]:
            block = Block()
            with self.inside(block):
                self.add(scf.YieldOp(self.value(arm)))
            regions.append(Region(block))
        on_true, on_false = regions
        return self.result(scf.IfOp(condition, [ssa_type(expr.dtype)], on_true, on_false))

    def _bitwise_not(self, expr: Call) -> SSAValue:
        ones = self.constant(-1 if expr.dtype != "bool" else 1, expr.dtype)
        return self.result(arith.XOrIOp(self.value(expr.args[0]), ones))

    def _reinterpret(self, expr: Call) -> SSAValue:
        value = self.value(expr.args[0])
        type_ = ssa_type(expr.dtype)
        return value if value.type == type_ else self.result(arith.BitcastOp(value, type_))

    def _dot(self, expr: Call) -> SSAValue:
        lhs, rhs = expr.args
        signs = is_unsigned(lhs.dtype), is_unsigned(rhs.dtype)
        return self.result(tir.DotOp(self.value(lhs), self.value(rhs), *signs))

    def extern_call(self, expr: ExternCall) -> tir.OpaqueCallOp:
        """The call of a C function or an intrinsic; without a result if its dtype is "void"."""
        args = [self.argument(a) for a in expr.args]
        if isinstance(expr, IntrinCall):
            is_handle = expr.dtype == "handle"
            type_ = expr.pointer or tir.HandleType.of() if is_handle else ssa_type(expr.dtype)
            unsigned = expr.dtype.startswith("uint")
            op: tir.OpaqueCallOp = tir.CallIntrinOp(expr.callee, args, type_, unsigned)
        else:
            type_ = None if expr.dtype == "void" else ssa_type(expr.dtype)
            is_kernel = isinstance(expr, KernelCall)
            op = (
                tir.CallOp(expr.callee, args, type_, expr.dtype.startswith("uint"))
                if is_kernel
                else tir.CallExternOp(expr.callee, args, type_)
            )
        self.add(op)
        return op

    def argument(self, arg: Any) -> SSAValue:
        """An argument of a call: a scalar, a string, the memory of a buffer or an element's."""
        match arg:
            case PrimExpr():
                return self.value(arg)
            case int() | float():
                return self.value(convert(arg))
            case str():
                return self.result(tir.StringOp(arg))
            case Address():
                return self.address(arg)
            case _:
                return self.buffers[arg]

    def address(self, address: Address) -> SSAValue:
        """The element at an address as a view of rank 0, whose memory calls get."""
        buffer = self.buffers[address.source]
        indices = [self.index(i) for i in address.indices]
        type_ = typing_cast(tir.BufferType, buffer.type)
        view = tir.BufferType.of((), type_.element_type, scope=type_.scope.data)
        return self.result(tir.MatchBufferOp(buffer, indices, self.values.list, view))
