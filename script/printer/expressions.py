"""Scalar and index expressions of TensorIR, rebuilt from SSA values."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from xdsl.dialects import arith, scf
from xdsl.dialects.builtin import FloatAttr, IndexType, IntegerAttr, IntegerType, i32
from xdsl.ir import Operation, SSAValue

from ...dialects.int_expr import Arg, Atom, IntExpr, IntLike, Sym
from ...dialects.python_text import integer_precedence, integer_text
from ...dialects.sym import Values, exprs_of
from ...dialects.tir import (
    ApplyOp,
    BFDotOp,
    DotOp,
    HandleType,
    LoadOp,
    OpaqueCallOp,
    StringOp,
)
from ...dialects.tir.scalar_ops import reads_memory, yielded
from . import operators as table
from .calls import opaque_call
from .literals import call_text, quote, typed_float, typed_int
from .operators import Signs, Text, dtype_of, input_sign, sized_integer


class Expressions:
    """Writes the scalars of one function; `names` holds the values that have a name so far."""

    def __init__(self, symbols: dict[str, str], module: str = ""):
        self.names: dict[SSAValue, str] = {}
        self.signs = Signs()
        self._symbols = symbols
        self.module = module
        """What stands before the names of the module's functions: ``Module.``."""

    def dim(self, expr: IntExpr) -> str:
        """An expression over symbols."""
        return self.index(expr, ())

    def index(self, expr: IntExpr, operands: Sequence[SSAValue]) -> str:
        """An integer expression whose ``arg(i)`` is ``operands[i]``."""
        return self._index(expr, operands).text

    def element(self, buffer: SSAValue, indices: Sequence[str]) -> str:
        """``X[i, j]``; ``X[()]`` for rank 0."""
        return f"{self.names[buffer]}[{', '.join(indices) or '()'}]"

    def access(self, op: LoadOp, operands: Sequence[SSAValue]) -> Text:
        """The element that an operation reads."""
        indices = [self.index(e, operands) for e in exprs_of(op.indices)]
        return Text(self.element(op.buffer, indices))

    def dtype(self, value: SSAValue, unsigned: bool | None = None) -> str:
        """The dtype name in print; `unsigned` decides where the value leaves it open."""
        if isinstance(value.type, HandleType):
            return "handle"
        natural = self.signs.natural(value)
        return dtype_of(value.type, bool(unsigned if natural is None else natural))

    def value(self, value: SSAValue, unsigned: bool | None = None) -> Text:
        """A scalar; a cast makes it unsigned or signed where that is wanted and it is not."""
        natural = self.signs.natural(value)
        if value in self.names:
            text = Text(self.names[value])
        else:
            wanted = unsigned if natural is None else natural
            text = self._operation(value, bool(wanted))
        if unsigned in (None, natural) or natural is None or not sized_integer(value.type):
            return text
        return Text(call_text("T.Cast", quote(dtype_of(value.type, bool(unsigned))), text.text))

    def _index(self, expr: IntExpr, operands: Sequence[SSAValue]) -> Text:
        values = Values()
        flat = self._flatten(expr, operands, values)
        whole = isinstance(flat.as_atom, Arg)

        def name_of(atom: Sym | Arg) -> str:
            if isinstance(atom, Sym):
                return self._symbols.get(atom.name, atom.name)
            value = values.list[atom.index]
            if value in self.names:
                return self.names[value]
            if isinstance(value.owner, arith.IndexCastOp):
                return self._computed_index(value.owner, whole)
            return self.value(value).within(table.PRIMARY)

        return Text(integer_text(flat, name_of), integer_precedence(flat))

    def _computed_index(self, op: arith.IndexCastOp, whole: bool) -> str:
        """A scalar as an index; where it is the whole index, its conversion goes without saying."""
        source = op.input
        if (
            whole
            and isinstance(source.owner, arith.ExtSIOp | arith.ExtUIOp)
            and source not in self.names
        ):
            return self.value(source.owner.operands[0], input_sign(source.owner)).text
        return self.value(source).text if whole else self.value(source).within(table.PRIMARY)

    def _flatten(self, expr: IntExpr, operands: Sequence[SSAValue], values: Values) -> IntExpr:
        mapping: dict[Atom, IntLike] = {}
        for index in sorted(expr.args()):
            operand = operands[index]
            match operand.owner:
                case ApplyOp() as op if operand not in self.names:
                    mapping[Arg(index)] = self._flatten(op.expr.data, op.operands, values)
                case arith.ConstantOp(value=IntegerAttr() as constant):
                    mapping[Arg(index)] = cast("IntegerAttr[IndexType]", constant).value.data
                case _:
                    mapping[Arg(index)] = values.expr(operand)
        return expr.substitute(mapping)

    def _operation(self, value: SSAValue, unsigned: bool) -> Text:
        match value.owner:
            case LoadOp() as op:
                return self.access(op, op.operands_)
            case ApplyOp() as op:
                return self._index(op.expr.data, op.operands)
            case arith.ConstantOp() as op:
                return self._constant(op, unsigned)
            case arith.CmpiOp() as op:
                symbol = table.INTEGER_COMPARISONS[op.predicate.value.data]
                return self._compare(op, symbol, self._common_sign(op))
            case arith.CmpfOp() as op:
                return self._compare_floats(op)
            case OpaqueCallOp() as op:
                return Text(opaque_call(self, op))
            case StringOp() as op:
                return Text(quote(op.text.data))
            case scf.IfOp() as op:
                return self._conditional(op, unsigned)
            case Operation() as op:
                return self._by_name(op, unsigned)
            case _:
                raise ValueError(f"expected the value '{value.name_hint}' to have a name")

    def _constant(self, op: arith.ConstantOp, unsigned: bool) -> Text:
        attribute = op.value
        dtype = dtype_of(op.result.type, unsigned)
        if isinstance(attribute, FloatAttr):
            return Text(typed_float(attribute.value.data, dtype))
        if isinstance(attribute, IntegerAttr):
            return Text(typed_int(cast("IntegerAttr[IndexType]", attribute).value.data, dtype))
        raise ValueError(f"expected a scalar constant, got {attribute}")

    def _common_sign(self, op: Operation) -> bool | None:
        required = input_sign(op)
        return self.signs.common(list(op.operands)) if required is None else required

    def _binary(self, op: Operation, symbol: str, precedence: int, unsigned: bool | None) -> Text:
        lhs, rhs = (self.value(o, unsigned) for o in op.operands)
        return Text(f"{lhs.within(precedence)} {symbol} {rhs.within(precedence + 1)}", precedence)

    def _compare(self, op: Operation, symbol: str, unsigned: bool | None) -> Text:
        lhs, rhs = (self.value(o, unsigned).within(table.COMPARE + 1) for o in op.operands)
        return Text(f"{lhs} {symbol} {rhs}", table.COMPARE)

    def _compare_floats(self, op: arith.CmpfOp) -> Text:
        predicate = op.predicate.value.data
        if predicate in table.FLOAT_COMPARISONS:
            return self._compare(op, table.FLOAT_COMPARISONS[predicate], None)
        if predicate in table.NEGATED_FLOAT_COMPARISONS:
            inner = self._compare(op, table.NEGATED_FLOAT_COMPARISONS[predicate], None)
            return Text(f"not {inner.text}", table.NOT)
        if predicate == 14 and op.lhs is op.rhs:
            return Text(call_text("T.isnan", self.value(op.lhs).text))
        raise ValueError(f"expected a comparison that TVMScript has, got predicate {predicate}")

    def _conditional(self, op: scf.IfOp, unsigned: bool) -> Text:
        branches = [self.value(v, unsigned).text for v in yielded(op)]
        return Text(call_text("T.if_then_else", self.value(op.cond).text, *branches))

    def _by_name(self, op: Operation, unsigned: bool) -> Text:
        name = op.name
        if isinstance(op, arith.IndexCastOp) and isinstance(op.result.type, IndexType):
            return self.value(op.input, False)  # an index is an int64
        if name in table.CASTS:
            inner = self.value(source_of(op), input_sign(op)).text
            return Text(call_text("T.Cast", quote(dtype_of(op.results[0].type, unsigned)), inner))
        if (sides := modulus(op)) is not None:
            lhs, rhs = (self.value(side, False) for side in sides)
            text = f"{lhs.within(table.MULTIPLY)} % {rhs.within(table.MULTIPLY + 1)}"
            return Text(text, table.MULTIPLY)
        if name == "arith.bitcast":
            dtype = dtype_of(op.results[0].type, unsigned)
            return Text(call_text("T.reinterpret", quote(dtype), self.value(op.operands[0]).text))
        if isinstance(op, DotOp):
            signs = op.lhs_unsigned is not None, op.rhs_unsigned is not None
            words = (self.value(o, s).text for o, s in zip(op.operands, signs, strict=True))
            return Text(call_text("T.dp4a", *words))
        if isinstance(op, BFDotOp):
            return Text(call_text("T.bfdot", *(self.value(o, True).text for o in op.operands)))
        if name == "arith.negf":
            return Text(f"-{self.value(op.operands[0]).within(table.UNARY)}", table.UNARY)
        if op.results[0].type == IntegerType(1) and (text := self._boolean(op)) is not None:
            return text
        required = input_sign(op)
        sign = unsigned if required is None else required
        if name in table.BINARY:
            return self._binary(op, *table.BINARY[name], sign)
        if name in table.CALLS:
            arguments = (self.value(o, sign).text for o in op.operands)
            return Text(call_text(table.CALLS[name], *arguments))
        raise ValueError(f"expected an operation that TVMScript can express, got '{name}'")

    def _boolean(self, op: Operation) -> Text | None:
        if op.name in table.BOOLEAN:
            symbol, precedence, function = table.BOOLEAN[op.name]
            if not self._reads(op.operands[1]):
                return self._binary(op, symbol, precedence, None)
            return Text(call_text(function, *(self.value(o).text for o in op.operands)))
        if isinstance(op, arith.XOrIOp) and _is_true(op.rhs):
            return Text(f"not {self.value(op.lhs).within(table.NOT)}", table.NOT)
        return None

    def _reads(self, value: SSAValue) -> bool:
        """Whether the text of a value reads memory."""
        owner = value.owner
        if value in self.names or not isinstance(owner, Operation):
            return False
        return reads_memory(owner) or any(self._reads(o) for o in owner.operands)


