"""Expressions of scripts: Python syntax trees become scalar expressions, or Python values."""

from __future__ import annotations

import ast
import operator
from collections.abc import Sequence
from typing import Any, TypeAlias

from ...dialects.dtypes import DTYPES
from ...te.arithmetic import binary, const, convert
from ...te.expr import Imm, Load, PrimExpr, children
from ...te.intrinsics import (
    boolean,
    if_then_else,
    logical_and,
    logical_not,
    logical_or,
    power,
)
from ..errors import ScriptError
from ..namespace import ScriptName
from .accesses import buffer_slice, load
from .buffers import Buffer, BufferSlice
from .describe import describe_syntax, describe_value
from .scope import Scope, as_script_name
from .script_calls import Method, buffer_attribute, call

_Operator: TypeAlias = tuple[str, str]
"""The name of an operation on expressions, and of the function of `operator` on Python values."""

_BINARY: dict[type[ast.operator], _Operator] = {
    ast.Add: ("add", "add"),
    ast.Sub: ("sub", "sub"),
    ast.Mult: ("mul", "mul"),
    ast.Div: ("div", "truediv"),
    ast.FloorDiv: ("floordiv", "floordiv"),
    ast.Mod: ("floormod", "mod"),
    ast.Pow: ("pow", "pow"),
    ast.BitAnd: ("bitwise_and", "and_"),
    ast.BitOr: ("bitwise_or", "or_"),
    ast.BitXor: ("bitwise_xor", "xor"),
    ast.LShift: ("shift_left", "lshift"),
    ast.RShift: ("shift_right", "rshift"),
}
_COMPARE: dict[type[ast.cmpop], _Operator] = {
    ast.Lt: ("lt", "lt"),
    ast.LtE: ("le", "le"),
    ast.Gt: ("gt", "gt"),
    ast.GtE: ("ge", "ge"),
    ast.Eq: ("eq", "eq"),
    ast.NotEq: ("ne", "ne"),
}


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
            raise self.error(node, f"expected an expression, got {describe_syntax(node)}")
        with self.scope.source.reporting(node):
            return handler(node)

    def path(self, node: ast.AST) -> str:
        """The path of the script name that a node is, such as "T.grid"; empty for anything else."""
        if not isinstance(node, ast.Name | ast.Attribute):
            return ""
        try:
            value = self.eval(node)
        except ScriptError:
            return ""
        return value.path if isinstance(value, ScriptName) else ""

    def scalar(self, node: ast.expr) -> Any:
        """The value of a node, a buffer of rank 0 as its element."""
        value = self.eval(node)
        return self.expr(node) if isinstance(value, Buffer) else value

    def expr(self, node: ast.expr) -> PrimExpr:
        """A scalar expression."""
        value = self.eval(node)
        if isinstance(value, Buffer):
            if value.type.rank == 0:
                return Load(value, (), value.dtype)
            raise self.error(
                node, f"expected a scalar, got buffer '{value.name}' of {value.type.rank} dims"
            )
        try:
            return convert(value)
        except TypeError:
            message = f"expected a scalar expression, got {describe_value(value)}"
            raise self.error(node, message) from None

    def exprs(self, node: ast.expr) -> list[PrimExpr]:
        """The expressions of a tuple or list, or the one expression."""
        found: list[PrimExpr] = []
        for element in self.elements(node):
            if isinstance(element, ast.Starred):
                found += [convert(v) for v in self.eval(element.value)]
            else:
                found.append(self.expr(element))
        return found

    def elements(self, node: ast.expr) -> list[ast.expr]:
        """The nodes of a tuple or list, or the one node."""
        return list(node.elts) if isinstance(node, ast.Tuple | ast.List) else [node]

    def shape(self, node: ast.expr) -> list[PrimExpr]:
        """Dims: a tuple or list of expressions, a single one, or a Python sequence in scope."""
        if isinstance(node, ast.Tuple | ast.List):
            return self.exprs(node)
        value = self.eval(node)
        if isinstance(value, Sequence) and not isinstance(value, str):
            return [convert(v) for v in value]  # pyright: ignore[reportUnknownVariableType]
        return [self.expr(node)]

    def text(self, node: ast.expr) -> str:
        """A string."""
        value = self.eval(node)
        if not isinstance(value, str):
            raise self.error(node, f"expected a string, got {describe_value(value)}")
        return value

    def dtype(self, node: ast.expr) -> str:
        """A dtype: its name, ``T.float32``, or a NumPy dtype in scope."""
        value = self.eval(node)
        if isinstance(value, ScriptName):
            value = value.path.removeprefix("T.")
        elif hasattr(value, "dtype") or isinstance(value, type):
            value = getattr(value, "__name__", str(value))
        if isinstance(value, str) and value in DTYPES:
            return value
        shown = f"'{value}'" if isinstance(value, str) else describe_value(value)
        raise self.error(node, f"expected a dtype ({', '.join(DTYPES)}), got {shown}")

    def arguments(self, nodes: Sequence[ast.expr]) -> list[Any]:
        """The values of arguments; ``*values`` stands for several."""
        found: list[Any] = []
        for node in nodes:
            if isinstance(node, ast.Starred):
                found += list(self.eval(node.value))
            else:
                found.append(self.scalar(node))
        return found

    def _eval_Constant(self, node: ast.Constant) -> Any:
        return node.value

    def _eval_Name(self, node: ast.Name) -> Any:
        return self.scope.lookup(node)

    def _eval_Tuple(self, node: ast.Tuple) -> Any:
        return tuple(self._eval_List(node))

    def _eval_List(self, node: ast.List | ast.Tuple) -> Any:
        found: list[Any] = []
        for element in node.elts:
            if isinstance(element, ast.Starred):
                found += list(self.eval(element.value))
            else:
                found.append(self.eval(element))
        return found

    def _eval_Dict(self, node: ast.Dict) -> Any:
        pairs = zip(node.keys, node.values, strict=True)
        return {self.eval(k): self.eval(v) for k, v in pairs if k is not None}

    def _eval_JoinedStr(self, node: ast.JoinedStr) -> str:
        parts = (n.value if isinstance(n, ast.FormattedValue) else n for n in node.values)
        return "".join(str(self.eval(part)) for part in parts)

    def _eval_Attribute(self, node: ast.Attribute) -> Any:
        base = self.eval(node.value)
        if isinstance(base, ScriptName):
            return ScriptName(f"{base.path}.{node.attr}")
        if isinstance(base, Buffer):
            return buffer_attribute(base, node.attr)
        if isinstance(base, PrimExpr):
            return base.dtype if node.attr == "dtype" else Method(base, node.attr)
        if not hasattr(base, node.attr):
            raise self.error(node, f"{describe_value(base)} has no attribute '{node.attr}'")
        value = getattr(base, node.attr)
        script = as_script_name(value)
        return value if script is None else script

    def _eval_BinOp(self, node: ast.BinOp) -> Any:
        lhs, rhs = self.scalar(node.left), self.scalar(node.right)
        op = _BINARY.get(type(node.op))
        if op is None:
            raise self.error(node, "expected one of the operators + - * / // % ** & | ^ << >>")
        return _combine(op, lhs, rhs)

    def _eval_UnaryOp(self, node: ast.UnaryOp) -> Any:
        value = self.scalar(node.operand)
        match node.op:
            case ast.USub():
                return -value
            case ast.UAdd():
                return value
            case ast.Not():
                return logical_not(value) if isinstance(value, PrimExpr) else not value
            case _:
                return ~value

    def _eval_BoolOp(self, node: ast.BoolOp) -> Any:
        values = [self.scalar(n) for n in node.values]
        if not any(isinstance(v, PrimExpr) for v in values):
            return all(values) if isinstance(node.op, ast.And) else any(values)
        result = boolean(values[0])
        for value in values[1:]:
            result = _shortcut(isinstance(node.op, ast.And), result, boolean(value))
        return result

    def _eval_Compare(self, node: ast.Compare) -> Any:
        operands = [self.scalar(n) for n in (node.left, *node.comparators)]
        parts: list[Any] = []
        for op, lhs, rhs in zip(node.ops, operands, operands[1:], strict=False):
            if type(op) not in _COMPARE:
                raise self.error(node, "expected one of the comparisons < <= > >= == !=")
            parts.append(_combine(_COMPARE[type(op)], lhs, rhs))
        if any(isinstance(p, PrimExpr) for p in parts):
            return logical_and(*parts)
        return all(parts)

    def _eval_IfExp(self, node: ast.IfExp) -> Any:
        test = self.scalar(node.test)
        if not isinstance(test, PrimExpr) or isinstance(test, Imm):
            return self.eval(node.body if test else node.orelse)
        return if_then_else(test, self.expr(node.body), self.expr(node.orelse))

    def _eval_Subscript(self, node: ast.Subscript) -> Any:
        base = self.eval(node.value)
        if isinstance(base, Buffer):
            if any(isinstance(n, ast.Slice) for n in self.elements(node.slice)):
                return self.slice(node)
            return load(self, node, base)
        if isinstance(base, ScriptName):
            return base
        return base[self.eval(node.slice)]

    def slice(self, node: ast.expr) -> BufferSlice:
        """A region of a buffer: ``X``, ``X[i, j]`` or ``X[a:b, c]``."""
        return buffer_slice(self, node)

    def _eval_Call(self, node: ast.Call) -> Any:
        return call(self, node)


def _combine(op: _Operator, lhs: Any, rhs: Any) -> Any:
    name, python = op
    if not isinstance(lhs, PrimExpr) and not isinstance(rhs, PrimExpr):
        return getattr(operator, python)(lhs, rhs)
    return power(lhs, rhs) if name == "pow" else binary(name, lhs, rhs)


def _shortcut(is_and: bool, lhs: PrimExpr, rhs: PrimExpr) -> PrimExpr:
    """Python's `and` and `or` guard their right side, which matters where it reads memory."""
    if not reads_memory(rhs):
        return logical_and(lhs, rhs) if is_and else logical_or(lhs, rhs)
    return if_then_else(lhs, rhs, const(False)) if is_and else if_then_else(lhs, const(True), rhs)


def reads_memory(expr: PrimExpr) -> bool:
    """Whether an expression has a load in it."""
    return isinstance(expr, Load) or any(map(reads_memory, children(expr)))
