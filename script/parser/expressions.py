"""Expressions of TensorIR scripts: Python syntax trees become scalar expressions, or Python values."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from xdsl.ir import SSAValue

from ...dialects.dtypes import DTYPES, is_float
from ...dialects.tir import BufferType
from ...te.expr import (
    Call,
    Imm,
    Index,
    Load,
    PrimExpr,
    Value,
    Var,
    binary,
    cast,
    const,
    convert,
    index_value,
)
from ...te.intrinsics import FUNCTIONS, boolean, if_then_else, logical_and, logical_not, logical_or
from ..errors import ScriptError
from ..namespace import ScriptName
from .scope import Scope, as_script_name

_BINARY: dict[type[ast.operator], tuple[str, Callable[[Any, Any], Any]]] = {
    ast.Add: ("add", operator.add),
    ast.Sub: ("sub", operator.sub),
    ast.Mult: ("mul", operator.mul),
    ast.Div: ("div", operator.truediv),
    ast.FloorDiv: ("floordiv", operator.floordiv),
    ast.Mod: ("floormod", operator.mod),
    ast.BitAnd: ("bitwise_and", operator.and_),
    ast.BitOr: ("bitwise_or", operator.or_),
    ast.BitXor: ("bitwise_xor", operator.xor),
    ast.LShift: ("shift_left", operator.lshift),
    ast.RShift: ("shift_right", operator.rshift),
}
_COMPARE: dict[type[ast.cmpop], tuple[str, Callable[[Any, Any], Any]]] = {
    ast.Lt: ("lt", operator.lt),
    ast.LtE: ("le", operator.le),
    ast.Gt: ("gt", operator.gt),
    ast.GtE: ("ge", operator.ge),
    ast.Eq: ("eq", operator.eq),
    ast.NotEq: ("ne", operator.ne),
}


@dataclass(eq=False)
class Buffer:
    """A buffer that the script has declared."""

    name: str
    ssa: SSAValue

    @property
    def type(self) -> BufferType:
        """The buffer's type."""
        assert isinstance(self.ssa.type, BufferType)
        return self.ssa.type

    @property
    def shape(self) -> tuple[Any, ...]:
        """The dims as the script sees them."""
        return tuple(index_value(d) for d in self.type.dims)

    @property
    def dtype(self) -> str:
        """The dtype of the elements."""
        return self.type.dtype


@dataclass(frozen=True)
class BufferSlice:
    """``X[a:b, c]``: for each dim its first index and its extent (`None` for a single index)."""

    buffer: Buffer
    ranges: tuple[tuple[PrimExpr, PrimExpr | None], ...]


