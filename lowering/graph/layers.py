"""The layers of a graph: contractions of float32 that can be in fewer bits."""

from __future__ import annotations

from typing import TypeAlias, TypeGuard

from xdsl.ir import Operation

from ...dialects.int_expr import ONE
from ...dialects.relax.operators.attention import AttentionOp
from ...dialects.relax.operators.forward_convolution import ForwardConvolutionOp
from ...dialects.relax.operators.layouts import has_plain_layouts
from ...dialects.relax.operators.linear_algebra import LinearOp, MatmulOp
from .graph_builder import dims_of, dtype_of

Layer: TypeAlias = LinearOp | MatmulOp | ForwardConvolutionOp


def is_layer(op: Operation) -> TypeGuard[Layer]:
    """Whether an operation is a linear layer, a matmul by a matrix, or an ungrouped convolution."""
    if not isinstance(op, Layer):
        return False
    data, weight, *_ = op.operands
    if any(dtype_of(v) != "float32" for v in (data, weight, op.result)):
        return False
    if isinstance(op, ForwardConvolutionOp):
        return op.attribute_values()["groups"] == 1 and has_plain_layouts(op)
    return len(dims_of(weight) or ()) == 2


def is_attention(op: Operation, dtype: str) -> TypeGuard[AttentionOp]:
    """Whether an operation is attention of a dtype that pays for packing its keys and values.

    That of a single query does not.
    """
    if not isinstance(op, AttentionOp) or any(dtype_of(v) != dtype for v in op.operands[:3]):
        return False
    query, key = dims_of(op.query), dims_of(op.key)
    return query is not None and key is not None and query[1] != ONE
