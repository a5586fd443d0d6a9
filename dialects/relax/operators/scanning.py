"""Argmax and argmin, and cumulative sums and products, along one axis."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from xdsl.irdl import irdl_op_definition, operand_def, opt_prop_def

from ...dtypes import element_type, is_float
from ..types import TensorType
from .attributes import Bool, DType, Int
from .base import OperatorOp, UnaryOp
from .conversion import accumulator, elements_of_total, rounded, total_dtype
from .elementwise import NUMBERS, short_name
from .inference import normalize_axes, normalize_axis, require_dtype
from .language import TensorLanguage
from .reduction import number_of_elements, reduced, reduced_shape, require_elements
from .reshaping import element_at, product

NONE_YET = 2**63 - 1
"""The index of an extremum over no elements, larger than all others."""


class ArgExtremumOp(OperatorOp, ABC):
    """The index (int64) of the extremum along `axis`, by default of the flattened tensor.

    The first index if there are several; that of the first NaN if there is one.
    """

    x = operand_def(TensorType)
    assembly_format = "$x attr-dict `:` type($x) `->` type($result)"
    IS_MAX: ClassVar[bool] = True

    @staticmethod
    def axes(attributes: dict[str, Any]) -> list[int] | None:
        """The axis as a sequence; `None` for all."""
        return None if attributes["axis"] is None else [attributes["axis"]]

    @classmethod
    def infer(cls, operands: Sequence[TensorType], attributes: dict[str, Any]) -> TensorType:
        require_dtype(cls.name, operands, *NUMBERS)
        (x,), axes = operands, cls.axes(attributes)
        require_elements(cls.name, x, axes)
        shape = reduced_shape(cls.name, x, axes, attributes["keepdims"]).shape
        return TensorType(shape, element_type("int64"))

    @classmethod
    def compute(cls, te: TensorLanguage, tensors: Sequence[Any], attributes: dict[str, Any]) -> Any:
        (x,) = tensors
        axes = normalize_axes(cls.name, cls.axes(attributes), x.ndim)
        if not axes:
            return te.compute((), lambda: te.const(0, "int64"), name=f"{x.name}_red")

        name, extreme = f"{x.name}_red", te.max if cls.IS_MAX else te.min
        wide = accumulator(x.dtype)

        def value(read: Any, ks: Any, i: Any) -> Any:
            return extreme(read(x).astype(wide), axis=ks)

        best = reduced(te, x, axes, False, value, f"{name}_temp")
        count = number_of_elements(te, x, axes)
        is_small = isinstance(count, int) and count <= te.max_value("int32").value
        dtype = "int32" if is_small else "int64"  # more lanes

        def place(read: Any, ks: Any, i: Any) -> Any:
            index: Any = 0
            for axis, k in zip(axes, ks, strict=True):
                index = index * x.shape[axis] + k
            element = read(x).astype(wide)
            found = te.EQ(element, best(*i))
            if is_float(x.dtype):
                found = te.any(found, te.isnan(element))
            return te.min(te.Select(found, te.cast(dtype, index), te.max_value(dtype)), axis=ks)

        first = reduced(te, x, axes, attributes["keepdims"], place, name)
        if not is_small:
            return first
        return te.compute(first.shape, lambda *i: te.cast("int64", first(*i)), name="T_cast")

    @classmethod
    def reference(cls, arrays: Sequence[NDArray[Any]], attributes: dict[str, Any]) -> Any:
        (x,), axis, keepdims = arrays, attributes["axis"], attributes["keepdims"]
        if 0 in (x.shape if axis is None else (x.shape[axis],)):
            shape = np.sum(x, axis=axis, keepdims=keepdims).shape
            return np.full(shape, NONE_YET, np.int64)
        return cls.numpy_function(x, axis, keepdims)

    @classmethod
    @abstractmethod
    def numpy_function(cls, x: NDArray[Any], axis: int | None, keepdims: bool) -> Any:
        """The index by NumPy."""


@irdl_op_definition
class ArgmaxOp(ArgExtremumOp):
    """The index of the largest element; `numpy.argmax`, `torch.argmax`."""

    name = "relax.argmax"
    axis = opt_prop_def(Int(default=None))
    keepdims = opt_prop_def(Bool(default=False))

    @classmethod
    def numpy_function(cls, x: NDArray[Any], axis: int | None, keepdims: bool) -> Any:
        return np.argmax(x, axis=axis, keepdims=keepdims)


@irdl_op_definition
class ArgminOp(ArgExtremumOp):
    """The index of the smallest element; `numpy.argmin`, `torch.argmin`."""

    name = "relax.argmin"
    axis = opt_prop_def(Int(default=None))
    keepdims = opt_prop_def(Bool(default=False))
    IS_MAX: ClassVar[bool] = False

    @classmethod
    def numpy_function(cls, x: NDArray[Any], axis: int | None, keepdims: bool) -> Any:
        return np.argmin(x, axis=axis, keepdims=keepdims)


class CumulativeOp(UnaryOp, ABC):
    """A cumulative sum or product along `axis`, by default of the flattened tensor.

    With `exclusive` the element itself is omitted. Elements are converted to `dtype` before they
    are combined. Bools are counted in int64.
    """

    IDENTITY: ClassVar[int] = 0
    BLOCK: ClassVar[int | None] = None
    """The block size: each block starts from the float64 total of all elements before it."""
    SHORT: ClassVar[int] = 16
    """The maximum number of blocks for which totals, a second pass over the data, do not pay."""

    @classmethod
    @abstractmethod
    def combine(cls, x: Any, y: Any) -> Any:
        """The sum or product of two elements."""

    @classmethod
    def infer(cls, operands: Sequence[TensorType], attributes: dict[str, Any]) -> TensorType:
        (data,), axis = operands, attributes["axis"]
        dtype = None if data.dtype is None else total_dtype(data.dtype, attributes["dtype"])
        element = None if dtype is None else element_type(dtype)
        if axis is not None:
            if data.rank is not None:
                normalize_axis(cls.name, axis, data.rank)
            return TensorType(data.shape, TensorType.of(None, element).element_type)
        if data.dims is None:
            return TensorType.of(None, element, rank=1)
        return TensorType.of([product(data.dims)], element)

    @classmethod
    def compute(cls, te: TensorLanguage, tensors: Sequence[Any], attributes: dict[str, Any]) -> Any:
        (data,) = tensors
        dtype = total_dtype(data.dtype, attributes["dtype"])
        working = accumulator(dtype)
        dims = [te.dim_expr(d) for d in data.shape]
        dims = [product(dims)] if attributes["axis"] is None else dims
        axis = normalize_axis(cls.name, attributes["axis"] or 0, len(dims))
        back = 1 if attributes["exclusive"] else 0

        def read(i: Sequence[Any]) -> Any:
            return element_at(te, data, dims, i).astype(working)

        def moved(i: Sequence[Any], by: int) -> list[Any]:
            return [v - by if n == axis else v for n, v in enumerate(i)]

        size = cls.BLOCK if working == "float32" else None
        length = dims[axis].constant
        if size is not None and (length is None or length > cls.SHORT * size):
            totals = cls.totals(te, read, dims, axis, size)
        else:
            totals = None

        def element(before: Any, *i: Any) -> Any:
            start = te.const(cls.IDENTITY, working) if back else read(i)
            last = before(*moved(i, 1))
            if totals is not None:
                added = moved(i, back)
                block = [v // size if n == axis else v for n, v in enumerate(added)]
                exact = totals(*block).astype(working)
                last = te.Select(te.EQ(added[axis] % size, 0), exact, last)
            step = cls.combine(last, read(moved(i, back)))
            return te.if_then_else(te.GT(i[axis], 0), step, start)

        name = f"T_{short_name(cls.name)}"
        return rounded(
            te, te.recurrence(te.shape_of(dims), axis, element, working, name=name), dtype
        )

    @classmethod
    def totals(
        cls,
        te: TensorLanguage,
        read: Callable[[Sequence[Any]], Any],
        dims: Any,
        axis: int,
        size: int,
    ) -> Any:
        """The totals of all elements before each block of `size`, in float64."""
        counts = [d // size if n == axis else d for n, d in enumerate(dims)]
        inside = te.reduce_axis((0, size), "k")

        def block(*i: Any) -> Any:
            place = [v * size + inside if n == axis else v for n, v in enumerate(i)]
            return te.sum(read(place), axis=inside)

        parts = te.compute(te.shape_of(counts), block, name="T_parts")

        def element(before: Any, *i: Any) -> Any:
            last = [v - 1 if n == axis else v for n, v in enumerate(i)]
            total = cls.combine(before(*last), parts(*last).astype("float64"))
            return te.if_then_else(te.GT(i[axis], 0), total, te.const(0, "float64"))

        places = te.shape_of([c + 1 if n == axis else c for n, c in enumerate(counts)])
        return te.recurrence(places, axis, element, "float64", name="T_totals")

    @classmethod
    def reference(cls, arrays: Sequence[NDArray[Any]], attributes: dict[str, Any]) -> NDArray[Any]:
        (data,), axis = arrays, attributes["axis"]
        data = elements_of_total(data, total_dtype(str(data.dtype), attributes["dtype"]))
        if axis is None:
            data, axis = data.reshape(-1), 0
        if attributes["exclusive"]:
            data = np.roll(data, 1, axis)
            np.moveaxis(data, axis, 0)[:1] = cls.IDENTITY
        return getattr(np, short_name(cls.name))(data, axis=axis, dtype=data.dtype)


@irdl_op_definition
class CumsumOp(CumulativeOp):
    """The cumulative sum; `numpy.cumsum`, `torch.cumsum`."""

    name = "relax.cumsum"
    axis = opt_prop_def(Int(default=None))
    dtype = opt_prop_def(DType(default=None))
    exclusive = opt_prop_def(Bool(default=False))
    BLOCK: ClassVar[int | None] = 128

    @classmethod
    def combine(cls, x: Any, y: Any) -> Any:
        return x + y


@irdl_op_definition
class CumprodOp(CumulativeOp):
    """The cumulative product; `numpy.cumprod`, `torch.cumprod`."""

    name = "relax.cumprod"
    axis = opt_prop_def(Int(default=None))
    dtype = opt_prop_def(DType(default=None))
    exclusive = opt_prop_def(Bool(default=False))
    IDENTITY: ClassVar[int] = 1

    @classmethod
    def combine(cls, x: Any, y: Any) -> Any:
        return x * y