class ExprParser:
    """Evaluates expression nodes in a scope; errors name the place and what was expected."""

    def __init__(self, scope: Scope):
        self.scope = scope

    def error(self, node: ast.AST, message: str) -> ScriptError:
        """The script error at a node."""
        return self.scope.source.error(node, message)

    def eval(self, node: ast.expr) -> Any:
        """The value of a node: a scalar expression, a buffer, a script name, or a Python value."""
        handler = getattr(self, f"_eval_{type(node).__name__}", None)
        if handler is None:
            raise self.error(node, f"expected an expression of TensorIR, got {_describe(node)}")
        try:
            return handler(node)
        except ScriptError:
            raise
        except (TypeError, ValueError, NameError, KeyError, IndexError, ZeroDivisionError) as error:
            raise self.error(node, str(error).strip("'\"") or type(error).__name__) from error

    def expr(self, node: ast.expr) -> PrimExpr:
        """A scalar expression."""
        value = self.eval(node)
        if isinstance(value, Buffer):
            if value.type.rank == 0:
                return Load(value, (), value.dtype)
            raise self.error(
                node, f"expected a scalar, got buffer '{value.name}' of {value.type.rank} dims"
            )
        if isinstance(value, PrimExpr | int | float):
            return convert(value)
        try:
            return convert(value)
        except TypeError:
            raise self.error(node, f"expected a scalar expression, got {_kind(value)}") from None

    def exprs(self, node: ast.expr) -> list[PrimExpr]:
        """The expressions of a tuple or list, or the one expression."""
        return [self.expr(n) for n in self.elements(node)]

    def elements(self, node: ast.expr) -> list[ast.expr]:
        """The nodes of a tuple or list, or the one node."""
        return list(node.elts) if isinstance(node, ast.Tuple | ast.List) else [node]

    def shape(self, node: ast.expr) -> list[PrimExpr]:
        """Dims: a tuple or list of expressions, a single one, or a Python sequence in scope."""
        if isinstance(node, ast.Tuple | ast.List):
            return self.exprs(node)
        value = self.eval(node)
        if isinstance(value, Sequence) and not isinstance(value, str):
            return [convert(v) for v in value]  # pyright: ignore[reportUnknownArgumentType, reportUnknownVariableType]
        return [convert(value)]

    def text(self, node: ast.expr) -> str:
        """A string."""
        value = self.eval(node)
        if (
            isinstance(value, ScriptName)
            and value.path.startswith("T.")
            and value.path[2:] in DTYPES
        ):
            return value.path[2:]
        if not isinstance(value, str):
            raise self.error(node, f"expected a string, got {_kind(value)}")
        return value

    def dtype(self, node: ast.expr) -> str:
        """A dtype name."""
        name = self.text(node)
        if name not in DTYPES:
            raise self.error(node, f"expected a dtype ({', '.join(DTYPES)}), got '{name}'")
        return name

    def _eval_Constant(self, node: ast.Constant) -> Any:
        return node.value

    def _eval_Name(self, node: ast.Name) -> Any:
        return self.scope.lookup(node)

    def _eval_Tuple(self, node: ast.Tuple) -> Any:
        return tuple(self.eval(n) for n in node.elts)

    def _eval_List(self, node: ast.List) -> Any:
        return [self.eval(n) for n in node.elts]

    def _eval_Dict(self, node: ast.Dict) -> Any:
        return {
            self.eval(k): self.eval(v)
            for k, v in zip(node.keys, node.values, strict=True)
            if k is not None
        }

    def _eval_Attribute(self, node: ast.Attribute) -> Any:
        base = self.eval(node.value)
        if isinstance(base, ScriptName):
            return ScriptName(f"{base.path}.{node.attr}")
        if isinstance(base, Buffer) and node.attr in ("shape", "dtype", "name"):
            return getattr(base, node.attr)
        if isinstance(base, PrimExpr) and node.attr == "dtype":
            return base.dtype
        if isinstance(base, PrimExpr | Buffer):
            return _Method(base, node.attr)
        if not hasattr(base, node.attr):
            raise self.error(node, f"{_kind(base)} has no attribute '{node.attr}'")
        value = getattr(base, node.attr)
        script = as_script_name(value)
        return value if script is None else script

    def _eval_BinOp(self, node: ast.BinOp) -> Any:
        lhs, rhs = self._operand(node.left), self._operand(node.right)
        op = _BINARY.get(type(node.op))
        if op is None:
            raise self.error(node, "expected one of the operators + - * / // % & | ^ << >>")
        return self._combine(op, lhs, rhs)

    def _operand(self, node: ast.expr) -> Any:
        value = self.eval(node)
        return self.expr(node) if isinstance(value, Buffer) else value

    def _combine(self, op: tuple[str, Callable[[Any, Any], Any]], lhs: Any, rhs: Any) -> Any:
        name, python = op
        if isinstance(lhs, PrimExpr) or isinstance(rhs, PrimExpr):
            return binary(name, lhs, rhs)
        return python(lhs, rhs)

    def _eval_UnaryOp(self, node: ast.UnaryOp) -> Any:
        value = self._operand(node.operand)
        is_expr = isinstance(value, PrimExpr)
        match node.op:
            case ast.USub():
                return -value
            case ast.UAdd():
                return value
            case ast.Not():
                return logical_not(value) if is_expr else not value
            case _:
                return ~value

    def _eval_BoolOp(self, node: ast.BoolOp) -> Any:
        values = [self._operand(n) for n in node.values]
        if not any(isinstance(v, PrimExpr) for v in values):
            return all(values) if isinstance(node.op, ast.And) else any(values)
        result = boolean(values[0])
        for value in values[1:]:
            result = _shortcut(isinstance(node.op, ast.And), result, boolean(value))
        return result

    def _eval_Compare(self, node: ast.Compare) -> Any:
        operands = [self._operand(n) for n in (node.left, *node.comparators)]
        parts: list[Any] = []
        for op, lhs, rhs in zip(node.ops, operands, operands[1:], strict=False):
            if type(op) not in _COMPARE:
                raise self.error(node, "expected one of the comparisons < <= > >= == !=")
            parts.append(self._combine(_COMPARE[type(op)], lhs, rhs))
        if any(isinstance(p, PrimExpr) for p in parts):
            return logical_and(*parts)
        return all(parts)

    def _eval_IfExp(self, node: ast.IfExp) -> Any:
        test = self._operand(node.test)
        if not isinstance(test, PrimExpr) or isinstance(test, Imm):
            return self.eval(node.body if test else node.orelse)
        return if_then_else(test, self.expr(node.body), self.expr(node.orelse))

    def _eval_Subscript(self, node: ast.Subscript) -> Any:
        base = self.eval(node.value)
        if isinstance(base, Buffer):
            if any(isinstance(n, ast.Slice) for n in self.elements(node.slice)):
                return self.slice(node)
            return self._load(node, base)
        if isinstance(base, ScriptName):
            return base
        return base[self.eval(node.slice)]

    def _load(self, node: ast.Subscript, buffer: Buffer) -> Load:
        indices = self.exprs(node.slice)
        if len(indices) != buffer.type.rank:
            raise self.error(
                node, f"expected {buffer.type.rank} indices for '{buffer.name}', got {len(indices)}"
            )
        for index, index_node in zip(indices, self.elements(node.slice), strict=True):
            if is_float(index.dtype):
                raise self.error(index_node, f"expected an integer index, got {index.dtype}")
        return Load(buffer, tuple(indices), buffer.dtype)

    def slice(self, node: ast.expr) -> BufferSlice:
        """A region of a buffer: ``X``, ``X[i, j]`` or ``X[a:b, c]``."""
        if not isinstance(node, ast.Subscript):
            value = self.eval(node)
            if not isinstance(value, Buffer):
                raise self.error(node, f"expected a buffer region, got {_kind(value)}")
            return BufferSlice(value, tuple((convert(0), convert(d)) for d in value.shape))
        buffer = self.eval(node.value)
        if not isinstance(buffer, Buffer):
            raise self.error(node.value, f"expected a buffer, got {_kind(buffer)}")
        parts = self.elements(node.slice)
        if len(parts) != buffer.type.rank:
            raise self.error(
                node, f"expected {buffer.type.rank} indices for '{buffer.name}', got {len(parts)}"
            )
        return BufferSlice(
            buffer, tuple(self._range(p, d) for p, d in zip(parts, buffer.shape, strict=True))
        )

    def _range(self, node: ast.expr, dim: Any) -> tuple[PrimExpr, PrimExpr | None]:
        if not isinstance(node, ast.Slice):
            return self.expr(node), None
        if node.step is not None:
            raise self.error(node, "expected a slice without a step")
        start = convert(0) if node.lower is None else self.expr(node.lower)
        stop = convert(dim) if node.upper is None else self.expr(node.upper)
        return start, stop - start

    def _eval_Call(self, node: ast.Call) -> Any:
        function = self.eval(node.func)
        if isinstance(function, ScriptName):
            return self._script_call(node, function.path)
        if isinstance(function, _Method):
            return function.call([self.eval(a) for a in node.args])
        args = [self.eval(a) for a in node.args]
        if any(isinstance(a, Buffer | BufferSlice) for a in args) or not callable(function):
            raise self.error(node, f"expected a function of TensorIR, got {_kind(function)}")
        if any(isinstance(a, PrimExpr) for a in args) and function in (min, max, abs):
            return FUNCTIONS[function.__name__](*args)
        return function(*args)

    def _script_call(self, node: ast.Call, path: str) -> Any:
        name = path.removeprefix("T.")
        if name in DTYPES:
            return self._typed_literal(node, name)
        if name == "call_extern":
            return self._call_extern(node)
        if path.startswith("T.") and name in FUNCTIONS:
            args: list[Any] = []
            for arg in node.args:
                value = self.eval(arg)
                args.append(self.expr(arg) if isinstance(value, Buffer) else value)
            return FUNCTIONS[name](*args)
        raise self.error(node.func, f"expected a function of TensorIR, got '{path}'")

    def _typed_literal(self, node: ast.Call, dtype: str) -> PrimExpr:
        if len(node.args) != 1:
            raise self.error(node, f"expected T.{dtype}(value), got {len(node.args)} arguments")
        value = self.eval(node.args[0])
        if isinstance(value, str):
            if not is_float(dtype) or value not in ("inf", "-inf", "nan"):
                raise self.error(node, f"expected a number for T.{dtype}, got '{value}'")
            return const(float(value), dtype)
        if isinstance(value, PrimExpr | Buffer):
            return cast(dtype, self.expr(node.args[0]))
        return const(value, dtype)

    def _call_extern(self, node: ast.Call) -> Call:
        if len(node.args) < 2:
            raise self.error(node, "expected T.call_extern(dtype, name, …)")
        args = [self.expr(a) for a in node.args[2:]]
        name = Imm(0, "int32")
        name.value = self.text(node.args[1])  # pyright: ignore[reportAttributeAccessIssue]
        return Call("call_extern", (name, *args), self.dtype(node.args[0]))


