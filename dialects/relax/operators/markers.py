"""Operators that return their operand, and tell passes something of it."""

from __future__ import annotations

from abc import ABC
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from xdsl.dialects.builtin import TupleType
from xdsl.irdl import irdl_op_definition, opt_prop_def

from ..types import TensorType
from .attributes import Number
from .base import UnaryOp
from .inference import tuple_type
from .language import TensorLanguage


class MarkerOp(UnaryOp, ABC):
    """The operand itself."""

    @classmethod
    def infer(cls, operands: Sequence[TensorType], attributes: dict[str, Any]) -> TensorType:
        return operands[0]

    @classmethod
    def compute(cls, te: TensorLanguage, tensors: Sequence[Any], attributes: dict[str, Any]) -> Any:
        return te.elementwise(lambda x: x, tensors[0], name="T_identity")

    @classmethod
    def reference(cls, arrays: Sequence[NDArray[Any]], attributes: dict[str, Any]) -> NDArray[Any]:
        return arrays[0]


class GradientMarkerOp(MarkerOp, ABC):
    """A marker that means something to pass `gradient` alone."""


@irdl_op_definition
class NoGradOp(GradientMarkerOp):
    """`data`, through which no gradient flows; TVM's ``grad.no_grad``, `torch.Tensor.detach`."""

    name = "relax.grad.no_grad"


@irdl_op_definition
class StartCheckpointOp(GradientMarkerOp):
    """`data`, after which gradients recompute values up to ``grad.end_checkpoint``.

    The operand is kept for the backward pass. TVM's ``grad.start_checkpoint``,
    `torch.utils.checkpoint`.
    """

    name = "relax.grad.start_checkpoint"


@irdl_op_definition
class EndCheckpointOp(GradientMarkerOp):
    """`data`, the last value that gradients recompute from ``grad.start_checkpoint`` on."""

    name = "relax.grad.end_checkpoint"


@irdl_op_definition
class StopLiftParamsOp(MarkerOp):
    """`data`, after which `lift-transform-params` lifts nothing."""

    name = "relax.builtin.stop_lift_params"


@irdl_op_definition
class DropoutOp(UnaryOp):
    """Dropout as it is in inference: the operand, and a mask of ones; TVM's ``nn.dropout``.

    `rate` is the part of elements that training would leave out, and has no effect.
    """

    name = "relax.nn.dropout"
    rate = opt_prop_def(Number(default=0.5))

    @classmethod
    def infer(cls, operands: Sequence[TensorType], attributes: dict[str, Any]) -> TupleType:
        return tuple_type([operands[0], operands[0]])

    @classmethod
    def compute(cls, te: TensorLanguage, tensors: Sequence[Any], attributes: dict[str, Any]) -> Any:
        (data,) = tensors
        one = te.const(1, data.dtype)
        copy = te.elementwise(lambda x: x, data, name="T_identity")
        return copy, te.compute(data.shape, lambda *i: one, name="T_mask")

    @classmethod
    def reference(cls, arrays: Sequence[NDArray[Any]], attributes: dict[str, Any]) -> Any:
        return arrays[0], np.ones(arrays[0].shape)