def source_of(op: Operation) -> SSAValue:
    """What a conversion converts; an index becomes an int32 by way of an i64 in one step."""
    inner = op.operands[0].owner
    narrows = isinstance(op, arith.TruncIOp) and op.result.type == i32
    if narrows and isinstance(inner, arith.IndexCastOp) and isinstance(inner.input.type, IndexType):
        return inner.input
    return op.operands[0]


def modulus(op: Operation) -> tuple[SSAValue, SSAValue] | None:
    """``a`` and ``b`` of ``a - a // b * b``, or 0 for a ``b`` of 0: so ``a % b`` is computed."""
    if isinstance(op, arith.SelectOp):
        found, test = _modulus_of_data(op.rhs), op.cond.owner
        is_guard = isinstance(test, arith.CmpiOp) and test.predicate.value.data == 0
        if found is None or not is_guard or not isinstance(test, arith.CmpiOp):
            return None
        return found if test.lhs == found[1] and _is_zero(test.rhs) and _is_zero(op.lhs) else None
    if not isinstance(op, arith.SubiOp):
        return None
    product = op.rhs.owner
    quotient = product.lhs.owner if isinstance(product, arith.MuliOp) else None
    if not isinstance(quotient, arith.FloorDivSIOp) or not isinstance(product, arith.MuliOp):
        return None
    is_rest = (quotient.lhs, quotient.rhs) == (op.lhs, product.rhs)
    return (quotient.lhs, quotient.rhs) if is_rest else None


def _modulus_of_data(value: SSAValue) -> tuple[SSAValue, SSAValue] | None:
    return modulus(value.owner) if isinstance(value.owner, arith.SubiOp) else None


def _is_zero(value: SSAValue) -> bool:
    owner = value.owner
    if not isinstance(owner, arith.ConstantOp) or not isinstance(owner.value, IntegerAttr):
        return False
    return owner.value.value.data == 0


def _is_true(value: SSAValue) -> bool:
    owner = value.owner
    return isinstance(owner, arith.ConstantOp) and owner.value == IntegerAttr.from_bool(True)
