"""Gradients of operators as functions on expressions: those that there are, and further ones.

::

    @relax.op.base.register_gradient("relax.nn.threshold")
    def threshold_gradient(orig_var, orig_call, output_grad, ctx):
        return [output_grad * relax.op.astype(orig_var > 0, "float32")]

TVM's ``FPrimalGradient``: a gradient for each argument of the call, `relax.op.grad.no_grad` where
there is none.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from xdsl.ir import Operation, SSAValue

from ..dialects import relax
from ..dialects.diagnostics import suggestion
from ..lowering.graph import gradient as _gradient
from ..lowering.graph.gradient_rules import RULES, Backward, Gradients, Rule
from .expr import Expr, Tuple, apply_operator, expression, view
from .operators import to_value

PrimalGradient = Callable[[Any, Any, Any, Any], Sequence[Any]]
assert _gradient  # the module that imports all rules


class Detached(Backward):
    """Makes operators that wait to be emitted, which live as long as this object or views do."""

    def __init__(self) -> None:
        self._views: list[Expr] = []

    def inserted(self, op: Operation) -> SSAValue:
        self._views.append(expression(op))
        return op.results[0]


def primal_gradient(name: str) -> PrimalGradient | None:
    """The gradient of an operator as a function on expressions, `None` if it has none."""
    rule = RULES.get(name)
    if rule is None:
        return None

    def function(orig_var: Any, orig_call: Any, output_grad: Any, ctx: Any) -> Sequence[Any]:
        """The gradients by the arguments of a call, for that by its result."""
        emitted = to_value(orig_var).owner
        op = emitted if isinstance(emitted, relax.OPERATORS[name]) else orig_call.operation
        parts = rule(Detached(), op, to_value(output_grad))
        found = [
            _no_gradient(operand) if part is None else view(part)
            for operand, part in zip(op.operands, parts, strict=True)
        ]
        if op.variadic_operand() is None:
            return found
        sizes = [1] * len(op.operand_names())
        sizes[op.operand_names().index(op.variadic_operand() or "")] += len(found) - len(sizes)
        groups = [[found.pop(0) for _ in range(size)] for size in sizes]
        names = op.operand_names()
        return [
            Tuple(group) if name == op.variadic_operand() else group[0]
            for name, group in zip(names, groups, strict=True)
        ]

    return function


def _no_gradient(operand: SSAValue) -> Any:
    return apply_operator("relax.grad.no_grad", [view(operand)], {})


def register_gradient(op_name: str, fgradient: PrimalGradient | None = None) -> Any:
    """Give an operator the gradient that a function on expressions has; also a decorator.

    ``fgradient(orig_var, orig_call, output_grad, ctx)`` returns a list with the gradient by each
    argument of the call `orig_call`, whose result is `orig_var`. Raises ValueError with one line
    for an unknown operator. TVM's ``relax.op.base.register_gradient``.
    """
    if op_name not in relax.OPERATORS:
        raise ValueError(
            f"expected an operator of the graph, got '{op_name}'"
            f"{suggestion(op_name, relax.OPERATORS)}"
        )

    def register(function: PrimalGradient) -> PrimalGradient:
        RULES[op_name] = _rule(op_name, function)
        return function

    return register if fgradient is None else register(fgradient)


def _rule(name: str, function: PrimalGradient) -> Rule:
    def rule(g: Backward, op: relax.OperatorOp, grad: SSAValue) -> Gradients:
        given = list(function(view(op.result), expression(op), view(grad), None))
        flat = [part for parts in given for part in _fields(parts)]
        if len(flat) != len(op.operands):
            raise ValueError(
                f"expected a gradient by each of {len(op.operands)} arguments of '{name}', "
                f"got {len(flat)}"
            )
        for part in flat:
            value = to_value(part)
            if not isinstance(value.owner, relax.OPERATORS["relax.grad.no_grad"]):
                _place(g, value)
                yield value
            else:
                yield None

    return rule


def _fields(part: Any) -> Sequence[Any]:
    return part.fields if isinstance(part, Tuple) else [part]


def _place(g: Backward, value: SSAValue) -> None:
    """Insert what a value is computed by, as far as it is not part of a program yet."""
    op = value.owner
    if isinstance(op, Operation) and op.parent is None:
        for operand in op.operands:
            _place(g, operand)
        g.inserted(op)
