"""Gradients of operators: the registry, and the operators that rules are written with.

::

    @gradient("multiply")
    def _multiply(g: Backward, op: relax.OperatorOp, grad: SSAValue) -> Gradients:
        x, y = op.operands
        yield g.fitted(g("multiply", grad, y), x)
        yield g.fitted(g("multiply", grad, x), y)

A rule yields, for each operand, the gradient of a scalar by it, or `None` where there is none, for
the gradient `grad` by the result. TVM's ``FPrimalGradient``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeAlias

import numpy as np
from xdsl.ir import SSAValue

from ...dialects import relax
from ...dialects.diagnostics import Diagnostic
from ...dialects.int_expr import IntExpr
from .graph_builder import GraphBuilder, dims_of, dtype_of

Gradients: TypeAlias = "Iterator[SSAValue | None]"
Rule: TypeAlias = "Callable[[Backward, Any, SSAValue], Gradients]"

RULES: dict[str, Rule] = {}
"""The rule of each operator that has one, by its full name."""

KERNEL_RULES: dict[str, Rule] = {}
"""Rules of `relax.call_tir`, by the names that calls state as ``te_grad_name``."""


def gradient(*names: str) -> Callable[[Rule], Rule]:
    """Decorator: the rule of operators, by their names without "relax."."""

    def register(rule: Rule) -> Rule:
        RULES.update({f"relax.{name}": rule for name in names})
        return rule

    return register


class Backward(GraphBuilder):
    """Inserts the operators of gradients."""

    def number(self, value: float, like: SSAValue) -> SSAValue:
        """A constant without dims of the dtype that another value has."""
        return self.constant(np.asarray(value), known_dtype(like))

    def fitted(self, grad: SSAValue, operand: SSAValue) -> SSAValue:
        """The gradient by an operand that was broadcast: the sum over what was repeated."""
        shape = known_dims(operand)
        if known_dims(grad) == shape:
            return grad
        return self("collapse_sum_to", grad, shape=shape)

    def spread_over(
        self, grad: SSAValue, like: SSAValue, axis: Sequence[int] | None, keepdims: bool
    ) -> SSAValue:
        """The gradient of a reduction over axes, with the dims that the reduction dropped."""
        if axis and not keepdims:
            rank = len(known_dims(like))
            grad = self("expand_dims", grad, axis=[a % rank for a in axis])
        return self("broadcast_to", grad, shape=known_dims(like))

    def divided(self, value: SSAValue, x: SSAValue, axis: Sequence[int] | None) -> SSAValue:
        """A value over the number of elements along axes of a tensor."""
        dims = known_dims(x)
        counts = [dims[a] for a in (range(len(dims)) if axis is None else axis)]
        total = IntExpr.of(1)
        for count in counts:
            total = total * count
        if total.constant is not None:
            return self("divide", value, self.number(total.constant, value))
        return self("divide", value, self("sum", self("ones", shape=counts, dtype=dtype_of(value))))

    def transposed(self, value: SSAValue) -> SSAValue:
        """A tensor with its last two dims swapped."""
        rank = len(known_dims(value))
        return self("permute_dims", value, axes=[*range(rank - 2), rank - 1, rank - 2])

    def fields(self, value: SSAValue, count: int) -> Iterator[SSAValue]:
        """The fields of a tuple, each taken when it is asked for."""
        for index in range(count):
            yield self.field(value, index)

    def field(self, value: SSAValue, index: int) -> SSAValue:
        """A field of a tuple."""
        return self.inserted(relax.TupleGetItemOp(value, index))

    def tuple(self, values: Sequence[SSAValue]) -> SSAValue:
        """A tuple of values."""
        return self.inserted(relax.TupleOp(values))


def known_dims(value: SSAValue) -> tuple[IntExpr, ...]:
    """The dims of a tensor; raises Diagnostic if they are unknown."""
    dims = dims_of(value)
    if dims is None:
        raise Diagnostic(f"expected a tensor of known shape for its gradient, got {value.type}")
    return dims


def known_dtype(value: SSAValue) -> str:
    """The dtype of a tensor; raises Diagnostic if it is unknown."""
    dtype = dtype_of(value)
    if dtype is None:
        raise Diagnostic(f"expected a tensor of known dtype for its gradient, got {value.type}")
    return dtype


def numbers_of(op: relax.OperatorOp) -> dict[str, Any]:
    """The attributes of an operator, as keywords of another one."""
    return {n: v for n, v in op.attribute_values().items() if v is not None}
