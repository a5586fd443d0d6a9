"""Build operators of the graph before another one."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from xdsl.ir import Operation, SSAValue
from xdsl.rewriter import Rewriter

from ...dialects import relax
from ...dialects.int_expr import ONE, IntExpr
from ...dialects.relax.operators import OPERATORS
from .known_values import known_array


@dataclass
class GraphBuilder:
    """Inserts operators before `user`, at its location."""

    user: Operation

    def __call__(self, name: str, /, *operands: SSAValue, **attributes: Any) -> SSAValue:
        """The result of an operator, by its name without "relax."."""
        kind = OPERATORS[f"relax.{name}"]
        return self.inserted(kind.of(list(operands), attributes))

    def constant(self, array: Any, dtype: str) -> SSAValue:
        """A constant tensor."""
        op = relax.ConstantOp(relax.TensorData.of(np.asarray(array, dtype), dtype))
        return self.inserted(op)

    def inserted(self, op: Operation) -> SSAValue:
        """The result of an operation, which is inserted."""
        assert self.user.parent is not None
        op.location = self.user.location
        self.user.parent.insert_op_before(op, self.user)
        return op.results[0]

    def scalar(self, value: SSAValue) -> SSAValue:
        """A tensor of one element with rank 0."""
        return value if _rank(value) == 0 else self("reshape", value, shape=[])

    def folded(self, name: str, /, *operands: SSAValue, **attributes: Any) -> SSAValue:
        """The result of an operator, as a constant if the operands are known, of whatever size."""
        result = self(name, *operands, **attributes)
        array = known_array(result, largest=None)
        assert isinstance(result.type, relax.TensorType) and result.type.dtype is not None
        return result if array is None else self.constant(array, result.type.dtype)

    def spread(self, vector: SSAValue, count: int) -> SSAValue:
        """A vector with so many more dims of 1; a scalar is returned unchanged."""
        dims = dims_of(vector)
        if not dims:
            return vector
        shape: Sequence[Any] = [*dims, *[ONE] * count]
        return self("reshape", vector, shape=shape)


def replace_result(op: relax.OperatorOp | relax.TupleGetItemOp, value: SSAValue) -> None:
    """Erase an operator whose result is another value, which takes its name if it has none."""
    value.name_hint = value.name_hint or op.result.name_hint
    op.result.replace_all_uses_with(value)
    op.detach()
    op.erase()


def dims_of(value: SSAValue) -> tuple[IntExpr, ...] | None:
    """The dims of a tensor, if they are known."""
    return value.type.dims if isinstance(value.type, relax.TensorType) else None


def dtype_of(value: SSAValue) -> str | None:
    """The dtype of a tensor, if it is known."""
    return value.type.dtype if isinstance(value.type, relax.TensorType) else None


def _rank(value: SSAValue) -> int | None:
    return value.type.rank if isinstance(value.type, relax.TensorType) else None


def erase_unused(values: Iterable[SSAValue]) -> None:
    """Erase the operators that make values without uses, and those that are then unused."""
    waiting = list(values)
    while waiting:
        value = waiting.pop()
        owner = value.owner
        if isinstance(owner, relax.OperatorOp) and owner.parent and value.first_use is None:
            waiting += owner.operands
            Rewriter.erase_op(owner)
