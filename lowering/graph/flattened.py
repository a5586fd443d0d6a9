"""Flattened images with channels last: permute the constant weights of the matmuls that use them.

::

    %1 = relax.reshape %0 : [n, 32, 4, 5] -> [n, 640]
    %2 = relax.matmul %1, %w : …

⇒

    %1 = relax.reshape %last : [n, 4, 5, 32] -> [n, 640]
    %3 = relax.permute_dims (%w as [32, 4, 5, 10]) {axes = array<i64: 1, 2, 0, 3>} : …
    %2 = relax.matmul %1, (%3 as [640, 10]) : …

The weights are permuted once: by `fold-constant`, or, if they are large, on load.
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import Operation, SSAValue

from ...dialects import relax
from ...dialects.int_expr import IntExpr
from ...dialects.relax.operators.base import OperatorOp
from ...dialects.relax.operators.linear_algebra import MatmulOp
from ...dialects.relax.operators.manipulation import PermuteDimsOp
from ...dialects.relax.operators.reshaping import ReshapeOp, ReshapingOp, product
from .known_values import is_computed_from_constants
from .written import Written, touches


def flatten_last(op: ReshapingOp, last: SSAValue, written: Written) -> list[Operation]:
    """Let matmuls use the flattened tensor with channels last; returns the replaced operations.

    Nothing is replaced if the flattened tensor has other uses, which would need both orders.
    """
    image, rows = op.x.type, op.result.type
    assert isinstance(image, relax.TensorType) and isinstance(rows, relax.TensorType)
    dims, uses = image.dims, list(op.result.uses)
    if dims is None or rows.dims is None or len(dims) < 3:
        return []
    whole = (dims[0], product(dims[1:]))
    if rows.dims != whole or any(d.constant is None for d in dims[1:]):
        return []
    users = [use.operation for use in uses if use.index == 0 and _is_linear(use.operation, written)]
    if not users or len(users) < len(uses):
        return []
    flat = ReshapeOp.of([last], {"shape": whole})
    insert_before([flat], op)
    for user in users:
        assert isinstance(user, MatmulOp)
        _multiply(user, flat.result, dims[1:])
    return [*users, op]


def _is_linear(op: Operation, written: Written) -> bool:
    """Whether an operation is a matmul with a constant matrix."""
    if not isinstance(op, MatmulOp) or touches(op, written):
        return False
    weights = op.rhs.type
    assert isinstance(weights, relax.TensorType)
    is_matrix = weights.dims is not None and len(weights.dims) == 2
    return is_matrix and is_computed_from_constants(op.rhs)


def _multiply(op: MatmulOp, flat: SSAValue, image: Sequence[IntExpr]) -> None:
    """Replace a matmul by one of `flat`, with permuted weights."""
    weights = op.rhs.type
    assert isinstance(weights, relax.TensorType) and weights.dims is not None
    attributes, rank = op.attribute_values(), len(image)
    lengths, order = list(image), [*range(1, rank), 0]
    if attributes["transpose_rhs"]:
        lengths, order = [weights.dims[0], *lengths], [0, *(axis + 1 for axis in order)]
    else:
        lengths, order = [*lengths, weights.dims[1]], [*order, rank]
    split = ReshapeOp.of([op.rhs], {"shape": tuple(lengths)})
    moved = PermuteDimsOp.of([split.result], {"axes": order})
    joined = ReshapeOp.of([moved.result], {"shape": weights.dims})
    made = MatmulOp.of([flat, joined.result], attributes)
    made.result.name_hint = op.result.name_hint
    insert_before([split, moved, joined, made], op)
    op.result.replace_all_uses_with(made.result)


def insert_before(ops: Sequence[OperatorOp], before: Operation) -> None:
    """Insert operators before an operation, with its source location."""
    assert before.parent is not None
    for op in ops:
        op.location = before.location
    before.parent.insert_ops_before(ops, before)
