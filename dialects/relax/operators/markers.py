"""Operators that return their operand, and tell passes something of it."""

from __future__ import annotations

from abc import ABC
from collections.abc import Sequence
from typing import Any

from numpy.typing import NDArray
from xdsl.irdl import irdl_op_definition

from ..types import TensorType
from .base import UnaryOp
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


@irdl_op_definition
class NoGradOp(MarkerOp):
    """`data`, through which no gradient flows; TVM's ``grad.no_grad``, `torch.Tensor.detach`."""

    name = "relax.grad.no_grad"


@irdl_op_definition
class StopLiftParamsOp(MarkerOp):
    """`data`, after which `lift-transform-params` lifts nothing."""

    name = "relax.builtin.stop_lift_params"