@dataclass(frozen=True)
class _Method:
    """A method of an expression or buffer, such as ``x.astype`` or ``X.vload``."""

    owner: Any
    name: str

    def call(self, args: Sequence[Any]) -> Any:
        if isinstance(self.owner, PrimExpr) and self.name == "astype":
            return cast(args[0], self.owner)
        raise ValueError(
            f"expected an attribute or method of {_kind(self.owner)}, got '{self.name}'"
        )


def _shortcut(is_and: bool, lhs: PrimExpr, rhs: PrimExpr) -> PrimExpr:
    """Python's `and` and `or` guard their right side, which matters where it reads memory."""
    if not _reads_memory(rhs):
        return logical_and(lhs, rhs) if is_and else logical_or(lhs, rhs)
    return if_then_else(lhs, rhs, const(False)) if is_and else if_then_else(lhs, const(True), rhs)


def _reads_memory(expr: Any) -> bool:
    if isinstance(expr, Load):
        return True
    parts = [getattr(expr, a) for a in ("lhs", "rhs", "value") if hasattr(expr, a)]
    return any(
        _reads_memory(p) for p in (*parts, *getattr(expr, "args", ())) if isinstance(p, PrimExpr)
    )


def _describe(node: ast.AST) -> str:
    return {"Lambda": "a lambda", "ListComp": "a comprehension", "Await": "await"}.get(
        type(node).__name__, f"'{type(node).__name__}' syntax"
    )


def _kind(value: Any) -> str:
    match value:
        case ScriptName():
            return f"'{value.path}'"
        case Buffer():
            return f"buffer '{value.name}'"
        case Index() | Var() | Value():
            return "an integer expression"
        case PrimExpr():
            return "an expression"
        case str():
            return f"the string '{value}'"
        case None:
            return "None"
        case _:
            return type(value).__name__
