"""Max pools that also give the index of the largest element of each window."""

from __future__ import annotations

from abc import ABC
from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from xdsl.irdl import irdl_op_definition

from ...dtypes import element_type, is_float
from ..types import TensorType
from .base import ResultType
from .inference import tuple_type
from .language import TensorLanguage
from .layouts import AnyLayouts
from .pool_attributes import OneDimWindows, ThreeDimWindows, TwoDimWindows
from .pooling import MaxPoolOp
from .scanning import NONE_YET
from .windows import all_of, in_order, window_slices


class IndexedMaxPoolOp(MaxPoolOp, ABC):
    """The largest element of each window, and its index (int64) in the flattened spatial dims.

    The first index if there are several; that of the first NaN if there is one.
    """

    @classmethod
    def infer(cls, operands: Sequence[TensorType], attributes: dict[str, Any]) -> ResultType:
        cls.require_elements(attributes)
        values = super().infer(operands, attributes)
        assert isinstance(values, TensorType)
        return tuple_type([values, TensorType(values.shape, element_type("int64"))])

    @classmethod
    def compute(cls, te: TensorLanguage, tensors: Sequence[Any], attributes: dict[str, Any]) -> Any:
        (data,) = tensors
        layout, _ = cls.layouts(attributes)

        def nothing(*dtypes: str) -> tuple[Any, Any]:
            dtype = dtypes[1]
            lowest = -te.infinity(dtype) if is_float(dtype) else te.min_value(dtype)
            return te.const(NONE_YET, "int64"), lowest

        largest = te.comm_reducer(partial(_earlier, te), nothing, "argmax")

        def indexed(
            te: TensorLanguage, element: Any, axes: Sequence[Any], inside: Sequence[Any]
        ) -> Any:
            place = te.cast("int64", _flat_index(element.indices, data.shape, layout, cls.SPATIAL))
            if inside:
                test, (none, lowest) = all_of(inside), nothing("int64", element.dtype)
                place = te.select(test, place, none)
                element = te.if_then_else(test, element, lowest)
            return largest((place, element), axis=list(axes))

        indices, values = cls.pool(te, data, attributes, indexed, "max")
        return values, indices

    @classmethod
    def reference(cls, arrays: Sequence[NDArray[Any]], attributes: dict[str, Any]) -> Any:
        data, counts = cls.numpy_windows(arrays[0], attributes)
        windows = [w.window for w in cls.windows(attributes)]
        places = np.arange(np.prod(data.shape[2:])).reshape(1, 1, *data.shape[2:])
        lowest = -np.inf if data.dtype.kind == "f" else np.iinfo(data.dtype).min
        values = np.stack([v for _, v in window_slices(data, windows, counts, lowest)])
        found = [i for _, i in window_slices(places, windows, counts, NONE_YET)]
        indices = np.stack([np.broadcast_to(i, values.shape[1:]) for i in found])
        top = values.max(axis=0)
        is_top = (values == top) | (np.isnan(values) if data.dtype.kind == "f" else False)
        first = np.where(is_top, indices, NONE_YET).min(axis=0)
        return tuple(cls.in_out_layout(a, attributes) for a in (top, first))


def _flat_index(indices: Sequence[Any], shape: Sequence[Any], layout: str, spatial: str) -> Any:
    """The index of an element in its flattened spatial dims."""
    sizes, index = in_order(shape, layout, spatial), 0
    for at, size in zip(in_order(indices, layout, spatial), sizes, strict=True):
        index = index * size + at
    return index


def _earlier(te: TensorLanguage, a: Any, b: Any) -> tuple[Any, Any]:
    """Combine two pairs of index and value, in any order of combination."""
    (i, x), (j, y) = a, b
    takes = te.any(te.GT(y, x), te.And(te.EQ(x, y), te.LT(j, i)))
    if is_float(x.dtype):
        nan_first = te.any(te.EQ(x, x), te.LT(j, i))
        takes = te.any(te.And(te.EQ(x, x), takes), te.And(te.isnan(y), nan_first))
    return te.Select(takes, j, i), te.Select(takes, y, x)


@irdl_op_definition
class MaxPool1dWithIndicesOp(AnyLayouts, OneDimWindows, IndexedMaxPoolOp):
    """`nn.max_pool1d` and indices; `torch.nn.functional.max_pool1d_with_indices`."""

    name = "relax.nn.max_pool1d_with_indices"


@irdl_op_definition
class MaxPool2dWithIndicesOp(AnyLayouts, TwoDimWindows, IndexedMaxPoolOp):
    """`nn.max_pool2d` and indices; `torch.nn.functional.max_pool2d_with_indices`."""

    name = "relax.nn.max_pool2d_with_indices"


@irdl_op_definition
class MaxPool3dWithIndicesOp(AnyLayouts, ThreeDimWindows, IndexedMaxPoolOp):
    """`nn.max_pool3d` and indices; `torch.nn.functional.max_pool3d_with_indices`."""

    name = "relax.nn.max_pool3d_with_indices"
