"""Dims of 1: expand_dims inserts them, squeeze removes them."""

from __future__ import annotations

from abc import ABC
from collections.abc import Sequence
from typing import Any

from xdsl.irdl import irdl_op_definition, opt_prop_def

from ...int_expr import ONE, IntExpr
from ..types import TensorType, python_shape
from .attributes import Ints
from .inference import normalize_axes
from .language import TensorLanguage
from .reshaping import ReshapingOp


class UnitDimsOp(ReshapingOp, ABC):
    """A reshape of which each dim of the result that is not 1 is one of the operand's."""

    @classmethod
    def compute_plain(
        cls, te: TensorLanguage, tensors: Sequence[Any], attributes: dict[str, Any]
    ) -> Any:
        return cls.compute(te, tensors, attributes)


@irdl_op_definition
class ExpandDimsOp(UnitDimsOp):
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
class SqueezeOp(UnitDimsOp):
    """Remove the dims of 1 at these axes; `numpy.squeeze`, `torch.squeeze`.

    Other dims at the axes are kept, as in PyTorch, and none is a symbol. By default, all dims that
    are the constant 1 are removed.
    """

    name = "relax.squeeze"
    axis = opt_prop_def(Ints(default=None))

    @classmethod
    def removed(cls, dims: Sequence[IntExpr], axis: Sequence[int] | None) -> list[int]:
        """The axes of the dims that are removed; raises ValueError for a symbol among them."""
        chosen = range(len(dims)) if axis is None else normalize_axes(cls.name, axis, len(dims))
        for place in chosen:
            if axis is not None and dims[place].constant is None:
                raise ValueError(
                    f"expected dim {place} of '{cls.name}' to be known, got {python_shape(dims)}"
                )
        return [place for place in chosen if dims[place] == ONE]

    @classmethod
    def new_dims(cls, dims: Sequence[IntExpr], attributes: dict[str, Any]) -> Sequence[IntExpr]:
        gone = cls.removed(dims, attributes["axis"])
        return [d for axis, d in enumerate(dims) if axis not in gone]

    @classmethod
    def compute(cls, te: TensorLanguage, tensors: Sequence[Any], attributes: dict[str, Any]) -> Any:
        (x,) = tensors
        gone = cls.removed([te.dim_expr(d) for d in x.shape], attributes["axis"])

        def element(*i: Any) -> Any:
            left = iter(i)
            return x(*(0 if axis in gone else next(left) for axis in range(x.ndim)))

        shape = [d for axis, d in enumerate(x.shape) if axis not in gone]
        return te.compute(shape, element, name="T_squeeze")

    @classmethod
    def unknown_type(cls, operand: TensorType, attributes: dict[str, Any]) -> TensorType:
        axes = attributes["axis"]
        if operand.rank is None or axes is None:
            return TensorType.of(None, operand.known_element)
        rank = operand.rank - len(normalize_axes(cls.name, axes, operand.rank))
        return TensorType.of(None, operand.known_element, rank)
