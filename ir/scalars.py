"""The scalars of a kernel as the expressions that `te` has, made from SSA values."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any, cast

from xdsl.dialects import arith, scf
from xdsl.dialects.builtin import FloatAttr, IndexType, IntegerAttr
from xdsl.ir import Operation, SSAValue

from ..dialects.dtypes import wrap_to
from ..dialects.int_expr import Arg, Atom, IntExpr, Sym, outermost
from ..dialects.sym import exprs_of
from ..dialects.tir import (
    ApplyOp,
    BlockOp,
    BufferType,
    CallExternOp,
    CallIntrinOp,
    CallOp,
    DotOp,
    ForOp,
    HandleType,
    LoadOp,
    MatchBufferOp,
    OpaqueCallOp,
    PrimFuncOp,
    StringOp,
)
from ..dialects.tir.scalar_ops import yielded
from ..dialects.tir.statement_lists import StatementLists
from ..script.printer import StatementPrinter
from ..script.printer import operators as table
from ..script.printer.calls import is_address
from ..script.printer.expressions import modulus, source_of
from ..script.printer.operators import Signs, dtype_of, input_sign, sized_integer
from ..script.printer.writer import Names
from ..te import arithmetic
from ..te.arithmetic import Imm, PrimExpr, binary, index_expr
from ..te.expr import (
    Address,
    Call,
    Cast,
    ExternCall,
    IntrinCall,
    KernelCall,
    Load,
    ValueVar,
)
from ..te.intrinsics import FUNCTIONS
from ..te.literals import StringImm
from .buffers import Buffer

_OPERATIONS = {symbol: op for op, (symbol, _) in arithmetic.PRECEDENCE.items()}


class Scalars:
    """The expressions of one kernel; each variable has a name that no other one has."""

    def __init__(self, func: PrimFuncOp):
        self.func = func
        self.lists = StatementLists(func)
        self._signs = Signs()
        self._names: dict[SSAValue, str] = {}
        self._given = Names()
        symbols = [*func.declared_symbols(), *func.matched_symbols()]
        for name in dict.fromkeys([*func.names, *symbols]):
            self._given.fresh(name)
        for name, param in zip(func.names, func.params, strict=True):
            self._names[param] = name
            self._signs.fix(param, func.element_type_of(param) != param.type)
        for op in func.walk():
            if isinstance(op, ForOp | BlockOp):
                for argument in op.body.block.args:
                    self.name(argument)

    @cached_property
    def printer(self) -> StatementPrinter:
        """What prints the statements."""
        return StatementPrinter(self.func)

    def name(self, value: SSAValue) -> str:
        """The name of a variable."""
        if value not in self._names:
            self._names[value] = self._given.fresh(value.name_hint or "v")
        return self._names[value]

    def variable(self, value: SSAValue) -> PrimExpr:
        """A variable: a symbol for an index, which is an integer."""
        if isinstance(value.type, IndexType):
            return index_expr(IntExpr.of(Sym(self.name(value))))
        is_handle = isinstance(value.type, HandleType)
        unsigned = bool(self._signs.natural(value))
        dtype = "handle" if is_handle else dtype_of(value.type, unsigned)
        return ValueVar(value, self.name(value), dtype)

    def dim(self, expr: IntExpr, operands: Sequence[SSAValue]) -> IntExpr:
        """An integer expression over symbols: operands have their names."""
        atoms: dict[Atom, IntExpr] = {}
        for i in expr.args():
            known = self._integer(operands[i])
            atoms[Arg(i)] = IntExpr.of(Sym(self.name(operands[i]))) if known is None else known
        return expr.substitute(cast(Any, atoms))

    def index(self, expr: IntExpr, operands: Sequence[SSAValue]) -> PrimExpr:
        """An integer expression whose ``arg(i)`` is ``operands[i]``."""
        atoms: dict[Atom, IntExpr] = {}
        for i in expr.args():
            if (known := self._integer(operands[i])) is not None:
                atoms[Arg(i)] = known
        flat = expr.substitute(cast(Any, atoms))
        if isinstance(atom := flat.as_atom, Arg):
            return self._from_data(operands[atom.index])
        return self._tree(flat, operands)

    def _integer(self, value: SSAValue) -> IntExpr | None:
        """An index over variables; `None` where it depends on data."""
        match value.owner:
            case ApplyOp() as op:
                inner = [self._integer(o) for o in op.operands]
                if any(e is None for e in inner):
                    return None
                atoms: Any = {Arg(i): e for i, e in enumerate(inner)}
                return op.expr.data.substitute(atoms)
            case arith.ConstantOp(value=IntegerAttr() as constant):
                return IntExpr.of(cast("IntegerAttr[IndexType]", constant).value.data)
            case Operation():
                return None
            case _:
                return IntExpr.of(Sym(self.name(value)))

    def _tree(self, expr: IntExpr, operands: Sequence[SSAValue]) -> PrimExpr:
        if not expr.args():
            return index_expr(expr)
        found = outermost(expr)
        if found is None:
            (position,) = expr.args()
            return self.value(operands[position])
        op, lhs, rhs = found
        name = "floormod" if op == "mod" else op
        return binary(name, self._tree(lhs, operands), self._tree(rhs, operands))

    def _from_data(self, value: SSAValue) -> PrimExpr:
        """An index that is data: the scalar, whose conversion goes without saying."""
        source = value.owner.input if isinstance(value.owner, arith.IndexCastOp) else value
        wider = source.owner
        if isinstance(wider, arith.ExtSIOp | arith.ExtUIOp) and not self._is_bound(wider):
            return self.value(wider.input, input_sign(wider))
        return self.value(source)

    def value(self, value: SSAValue, unsigned: bool | None = None) -> PrimExpr:
        """A scalar; a conversion makes it unsigned or signed where that is wanted."""
        natural = self._signs.natural(value)
        wanted = unsigned if natural is None else natural
        owner = value.owner
        if not isinstance(owner, Operation) or self._is_bound(owner):
            expr = self.variable(value)
        else:
            expr = self.computed(owner, bool(wanted))
        if unsigned in (None, natural) or natural is None or not sized_integer(value.type):
            return expr
        return Cast(dtype_of(value.type, bool(unsigned)), expr)

    def _is_bound(self, op: Operation) -> bool:
        return op.parent is not None and op in self.lists.bound_in(op.parent)

    def computed(self, op: Operation, unsigned: bool = False) -> PrimExpr:
        """What an operation computes."""
        match op:
            case LoadOp():
                indices = [self.index(e, op.operands_) for e in exprs_of(op.indices)]
                dtype = cast(BufferType, op.buffer.type).dtype
                return Load(Buffer(op.buffer), tuple(indices), dtype)
            case ApplyOp():
                return self.index(op.expr.data, op.operands)
            case arith.ConstantOp():
                return self._constant(op, unsigned)
            case OpaqueCallOp():
                return self.call(op)
            case scf.IfOp():
                return self._apply("if_then_else", [op.cond, *yielded(op)], unsigned)
            case _:
                return self._arithmetic(op, unsigned)

    def _constant(self, op: arith.ConstantOp, unsigned: bool) -> PrimExpr:
        dtype = self._dtype(op, unsigned)
        if isinstance(op.value, FloatAttr):
            return Imm(op.value.value.data, dtype)
        number = cast("IntegerAttr[IndexType]", op.value).value.data
        return Imm(bool(number) if dtype == "bool" else wrap_to(dtype, number), dtype)

    def _dtype(self, op: Operation, unsigned: bool) -> str:
        dtype = dtype_of(op.results[0].type, unsigned)
        return "int64" if dtype == "index" else dtype

    def _apply(self, name: str, operands: Sequence[SSAValue], unsigned: bool | None) -> PrimExpr:
        return FUNCTIONS[name](*(self.value(o, unsigned) for o in operands))

    def _arithmetic(self, op: Operation, unsigned: bool) -> PrimExpr:
        name, operands = op.name, op.operands
        if isinstance(op, arith.CmpiOp | arith.CmpfOp):
            return self._compare(op)
        if name in table.CASTS:
            source = source_of(op)
            return arithmetic.cast(self._dtype(op, unsigned), self.value(source, input_sign(op)))
        if (sides := modulus(op)) is not None:
            return binary("floormod", *(self.value(side, False) for side in sides))
        if name == "arith.bitcast":
            return Call("reinterpret", (self.value(operands[0]),), self._dtype(op, unsigned))
        if name == "arith.negf":
            return -self.value(operands[0])
        required = input_sign(op)
        sign = unsigned if required is None else required
        if name in table.BINARY:
            lhs, rhs = (self.value(o, sign) for o in operands)
            return binary(_OPERATIONS[table.BINARY[name][0]], lhs, rhs)
        if name in table.CALLS:
            return self._apply(table.CALLS[name].removeprefix("T."), operands, sign)
        if isinstance(op, DotOp):
            signs = op.lhs_unsigned is not None, op.rhs_unsigned is not None
            words = tuple(self.value(o, s) for o, s in zip(operands, signs, strict=True))
        else:
            words = tuple(self.value(o) for o in operands)
        return Call(name.partition(".")[2], words, self._dtype(op, unsigned))

    def _compare(self, op: arith.CmpiOp | arith.CmpfOp) -> PrimExpr:
        number = op.predicate.value.data
        if isinstance(op, arith.CmpiOp):
            required = input_sign(op)
            sign = self._signs.common(list(op.operands)) if required is None else required
            lhs, rhs = (self.value(o, sign) for o in op.operands)
            return binary(_OPERATIONS[table.INTEGER_COMPARISONS[number]], lhs, rhs)
        lhs, rhs = (self.value(o) for o in op.operands)
        if number == 14 and op.lhs is op.rhs:
            return FUNCTIONS["isnan"](lhs)
        if number in table.NEGATED_FLOAT_COMPARISONS:
            symbol = table.NEGATED_FLOAT_COMPARISONS[number]
            return FUNCTIONS["Not"](binary(_OPERATIONS[symbol], lhs, rhs))
        return binary(_OPERATIONS[table.FLOAT_COMPARISONS[number]], lhs, rhs)

    def call(self, op: OpaqueCallOp) -> ExternCall:
        """A call of a C function, an intrinsic or a kernel."""
        args = tuple(self.argument(a) for a in op.args)
        if op.result is None:
            dtype = "void"
        elif isinstance(op.result.type, HandleType):
            dtype = "handle"
        else:
            dtype = dtype_of(op.result.type, bool(self._signs.natural(op.result)))
        if isinstance(op, CallIntrinOp):
            pointer = None if op.result is None else op.result.type
            return IntrinCall(op.intrinsic.data, args, dtype, pointer)
        if isinstance(op, CallOp):
            return KernelCall(op.callee_name, args, dtype)
        return ExternCall(cast(CallExternOp, op).callee.data, args, dtype)

    def argument(self, value: SSAValue) -> Any:
        """An argument of a call: a scalar, a string, a buffer or the address of an element."""
        view = value.owner
        if isinstance(view, StringOp):
            return StringImm(view.text.data)
        if not isinstance(value.type, BufferType):
            return self.value(value)
        if isinstance(view, MatchBufferOp) and is_address(value):
            starts = (self.index(e, view.operands_) for e in exprs_of(view.starts))
            return Address(Buffer(view.source), tuple(starts))
        return Buffer(value)
