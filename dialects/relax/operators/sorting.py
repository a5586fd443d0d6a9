"""Sorting operators: sort, argsort, topk.

Sorts are stable, also in descending order, and NaN is the largest element. In `sort`, -0.0 is less
than 0.0, and NaNs lose their signs.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from xdsl.dialects.builtin import TupleType
from xdsl.irdl import irdl_op_definition, opt_prop_def

from ...bounds import is_less
from ...dtypes import element_type
from ..types import TensorType, shape_text
from .attributes import Bool, DType, Int, Text
from .base import UnaryOp
from .inference import normalize_axis, tuple_type
from .language import TensorLanguage
from .ordering import Sorting, numpy_order
from .sort_records import Records


class SortingOp(UnaryOp, ABC):
    """An operator that sorts the elements along an axis."""

    axis = opt_prop_def(Int(default=-1))

    @classmethod
    @abstractmethod
    def result_type(cls, data: TensorType, attributes: dict[str, Any]) -> TensorType:
        """The type of the result for data of at least one dim."""

    @classmethod
    def infer(cls, operands: Sequence[TensorType], attributes: dict[str, Any]) -> TensorType:
        (data,) = operands
        if data.rank is not None:
            normalize_axis(cls.name, attributes["axis"], data.rank)
        return cls.result_type(data, attributes)


@irdl_op_definition
class SortOp(SortingOp):
    """Sort the elements along an axis; `numpy.sort`, `torch.sort`."""

    name = "relax.sort"
    descending = opt_prop_def(Bool(default=False))

    @classmethod
    def result_type(cls, data: TensorType, attributes: dict[str, Any]) -> TensorType:
        return data

    @classmethod
    def compute(cls, te: TensorLanguage, tensors: Sequence[Any], attributes: dict[str, Any]) -> Any:
        (data,) = tensors
        axis = normalize_axis(cls.name, attributes["axis"], data.ndim)
        records = Records(te, data.dtype, attributes["descending"], is_indexed=False)
        return Sorting(te, data, axis, records, [("values", data.dtype)]).compute()[0]

    @classmethod
    def reference(cls, arrays: Sequence[NDArray[Any]], attributes: dict[str, Any]) -> NDArray[Any]:
        (data,), axis = arrays, attributes["axis"]
        return np.take_along_axis(data, numpy_order(data, axis, attributes["descending"]), axis)


@irdl_op_definition
class ArgsortOp(SortingOp):
    """The indices that sort the elements along an axis; `numpy.argsort`, `torch.argsort`."""

    name = "relax.argsort"
    descending = opt_prop_def(Bool(default=False))
    dtype = opt_prop_def(DType(default="int32"))

    @classmethod
    def result_type(cls, data: TensorType, attributes: dict[str, Any]) -> TensorType:
        return TensorType(data.shape, element_type(attributes["dtype"]))

    @classmethod
    def compute(cls, te: TensorLanguage, tensors: Sequence[Any], attributes: dict[str, Any]) -> Any:
        (data,), dtype = tensors, attributes["dtype"]
        axis = normalize_axis(cls.name, attributes["axis"], data.ndim)
        records = Records(te, data.dtype, attributes["descending"], is_indexed=True)
        return Sorting(te, data, axis, records, [("indices", dtype)]).compute()[0]

    @classmethod
    def reference(cls, arrays: Sequence[NDArray[Any]], attributes: dict[str, Any]) -> NDArray[Any]:
        order = numpy_order(arrays[0], attributes["axis"], attributes["descending"])
        return order.astype(attributes["dtype"])


@irdl_op_definition
class TopKOp(UnaryOp):
    """The `k` largest or smallest elements along an axis and their indices; `torch.topk`.

    `ret_type` selects "values", "indices" or "both". If a symbolic dim is less than `k` at run
    time, the missing elements are 0.
    """

    name = "relax.topk"
    k = opt_prop_def(Int(default=1))
    axis = opt_prop_def(Int(default=-1))
    ret_type = opt_prop_def(Text(default="both", choices=("both", "values", "indices")))
    largest = opt_prop_def(Bool(default=True))
    dtype = opt_prop_def(DType(default="int32"))

    @classmethod
    def infer(
        cls, operands: Sequence[TensorType], attributes: dict[str, Any]
    ) -> TensorType | TupleType:
        (data,), k = operands, attributes["k"]
        if k < 1:
            raise ValueError(f"expected k of '{cls.name}' to be at least 1, got {k}")
        axis = attributes["axis"]
        if data.rank is not None:
            axis = normalize_axis(cls.name, axis, data.rank)
        if data.dims is not None and is_less(data.dims[axis], k):
            raise ValueError(
                f"expected at least {k} elements of '{cls.name}' along dim {axis}, "
                f"got {shape_text(data)}"
            )
        dims = None
        if data.dims is not None:
            dims = [*data.dims[:axis], k, *data.dims[axis + 1 :]]
        values, indices = (
            TensorType.of(dims, element, data.rank)
            for element in (data.known_element, element_type(attributes["dtype"]))
        )
        results = {"both": tuple_type([values, indices]), "values": values, "indices": indices}
        return results[attributes["ret_type"]]

    @classmethod
    def compute(cls, te: TensorLanguage, tensors: Sequence[Any], attributes: dict[str, Any]) -> Any:
        (data,), k, kind = tensors, attributes["k"], attributes["ret_type"]
        axis = normalize_axis(cls.name, attributes["axis"], data.ndim)
        records = Records(te, data.dtype, attributes["largest"], is_indexed=True)
        dtypes = {"values": data.dtype, "indices": attributes["dtype"]}
        wanted = [(p, d) for p, d in dtypes.items() if kind in ("both", p)]
        results = Sorting(te, data, axis, records, wanted, k).compute()
        return tuple(results) if kind == "both" else results[0]

    @classmethod
    def reference(cls, arrays: Sequence[NDArray[Any]], attributes: dict[str, Any]) -> Any:
        (data,), k, axis = arrays, int(attributes["k"]), int(attributes["axis"])
        order: NDArray[Any] = numpy_order(data, axis, attributes["largest"])
        chosen = np.take(order, np.arange(min(k, data.shape[axis])), axis)
        missing = [(0, 0)] * data.ndim
        missing[axis] = (0, max(0, k - data.shape[axis]))
        values = np.pad(np.take_along_axis(data, chosen, axis), missing)
        indices = np.pad(chosen, missing).astype(attributes["dtype"])
        results = {"both": (values, indices), "values": values, "indices": indices}
        return results[attributes["ret_type"]]
