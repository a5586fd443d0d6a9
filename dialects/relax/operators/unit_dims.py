"""Dims of 1: expand_dims inserts them, squeeze removes them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from xdsl.irdl import irdl_op_definition, opt_prop_def

from ...int_expr import ONE, IntExpr
from ..types import TensorType, python_shape
from .attributes import Ints
from .inference import normalize_axes
from .language import TensorLanguage
from .reshaping import ReshapingOp


@irdl_op_definition
class ExpandDimsOp(ReshapingOp):
    """Insert dims of 1 at these axes of the result; `numpy.expand_dims`, `torch.unsqueeze`."""

    name = "relax.expand_dims"
    axis = opt_prop_def(Ints())

    @classmethod
    def new_dims(cls, dims: Sequence[IntExpr], attributes: dict[str, Any]) -> Sequence[IntExpr]:
        rank = len(dims) + len(attributes["axis"])
        new, old = normalize_axes(cls.name, attributes["axis"], rank), iter(dims)
        return [ONE if axis in new else next(old) for axis in range(rank)]

    @classmethod
    def unknown_type(cls, operand: TensorType, attributes: dict[str, Any]) -> TensorType:
        if operand.rank is None:
            return operand
        rank = operand.rank + len(attributes["axis"])
        normalize_axes(cls.name, attributes["axis"], rank)
        return TensorType.of(None, operand.known_element, rank)


@irdl_op_definition
class SqueezeOp(ReshapingOp):
    """Remove the dims of 1 at these axes; `numpy.squeeze`, `torch.squeeze`.

    By default, all dims that are the constant 1 are removed; symbolic dims are kept.
    """

    name = "relax.squeeze"
    axis = opt_prop_def(Ints(default=None))

    @classmethod
    def new_dims(cls, dims: Sequence[IntExpr], attributes: dict[str, Any]) -> Sequence[IntExpr]:
        if attributes["axis"] is None:
            return [d for d in dims if d != ONE]
        axes = normalize_axes(cls.name, attributes["axis"], len(dims))
        for axis in axes:
            if dims[axis] != ONE:
                raise ValueError(
                    f"expected dim {axis} of '{cls.name}' to be 1, got {python_shape(dims)}"
                )
        return [d for axis, d in enumerate(dims) if axis not in axes]

    @classmethod
    def compute(cls, te: TensorLanguage, tensors: Sequence[Any], attributes: dict[str, Any]) -> Any:
        (x,), axes = tensors, attributes["axis"]
        dims = [te.dim_expr(d) for d in x.shape]
        ones = [a for a, d in enumerate(dims) if d == ONE]
        gone = ones if axes is None else normalize_axes(cls.name, axes, len(dims))

        def element(*i: Any) -> Any:
            left = iter(i)
            return x(*(0 if axis in gone else next(left) for axis in range(len(dims))))

        shape = [d for axis, d in enumerate(x.shape) if axis not in gone]
        return te.compute(shape, element, name="T_squeeze")

    @classmethod
    def unknown_type(cls, operand: TensorType, attributes: dict[str, Any]) -> TensorType:
        axes = attributes["axis"]
        if operand.rank is None or axes is None:
            return TensorType.of(None, operand.known_element)
        rank = operand.rank - len(normalize_axes(cls.name, axes, operand.rank))
        return TensorType.of(None, operand.known_element, rank)
