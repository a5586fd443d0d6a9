"""The layers of a graph that can compute on integers of 8 bits, and their quantized forms.

::

    %y = relax.linear %x, %w : … f32

⇒

    %1 = relax.quantize %x, %scale, %zero_point : … u8
    %2 = relax.dequantize %1, %scale, %zero_point : … f32
    %y = relax.linear %2, (relax.dequantize %integers, %scales, 0) : … f32

`use-dot-products` then contracts the integers. Weights have a scale for each output channel and no
zero point; activations one scale, and a zero point at which 0 is exact.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import SSAValue

from ..dialects import relax
from ..dialects.relax.operators.convolution import ForwardConvolutionOp
from ..dialects.relax.operators.linear_algebra import LinearOp
from ..lowering.functions import functions_by_name
from ..lowering.graph.fold_constant import known_array
from ..lowering.graph.graph_builder import GraphBuilder
from ..lowering.graph.layers import Layer, is_layer

LEVELS = 255
"""Steps between the least and the largest integer of activations."""
LARGEST = 127
"""The largest integer of weights; the least one is its negative."""


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


def quantize_layer(op: Layer, range_: Range) -> None:
    """Let a layer contract integers: its data in a range, and its weight."""
    data, weight = op.operands[:2]
    build, array = GraphBuilder(op), known_array(weight, largest=None)
    assert array is not None
    scale = build.constant(range_.scale, "float32")
    zero_point = build.constant(range_.zero_point, "uint8")
    integers = build("quantize", data, scale, zero_point, out_dtype="uint8")
    op.operands[0] = build("dequantize", integers, scale, zero_point)
    op.operands[1] = _quantized_weight(build, array, _channels(op))


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
