"""Replacing a slice of a tensor: slice_scatter."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from xdsl.irdl import irdl_op_definition, operand_def, opt_prop_def

from ...int_expr import IntExpr
from ..types import TensorType, python_shape, shape_text
from .attributes import Int, Scalar
from .base import OperatorOp
from .inference import common_element_type, normalize_axis
from .language import TensorLanguage
from .slicing import slice_range


@irdl_op_definition
class SliceScatterOp(OperatorOp):
    """`input_tensor` with ``[start:end:step]`` along `axis` replaced by `src`.

    Bounds have Python's semantics and may use symbols, the step is positive. `src` has the shape of
    the slice. `torch.slice_scatter`.
    """

    name = "relax.slice_scatter"
    input_tensor = operand_def(TensorType)
    src = operand_def(TensorType)
    start = opt_prop_def(Scalar())
    end = opt_prop_def(Scalar())
    step = opt_prop_def(Int(default=1))
    axis = opt_prop_def(Int(default=0))
    assembly_format = (
        "$input_tensor `,` $src attr-dict `:` type($input_tensor) `,` type($src) `->` type($result)"
    )

    @classmethod
    def _range(cls, dim: IntExpr, attributes: dict[str, Any]) -> tuple[IntExpr, IntExpr]:
        """The first index and the length of the slice of a dim."""
        bounds, step = [attributes[name] for name in ("start", "end")], attributes["step"]
        if step < 1:
            raise ValueError(f"expected step of '{cls.name}' to be positive, got {step}")
        for name, bound in zip(("start", "end"), bounds, strict=True):
            if isinstance(bound, float):
                raise ValueError(f"expected {name} of '{cls.name}' to be an integer, got {bound}")
        start, end = map(IntExpr.of, bounds)
        return slice_range(start, end, dim, step)

    @classmethod
    def infer(cls, operands: Sequence[TensorType], attributes: dict[str, Any]) -> TensorType:
        common_element_type(cls.name, operands)
        data, src = operands
        if data.dims is None:
            return data
        axis = normalize_axis(cls.name, attributes["axis"], len(data.dims))
        expected = list(data.dims)
        expected[axis] = cls._range(data.dims[axis], attributes)[1]
        if src.rank is not None and (src.rank != data.rank or src.dims not in (None, (*expected,))):
            raise ValueError(
                f"expected src of '{cls.name}' to be {python_shape(expected)}, "
                f"got {shape_text(src)}"
            )
        return data

    @classmethod
    def compute(cls, te: TensorLanguage, tensors: Sequence[Any], attributes: dict[str, Any]) -> Any:
        data, src = tensors
        axis, step = normalize_axis(cls.name, attributes["axis"], data.ndim), attributes["step"]
        bounds = {name: te.dim_expr(attributes[name]) for name in ("start", "end")}
        found = cls._range(te.dim_expr(data.shape[axis]), {**attributes, **bounds})
        first, length = te.shape_of(found)

        def element(*i: Any) -> Any:
            place = i[axis] - first
            chosen = (place >= 0) & (place < length * step)
            if step > 1:
                chosen = chosen & te.EQ(place % step, 0)
            own = src(*i[:axis], place // step, *i[axis + 1 :])
            return te.if_then_else(chosen, own, data(*i))

        return te.compute(data.shape, element, name="T_slice_scatter")

    @classmethod
    def reference(cls, arrays: Sequence[NDArray[Any]], attributes: dict[str, Any]) -> NDArray[Any]:
        data, src = arrays
        chosen = [slice(None)] * data.ndim
        start, end, step = (attributes[name] for name in ("start", "end", "step"))
        chosen[normalize_axis(cls.name, attributes["axis"], data.ndim)] = slice(start, end, step)
        result = np.array(data)
        result[tuple(chosen)] = src
        return result
