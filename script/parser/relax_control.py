"""`if` in graph functions: both branches bind one variable, or both return."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import Any

from xdsl.ir import Block, Region, SSAValue

from ...dialects import relax
from ...dialects.relax.type_relations import common_type, forget_symbols
from .relax_reader import RelaxReader

RETURN = "return"
"""What a branch that returns binds, for a name that no variable has."""
EFFECT = "effect"
"""What a branch binds that ends with a call for its effects."""

EFFECTS = ("R.print", "R.assert_op", "R.call_packed")


class ControlParser:
    """Reads the choices of one function."""

    def __init__(self, function: RelaxReader):
        self.function = function

    def choice(self, node: ast.If) -> None:
        """``if c: … else: …``; the variable that both branches bind last is bound after it."""
        function = self.function
        if function.in_dataflow:
            raise function.error(node, "expected a dataflow block without 'if'")
        if not node.orelse:
            raise function.error(node, "expected an 'else' branch, as every 'if' has a value")
        condition = function.value(node.test)
        branches = [self._branch(node, body) for body in (node.body, node.orelse)]
        (name, _, then), (other, _, otherwise) = branches
        if name != other:
            raise function.error(
                node,
                f"expected both branches to end by binding one variable or to return, "
                f"got '{name}' and '{other}'",
            )
        type_ = common_type(then.type, otherwise.type)
        if type_ is None:
            raise function.error(
                node, f"expected branches of one type, got {then.type} and {otherwise.type}"
            )
        regions = [Region(block) for _, block, _ in branches]
        type_ = forget_symbols(type_, function.declared)
        op = function.add(relax.IfOp(condition, regions[0], regions[1], type_), node)
        if name == RETURN:
            function.returned = op.results[0]
        elif name != EFFECT:
            function.name_value(name, op.results[0])

    def _branch(self, node: ast.If, body: Sequence[ast.stmt]) -> tuple[str, Block, SSAValue]:
        """The variable that a branch binds last, its block, and its value."""
        function = self.function
        outer, declared = function.block, set(function.declared)
        function.block = block = Block()
        with function.scope.nested() as names:
            effect = self._effect(body[-1])
            for statement in body[:-1] if effect is not None else body:
                function.statement(statement)
            if effect is not None:
                name, value = EFFECT, function.value(effect)
            else:
                name, value = self._result(body[-1], names)
            function.add(relax.YieldOp(value), node)
        function.block, function.declared, function.returned = outer, declared, None
        return name, block, value

    def _effect(self, node: ast.stmt) -> ast.Call | None:
        """The call that a branch ends with and whose result nothing binds."""
        match node:
            case ast.Expr(value=ast.Call() as call) if self.function.path(call) in EFFECTS:
                return call
            case _:
                return None

    def _result(self, last: ast.stmt, names: dict[str, object]) -> tuple[str, SSAValue]:
        function = self.function
        if function.returned is not None:
            return RETURN, function.returned
        name = self._bound_name(last)
        value: Any = None if name is None else names.get(name)
        if name is None or not isinstance(value, SSAValue):
            raise function.error(
                last, f"expected a branch to end by binding a variable, got '{ast.unparse(last)}'"
            )
        return name, value  # pyright: ignore[reportUnknownVariableType]

    def _bound_name(self, node: ast.stmt) -> str | None:
        match node:
            case ast.Assign(targets=[ast.Name(id=name)]) | ast.AnnAssign(target=ast.Name(id=name)):
                return name
            case ast.If(body=[*_, last]) | ast.With(body=[*_, last]):
                return self._bound_name(last)
            case ast.Expr(value=ast.Call(args=[ast.Name(id=name)]) as call):
                return name if self.function.path(call) == "R.output" else None
            case _:
                return None
