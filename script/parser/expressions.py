"""Expressions of scripts: Python syntax trees become scalar expressions, or Python values."""

from __future__ import annotations

import ast
import operator
from typing import Any, TypeAlias

from xdsl.ir import SSAValue

from ...dialects.tir import HandleType
from ...te.arithmetic import binary, const
from ...te.expr import Imm, PrimExpr
from ...te.intrinsics import (
    boolean,
    if_then_else,
    logical_and,
    logical_not,
    logical_or,
    power,
)
from ..namespace import ScriptName
from .buffers import Buffer, BufferSlice, describe_value
from .expr_reader import ExprReader
from .lanes import lane_value
from .scope import FunctionName, ModuleName, as_script_name
from .script_calls import Method, buffer_attribute, buffer_slice, call, load

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


class ExprParser(ExprReader):
    """Evaluates each kind of expression node."""

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
        if isinstance(base, ModuleName):
            return FunctionName(node.attr)
        if isinstance(base, HandleType) and node.attr == "ty":
            return base
        if isinstance(base, PrimExpr):
            return base.dtype if node.attr == "dtype" else Method(base, node.attr)
        if not hasattr(base, node.attr):
            raise self.error(node, f"{describe_value(base)} has no attribute '{node.attr}'")
        value = getattr(base, node.attr)
        script = as_script_name(value)
        return value if script is None else script

    def _operand(self, node: ast.expr) -> Any:
        """An operand of Python's operators, which say nothing of values that a graph computes."""
        value = self.scalar(node)
        if isinstance(value, SSAValue):
            shown = ast.unparse(node)
            raise self.error(node, f"expected a number, got '{shown}', a value of the graph")
        return value

    def _eval_BinOp(self, node: ast.BinOp) -> Any:
        lhs, rhs = self._operand(node.left), self._operand(node.right)
        op = _BINARY.get(type(node.op))
        if op is None:
            raise self.error(node, "expected one of the operators + - * / // % ** & | ^ << >>")
        return _combine(op, lhs, rhs)

    def _eval_UnaryOp(self, node: ast.UnaryOp) -> Any:
        value = self._operand(node.operand)
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
            parts.append(_combine(_COMPARE[type(op)], lhs, rhs))
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
            is_slice = any(isinstance(n, ast.Slice) for n in self.elements(node.slice))
            if is_slice and self.lane is None:
                return self.slice(node)
            return load(self, node, base)
        if isinstance(base, ScriptName):
            return base
        return base[self.eval(node.slice)]

    def _eval_Slice(self, node: ast.Slice) -> Any:
        return lane_value(self, node)

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
    if not rhs.reads_memory():
        return logical_and(lhs, rhs) if is_and else logical_or(lhs, rhs)
    return if_then_else(lhs, rhs, const(False)) if is_and else if_then_else(lhs, const(True), rhs)
