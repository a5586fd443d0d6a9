"""The layers of a graph that can compute on integers of 8 bits, and their quantized forms.

::

    %y = relax.linear %x, %w : … f32

⇒

    %1 = relax.quantize %x, %scale, %zero_point : … u8
    %2 = relax.dequantize %1, %scale, %zero_point : … f32
    %y = relax.linear %2, (relax.dequantize %integers, %scales, 0) : … f32

`use-dot-products` then contracts the integers. Weights have a scale for each output channel and no
zero point. Activations have one scale, and a zero point at which 0 is exact; or, at run time, int8
with a scale for each row, or each image, and no zero point.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce
from operator import mul

import numpy as np
from numpy.typing import NDArray
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import SSAValue

from ..dialects import relax
from ..dialects.relax.operators.forward_convolution import ForwardConvolutionOp
from ..dialects.relax.operators.linear_algebra import LinearOp
from ..lowering.functions import functions_by_name
from ..lowering.graph.graph_builder import GraphBuilder, dims_of, replace_result
from ..lowering.graph.known_values import known_array
from ..lowering.graph.layers import Layer, is_layer

LEVELS = 255
"""Steps between the least and the largest integer of activations."""
LARGEST = 127
"""The largest integer of weights, and of rows of activations; the least is its negative."""
LEAST_SCALE = float(np.finfo("float32").tiny)
"""The scale of a row of zeros."""


@dataclass(frozen=True)
class Range:
    """The values of an activation; 0 is one of them."""

    low: float
    high: float

    @property
    def scale(self) -> float:
        """The float that one step stands for."""
        return (self.high - self.low) / LEVELS or 1.0

    @property
    def zero_point(self) -> int:
        """The integer that stands for 0."""
        return int(np.clip(np.rint(-self.low / self.scale), 0, LEVELS))


def layers_of(module: ModuleOp, function: str) -> list[Layer]:
    """The linear layers, matmuls and convolutions of float32 with a constant weight, in order.

    Raises ValueError for a function that the module does not have.
    """
    func = functions_by_name(module).get(function)
    if not isinstance(func, relax.FuncOp):
        raise ValueError(f"expected a graph function '{function}' to quantize, got none")
    layers = [op for op in func.walk() if is_layer(op)]
    return [op for op in layers if known_array(op.operands[1], largest=None) is not None]


def quantize_layer(op: Layer, range_: Range | None) -> SSAValue:
    """Replace a layer by one that contracts integers; return its result.

    Its data is quantized in a range, or without one by the values of each row at run time.
    """
    data, weight = op.operands[:2]
    build, array = GraphBuilder(op), known_array(weight, largest=None)
    assert array is not None
    op.operands[1] = _quantized_weight(build, array, _channels(op))
    if range_ is None:
        return _with_dynamic_data(op, build)
    scale = build.constant(range_.scale, "float32")
    zero_point = build.constant(range_.zero_point, "uint8")
    integers = build("quantize", data, scale, zero_point, out_dtype="uint8")
    op.operands[0] = build("dequantize", integers, scale, zero_point)
    return op.result


def _with_dynamic_data(op: Layer, build: GraphBuilder) -> SSAValue:
    """The result of a layer on rows, which are one dim where its data has several of them."""
    data = op.operands[0]
    dims = [*(dims_of(data) or ())]
    if isinstance(op, ForwardConvolutionOp) or len(dims) <= 2:
        others = range(1, len(dims)) if len(dims) > 1 else None
        op.operands[0] = _quantized_rows(build, data, others)
        return op.result
    rows = build("reshape", data, shape=[reduce(mul, dims[:-1]), dims[-1]])
    operands = [_quantized_rows(build, rows, [1]), *op.operands[1:]]
    name = op.name.removeprefix("relax.")
    found = build(name, *operands, **op.attribute_values())
    result = build("reshape", found, shape=[*dims[:-1], *(dims_of(found) or ())[1:]])
    replace_result(op, result)
    return result


def _quantized_rows(
    build: GraphBuilder, data: SSAValue, others: range | list[int] | None
) -> SSAValue:
    """The data by way of int8, with a scale along axis 0; with one scale if `others` is `None`."""
    axis = None if others is None else [*others]
    largest = build("max", build("abs", data), axis=axis)
    scale = build("divide", largest, build.constant(LARGEST, "float32"))
    scale = build("maximum", scale, build.constant(LEAST_SCALE, "float32"))
    zero_point = build.constant(0, "int8")
    integers = build("quantize", data, scale, zero_point, axis=0, out_dtype="int8")
    return build("dequantize", integers, scale, zero_point, axis=0)


def _channels(op: Layer) -> int:
    """The axis of the output channels of the weight."""
    if isinstance(op, ForwardConvolutionOp):
        return str(op.attribute_values()["kernel_layout"]).index("O")
    return 0 if isinstance(op, LinearOp) or op.attribute_values()["transpose_rhs"] else 1


def _quantized_weight(build: GraphBuilder, weight: NDArray[np.float32], axis: int) -> SSAValue:
    others = tuple(a for a in range(weight.ndim) if a != axis)
    largest = np.abs(weight).max(axis=others, initial=0.0)
    scales = np.where(largest > 0, largest / LARGEST, 1).astype(np.float32)
    integers = np.rint(weight / np.expand_dims(scales, others))
    parts = (
        build.constant(integers, "int8"),
        build.constant(scales, "float32"),
        build.constant(0, "int8"),
    )
    return build("dequantize", *parts, axis=axis)
