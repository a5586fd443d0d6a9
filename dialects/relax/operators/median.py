"""Medians along axes, which are elements of sorted lines."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from xdsl.dialects.builtin import TupleType
from xdsl.irdl import irdl_op_definition, operand_def, opt_prop_def

from ...dtypes import element_type, is_float
from ..types import TensorType
from .attributes import Bool, Ints
from .base import OperatorOp
from .elementwise import NUMBERS
from .inference import normalize_axes, require_dtype, tuple_type
from .language import TensorLanguage
from .ordering import Sorting, numpy_order
from .reduction import reduced_shape, require_elements
from .reshaping import element_at, product
from .sort_records import Records


@irdl_op_definition
class MedianOp(OperatorOp):
    """The lower median over `axis`, by default all axes, and with one axis its index (int64).

    Of an even number of elements it is the lower of the two in the middle; NaN if an element is
    NaN. `torch.median`. It is 0 if a symbolic dim is 0 at run time.
    """

    name = "relax.median"
    x = operand_def(TensorType)
    axis = opt_prop_def(Ints(default=None))
    keepdims = opt_prop_def(Bool(default=False))
    assembly_format = "$x attr-dict `:` type($x) `->` type($result)"

    @classmethod
    def infer(
        cls, operands: Sequence[TensorType], attributes: dict[str, Any]
    ) -> TensorType | TupleType:
        (x,), axis = operands, attributes["axis"]
        require_dtype(cls.name, operands, *NUMBERS)
        require_elements(cls.name, x, axis)
        values = reduced_shape(cls.name, x, axis, attributes["keepdims"])
        if not _has_index(attributes):
            return values
        return tuple_type([values, TensorType(values.shape, element_type("int64"))])

    @classmethod
    def compute(cls, te: TensorLanguage, tensors: Sequence[Any], attributes: dict[str, Any]) -> Any:
        (x,) = tensors
        axes = normalize_axes(cls.name, attributes["axis"], x.ndim)
        has_index = _has_index(attributes)
        lines = _lines_last(te, x, axes)
        records = Records(te, x.dtype, False, is_indexed=has_index)
        wanted = [("values", x.dtype), *([("indices", "int64")] if has_index else [])]
        results = Sorting(te, lines, lines.ndim - 1, records, wanted).compute()
        length, kept = lines.shape[-1], attributes["keepdims"]
        shape = [1 if n in axes else d for n, d in enumerate(x.shape) if kept or n not in axes]

        def middle(line: Sequence[Any]) -> Any:
            place = (length - 1) // 2
            if not is_float(x.dtype):
                return place
            return te.Select(te.isnan(results[0](*line, length - 1)), length - 1, place)

        def taken(tensor: Any) -> Any:
            def element(*i: Any) -> Any:
                line = [v for n, v in enumerate(i) if not (kept and n in axes)]
                if isinstance(length, int):
                    return tensor(*line, middle(line))
                has_elements = te.GT(length, 0)
                zero = te.const(0, tensor.dtype)
                return te.if_then_else(has_elements, tensor(*line, middle(line)), zero)

            return te.compute(shape, element, name="T_median")

        return tuple(taken(r) for r in results) if has_index else taken(results[0])

    @classmethod
    def reference(cls, arrays: Sequence[NDArray[Any]], attributes: dict[str, Any]) -> Any:
        (x,) = arrays
        axes = normalize_axes(cls.name, attributes["axis"], x.ndim)
        kept = [d for n, d in enumerate(x.shape) if n not in axes]
        lines = x.transpose(_lines_order(x.ndim, axes)).reshape(*kept, -1)
        order = numpy_order(lines, -1, False)
        ordered = np.take_along_axis(lines, order, -1)
        place = np.full((*kept, 1), (lines.shape[-1] - 1) // 2)
        place = np.where(ordered[..., -1:] != ordered[..., -1:], lines.shape[-1] - 1, place)
        shape = np.sum(x, axis=axes, keepdims=attributes["keepdims"]).shape
        values = np.take_along_axis(ordered, place, -1).reshape(shape)
        indices = np.take_along_axis(order, place, -1).reshape(shape).astype(np.int64)
        return (values, indices) if _has_index(attributes) else values


def _has_index(attributes: dict[str, Any]) -> bool:
    return attributes["axis"] is not None and len(attributes["axis"]) == 1


def _lines_order(rank: int, axes: Sequence[int]) -> list[int]:
    """The other dims, then the axes in ascending order."""
    return [n for n in range(rank) if n not in axes] + sorted(axes)


def _lines_last(te: TensorLanguage, x: Any, axes: Sequence[int]) -> Any:
    """The tensor with the elements of all axes along its last dim."""
    order = _lines_order(x.ndim, axes)
    if order != list(range(x.ndim)):
        x = _permuted(te, x, order)
    if len(axes) == 1:
        return x
    dims = [te.dim_expr(d) for d in x.shape]
    dims = [*dims[: x.ndim - len(axes)], product(dims[x.ndim - len(axes) :])]
    shape = te.shape_of(dims)
    return te.compute(shape, lambda *i: element_at(te, x, dims, i), name="T_flatten")


def _permuted(te: TensorLanguage, x: Any, order: Sequence[int]) -> Any:
    def element(*i: Any) -> Any:
        return x(*(i[order.index(n)] for n in range(len(order))))

    return te.compute([x.shape[n] for n in order], element, name="T_transpose")
