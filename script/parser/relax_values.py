"""Values of graph functions besides calls: operators, constants, tuples and their fields."""

from __future__ import annotations

import ast
from typing import Any

from xdsl.ir import SSAValue

from ...dialects import relax
from ...ir.expr import Constant, owner_of
from ...ir.operators import is_number, number_data
from ...te.expr import PrimExpr
from ..errors import ScriptError
from ..namespace import ScriptName
from .buffers import describe_value
from .own_function import OwnFunction
from .relax_calls import CallParser
from .relax_reader import NotOutput, RelaxReader

_OPERATORS: dict[type[ast.operator], str] = {
    ast.Add: "relax.add",
    ast.Sub: "relax.subtract",
    ast.Mult: "relax.multiply",
    ast.Div: "relax.divide",
    ast.FloorDiv: "relax.floor_divide",
    ast.Mod: "relax.mod",
    ast.Pow: "relax.power",
    ast.MatMult: "relax.matmul",
}
_COMPARISONS: dict[type[ast.cmpop], str] = {
    ast.Lt: "relax.less",
    ast.LtE: "relax.less_equal",
    ast.Gt: "relax.greater",
    ast.GtE: "relax.greater_equal",
}


class ValueParser:
    """Reads expressions of the graph; each becomes operations in order."""

    def __init__(self, function: RelaxReader):
        self.function = function
        self.calls = CallParser(function)
        self.exprs = function.exprs

    def error(self, node: ast.AST, message: str) -> ScriptError:
        """The script error at a node."""
        return self.function.error(node, message)

    def value(self, node: ast.expr) -> SSAValue:
        """The value of an expression of the graph."""
        found = self._value_or_number(node)
        if isinstance(found, SSAValue):
            return found  # pyright: ignore[reportUnknownVariableType]
        if isinstance(found, OwnFunction):
            return found.value
        if isinstance(found, Constant):
            return self.function.constant(owner_of(found, relax.ConstantOp).value.data, node)
        if isinstance(found, PrimExpr):
            return self.calls.number(node)
        if isinstance(found, str):
            return self.function.emit(relax.StringOp(found), node)
        shown = ast.unparse(node)
        if isinstance(found, NotOutput):
            raise self.error(
                node,
                f"expected a variable that its dataflow block outputs, got '{shown}': "
                f"add it to R.output(…)",
            )
        if isinstance(found, bool | int | float):
            raise self.error(
                node, f'expected a value of the graph, got {shown}: use R.const({shown}, "float32")'
            )
        raise self.error(node, f"expected a value of the graph, got {describe_value(found)}")

    def _value_or_number(self, node: ast.expr) -> Any:
        match node:
            case ast.Tuple() | ast.List():
                return self.function.emit(relax.TupleOp([self.value(n) for n in node.elts]), node)
            case ast.Call():
                return self.calls.call(node)
            case ast.BinOp(op=op) if type(op) in _OPERATORS:
                return self._binary(node, node.left, node.right, _OPERATORS[type(op)])
            case ast.Compare(left=left, ops=[op], comparators=[right]) if type(op) in _COMPARISONS:
                return self._binary(node, left, right, _COMPARISONS[type(op)])
            case ast.UnaryOp(op=ast.USub(), operand=operand):
                return self._negative(node, operand)
            case ast.Subscript():
                return self._subscript(node)
            case _:
                return self.exprs.eval(node)

    def _binary(self, node: ast.expr, left: ast.expr, right: ast.expr, name: str) -> Any:
        """An operator of two values, of which one may be a number that takes the other's dtype."""
        lhs, rhs = self._value_or_number(left), self._value_or_number(right)
        if not isinstance(lhs, SSAValue) and not isinstance(rhs, SSAValue):
            return self.exprs.eval(node)
        operands = [self._operand(left, lhs, rhs), self._operand(right, rhs, lhs)]
        sides: list[Any] = [lhs, rhs]
        given = [None if is_number(v) else o for v, o in zip(sides, operands, strict=True)]
        return self.calls.operator(node, name, operands, {}, given)

    def _negative(self, node: ast.expr, operand: ast.expr) -> Any:
        value = self._value_or_number(operand)
        if not isinstance(value, SSAValue):
            return self.exprs.eval(node)
        operands: list[SSAValue] = [value]
        return self.calls.operator(node, "relax.negative", operands, {})

    def _operand(self, node: ast.expr, value: Any, other: Any) -> SSAValue:
        if is_number(value):
            with self.function.scope.source.reporting(node):
                return self.function.constant(number_data(value, [other]), node)
        return self.value(node) if not isinstance(value, SSAValue) else value  # pyright: ignore[reportUnknownVariableType]

    def _subscript(self, node: ast.Subscript) -> SSAValue:
        index = self.exprs.eval(node.slice)
        if isinstance(node.value, ast.Subscript) and self._is_metadata(node.value):
            constants = self.function.constants
            if not isinstance(index, int) or not 0 <= index < len(constants):
                raise self.error(
                    node, f"expected one of {len(constants)} constants of the metadata, got {index}"
                )
            return self.function.constant(constants[index], node)
        if not isinstance(index, int):
            raise self.error(node.slice, f"expected a field number, got {describe_value(index)}")
        return self.function.field(self.value(node.value), index, node)

    def _is_metadata(self, node: ast.Subscript) -> bool:
        base = self.exprs.eval(node.value) if isinstance(node.value, ast.Name) else None
        return isinstance(base, ScriptName) and base.path == "metadata"
