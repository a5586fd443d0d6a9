"""The layers of a graph: contractions of float32 with a weight, which can be in fewer bits."""

from __future__ import annotations

from typing import TypeAlias, TypeGuard

from xdsl.ir import Operation

from ...dialects.relax.operators.convolution import ForwardConvolutionOp
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
        return op.attribute_values()["groups"] == 1
    return len(dims_of(weight) or ()) == 2
