"""`if` in graph functions, where both branches bind one variable or return, and dataflow blocks."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import Any

from xdsl.ir import Block, Operation, Region, SSAValue

from ...dialects import relax
from ...dialects.parameters import value_hint
from ...dialects.relax.type_relations import common_type, forget_symbols
from .relax_reader import NotOutput, RelaxReader

RETURN = "return"
"""What a branch that returns binds, for a name that no variable has."""
EFFECT = "effect"
"""What a branch binds that ends with a call for its effects."""

EFFECTS = ("R.print", "R.assert_op", "R.call_packed")


class ControlParser:
    """Reads the choices and the dataflow blocks of one function."""

    def __init__(self, function: RelaxReader):
        self.function = function

    def dataflow(self, node: ast.With) -> None:
        """``with R.dataflow(): …``; the variables that it outputs are bound after it."""
        function, call = self.function, node.items[0].context_expr
        if function.path(call) != "R.dataflow" or len(node.items) != 1 or function.in_dataflow:
            shown = ast.unparse(call)
            raise function.error(node, f"expected 'with R.dataflow():', not nested, got '{shown}'")
        outer, inner = function.block, Block()
        function.block, function.in_dataflow = inner, True
        with function.scope.nested() as names:
            for statement in node.body:
                function.statement(statement)
        outputs = function.outputs
        if outputs is None:
            raise function.error(node, "expected the dataflow block to end with R.output(…)")
        function.add(relax.func.OutputOp([v for _, v in outputs]), node)
        function.block, function.in_dataflow, function.outputs = outer, False, None
        op = relax.DataflowOp(Region(inner), [v.type for _, v in outputs])
        function.add(op, node)
        self._leave_dataflow(names, [n for n, _ in outputs], op)

    def _leave_dataflow(self, inside: dict[str, object], names: list[str], op: Operation) -> None:
        function = self.function
        for name, value in inside.items():
            if isinstance(value, SSAValue):
                function.scope.frames[-1].setdefault(name, NotOutput())
        for name, result in zip(names, op.results, strict=True):
            if name == RETURN:
                function.returned = result
                continue
            result.name_hint = value_hint(name)
            function.scope.bind(name, result)

    def output(self, call: ast.Call) -> None:
        """``R.output(x, y)``, the names of variables of the dataflow block."""
        function = self.function
        if not function.in_dataflow:
            raise function.error(call, "expected R.output inside a dataflow block")
        outputs: list[tuple[str, SSAValue]] = []
        for arg in call.args:
            if not isinstance(arg, ast.Name):
                raise function.error(arg, "expected the name of a variable of the dataflow block")
            outputs.append((arg.id, function.value(arg)))
        function.outputs = outputs

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
