"""Tensors computed from indices: ranges, windows, triangles, identity matrices, one-hot vectors."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from math import ceil, pi
from typing import Any, ClassVar, cast

import numpy as np
from numpy.typing import NDArray
from xdsl.ir import Attribute
from xdsl.irdl import irdl_op_definition, operand_def, opt_prop_def

from ...dtypes import element_type, is_float
from ...int_expr import IntExpr
from ..types import TensorType, shape_text
from .attributes import Bool, DType, Int, Number, Scalar, dtype_of_number
from .base import OperatorOp
from .creation import require_sizes
from .elementwise import INTEGERS, short_name
from .inference import normalize_axis, require_dtype
from .language import TensorLanguage


@irdl_op_definition
class ArangeOp(OperatorOp):
    """Numbers from `start` to `end`, exclusive, by `step`; without `end`, from 0 to `start`.

    Bounds are floats, or integers over the symbols of the function. By default, `dtype` is int64,
    or float32 if a bound is a float; `numpy.arange`, `torch.arange`.
    """

    name = "relax.arange"
    start = opt_prop_def(Scalar())
    end = opt_prop_def(Scalar(default=None))
    step = opt_prop_def(Scalar(default=1))
    dtype = opt_prop_def(DType(default=None))
    assembly_format = "attr-dict `:` type($result)"

    @staticmethod
    def bounds(attributes: Mapping[str, Any]) -> tuple[Any, Any, Any, str]:
        """Start, end, step and dtype."""
        start, end, step = (attributes[n] for n in ("start", "end", "step"))
        if end is None:
            start, end = 0, start
        floats = any(isinstance(b, float) for b in (start, end, step))
        return start, end, step, attributes["dtype"] or ("float32" if floats else "int64")

    @classmethod
    def length(cls, start: Any, end: Any, step: Any) -> IntExpr:
        """The number of elements; raises ValueError for a wrong step or order."""
        known: list[Any] = [b.constant if isinstance(b, IntExpr) else b for b in (start, end, step)]
        if known[2] in (0, None):
            raise ValueError(
                f"expected step of '{cls.name}' to be a number other than 0, got {step}"
            )
        if any(isinstance(b, float) for b in known):
            if None in known:
                raise ValueError(
                    f"expected bounds of '{cls.name}' of floats to be numbers, got symbols"
                )
            count = IntExpr.of(ceil(float((known[1] - known[0]) / known[2])))
        elif known[2] > 0:
            count = (IntExpr.of(end) - start + known[2] - 1) // known[2]
        else:
            count = (IntExpr.of(start) - end - known[2] - 1) // -known[2]
        if count.constant is not None and count.constant < 0:
            raise ValueError(
                f"expected end of '{cls.name}' with step {step} to come after {start}, got {end}"
            )
        return count

    @classmethod
    def infer(cls, operands: Sequence[TensorType], attributes: dict[str, Any]) -> TensorType:
        start, end, step, dtype = cls.bounds(attributes)
        return TensorType.of([cls.length(start, end, step)], element_type(dtype))

    @classmethod
    def compute(cls, te: TensorLanguage, tensors: Sequence[Any], attributes: dict[str, Any]) -> Any:
        start, end, step, dtype = cls.bounds(attributes)
        floats = any(isinstance(b, float) for b in (start, end, step))
        working = "float64" if floats else "int64"
        bounds = [b if isinstance(b, float) else te.dim_expr(b) for b in (start, end, step)]
        (length,) = te.shape_of([cls.length(*bounds)])

        def element(i: Any) -> Any:
            return (te.cast(working, i) * step + te.cast(working, start)).astype(dtype)

        return te.compute((length,), element, name="T_arange")

    @classmethod
    def reference(cls, arrays: Sequence[NDArray[Any]], attributes: dict[str, Any]) -> NDArray[Any]:
        start, end, step, dtype = cls.bounds(attributes)
        numbers = cast("NDArray[Any]", np.arange(start, end, step))
        return numbers if is_float(dtype) else numbers.astype(dtype)


@irdl_op_definition
class HammingWindowOp(OperatorOp):
    """``alpha - beta * cos(2 pi i / n)`` for each index i, with n the `window_size`.

    The window is symmetric, with ``window_size - 1`` for n, unless it is `periodic`. A
    window of one element is 1. `torch.hamming_window`.
    """

    name = "relax.hamming_window"
    window_size = opt_prop_def(Scalar())
    periodic = opt_prop_def(Bool(default=True))
    alpha = opt_prop_def(Number(default=0.54))
    beta = opt_prop_def(Number(default=0.46))
    dtype = opt_prop_def(DType(default="float32"))
    assembly_format = "attr-dict `:` type($result)"

    @classmethod
    def infer(cls, operands: Sequence[TensorType], attributes: dict[str, Any]) -> TensorType:
        size, dtype = attributes["window_size"], attributes["dtype"]
        if not is_float(dtype):
            raise ValueError(f"expected dtype of '{cls.name}' to be a float, got {dtype}")
        known = size.constant if isinstance(size, IntExpr) else size
        if isinstance(known, float) or (known is not None and known < 1):
            raise ValueError(
                f"expected window_size of '{cls.name}' to be an integer of at least 1, got {known}"
            )
        return TensorType.of([size], element_type(dtype))

    @classmethod
    def compute(cls, te: TensorLanguage, tensors: Sequence[Any], attributes: dict[str, Any]) -> Any:
        (size,) = te.shape_of([te.dim_expr(attributes["window_size"])])
        alpha, beta = (te.const(float(attributes[n]), "float64") for n in ("alpha", "beta"))
        period = te.cast("float64", size if attributes["periodic"] else size - 1)

        def element(i: Any) -> Any:
            angle = te.cast("float64", i) * te.const(2 * pi, "float64") / period
            window = alpha - beta * te.cos(angle)
            one = te.const(1.0, "float64")
            return te.Select(te.EQ(size, 1), one, window).astype(attributes["dtype"])

        return te.compute((size,), element, name="T_hamming_window")

    @classmethod
    def reference(cls, arrays: Sequence[NDArray[Any]], attributes: dict[str, Any]) -> NDArray[Any]:
        size: int = attributes["window_size"]
        if size == 1:
            return np.ones(1)
        places = np.arange(size) / (size if attributes["periodic"] else size - 1)
        return attributes["alpha"] - attributes["beta"] * np.cos(2 * pi * places)


def _at_most(te: TensorLanguage, lhs: Any, rhs: Any, distance: Any) -> Any:
    """``lhs + distance <= rhs``, without a subtraction and strict for 1, as TVM simplifies it."""
    if not isinstance(distance, int):
        return te.LE(lhs + distance, rhs)
    if distance == 1:
        return te.LT(lhs, rhs)
    return te.LE(lhs, rhs - distance) if distance < 0 else te.LE(lhs + distance, rhs)


class TriangleOp(OperatorOp, ABC):
    """The triangle of matrices on one side of the `k`-th diagonal, with 0 on the other side."""

    x = operand_def(TensorType)
    k = opt_prop_def(Scalar(default=0))
    assembly_format = "$x attr-dict `:` type($x) `->` type($result)"

    @staticmethod
    @abstractmethod
    def keeps(te: TensorLanguage, row: Any, column: Any, k: Any) -> Any:
        """Whether an element is in the triangle."""

    @classmethod
    def infer(cls, operands: Sequence[TensorType], attributes: dict[str, Any]) -> TensorType:
        (x,) = operands
        if isinstance(attributes["k"], float):
            raise ValueError(f"expected k of '{cls.name}' to be an integer, got {attributes['k']}")
        if x.rank in (0, 1):
            raise ValueError(
                f"expected x of '{cls.name}' to have at least two dims, got {shape_text(x)}"
            )
        return x

    @classmethod
    def compute(cls, te: TensorLanguage, tensors: Sequence[Any], attributes: dict[str, Any]) -> Any:
        (x,) = tensors

        def element(*i: Any) -> Any:
            kept = cls.keeps(te, i[-2], i[-1], attributes["k"])
            return te.Select(kept, x(*i), te.const(0, x.dtype))

        return te.compute(x.shape, element, name="trilu")

    @classmethod
    def reference(cls, arrays: Sequence[NDArray[Any]], attributes: dict[str, Any]) -> NDArray[Any]:
        return getattr(np, short_name(cls.name))(arrays[0], attributes["k"])


@irdl_op_definition
class TrilOp(TriangleOp):
    """The lower triangle; `numpy.tril`, `torch.tril`."""

    name = "relax.tril"

    @staticmethod
    def keeps(te: TensorLanguage, row: Any, column: Any, k: Any) -> Any:
        return _at_most(te, column, row, -k)


@irdl_op_definition
class TriuOp(TriangleOp):
    """The upper triangle; `numpy.triu`, `torch.triu`."""

    name = "relax.triu"

    @staticmethod
    def keeps(te: TensorLanguage, row: Any, column: Any, k: Any) -> Any:
        return _at_most(te, row, column, k)


@irdl_op_definition
class EyeOp(OperatorOp):
    """An `n` by `m` matrix, by default square, with ones on the `k`-th diagonal; `numpy.eye`."""

    name = "relax.eye"
    n = opt_prop_def(Scalar())
    m = opt_prop_def(Scalar(default=None))
    k = opt_prop_def(Scalar(default=0))
    dtype = opt_prop_def(DType(default="float32"))
    assembly_format = "attr-dict `:` type($result)"

    @staticmethod
    def sizes(attributes: Mapping[str, Any]) -> tuple[Any, Any]:
        """Rows and columns."""
        return attributes["n"], attributes["n"] if attributes["m"] is None else attributes["m"]

    @classmethod
    def infer(cls, operands: Sequence[TensorType], attributes: dict[str, Any]) -> TensorType:
        for name in ("n", "m", "k"):
            if isinstance(attributes[name], float):
                raise ValueError(
                    f"expected {name} of '{cls.name}' to be an integer, got {attributes[name]}"
                )
        require_sizes(cls.name, cls.sizes(attributes))
        return TensorType.of(cls.sizes(attributes), element_type(attributes["dtype"]))

    @classmethod
    def compute(cls, te: TensorLanguage, tensors: Sequence[Any], attributes: dict[str, Any]) -> Any:
        dtype, k = attributes["dtype"], attributes["k"]

        def element(row: Any, column: Any) -> Any:
            return te.EQ(column, row + k).astype(dtype)

        return te.compute(cls.sizes(attributes), element, name="T_eye")

    @classmethod
    def reference(cls, arrays: Sequence[NDArray[Any]], attributes: dict[str, Any]) -> NDArray[Any]:
        return np.eye(*cls.sizes(attributes), attributes["k"])


@irdl_op_definition
class OneHotOp(OperatorOp):
    """`on_value` at the index along a new `axis` of size `depth`, `off_value` elsewhere.

    By default, `dtype` is that of `on_value`, such as ``T.int32(1)``; Python's numbers are int64,
    or float32 if one is a float. `torch.nn.functional.one_hot`. An index outside of ``[0, depth)``
    selects no element.
    """

    name = "relax.one_hot"
    ORDER: ClassVar[tuple[str, ...]] = (
        "indices",
        "on_value",
        "off_value",
        "depth",
        "axis",
        "dtype",
    )
    indices = operand_def(TensorType)
    on_value = opt_prop_def(Number(default=1))
    off_value = opt_prop_def(Number(default=0))
    depth = opt_prop_def(Int())
    axis = opt_prop_def(Int(default=-1))
    dtype = opt_prop_def(DType(default=None))
    assembly_format = "$indices attr-dict `:` type($indices) `->` type($result)"

    @classmethod
    def encode(cls, attributes: Mapping[str, Any]) -> dict[str, Attribute]:
        dtypes = [dtype_of_number(attributes.get(n)) for n in ("on_value", "off_value")]
        if attributes.get("dtype") is None and dtypes[0] is not None:
            if dtypes[1] not in (None, dtypes[0]):
                raise ValueError(
                    f"expected on_value and off_value of '{cls.name}' to have one dtype, "
                    f"got {dtypes[0]} and {dtypes[1]}"
                )
            attributes = {**attributes, "dtype": dtypes[0]}
        return super().encode(attributes)

    @staticmethod
    def result_dtype(attributes: Mapping[str, Any]) -> str:
        """The dtype of the result."""
        floats = any(isinstance(attributes[n], float) for n in ("on_value", "off_value"))
        return attributes["dtype"] or ("float32" if floats else "int64")

    @classmethod
    def infer(cls, operands: Sequence[TensorType], attributes: dict[str, Any]) -> TensorType:
        require_dtype(cls.name, operands, *INTEGERS)
        (indices,), depth = operands, attributes["depth"]
        if depth < 0:
            raise ValueError(f"expected depth of '{cls.name}' to be at least 0, got {depth}")
        element = element_type(cls.result_dtype(attributes))
        if indices.rank is None:
            return TensorType.of(None, element)
        axis = normalize_axis(cls.name, attributes["axis"], indices.rank + 1)
        if indices.dims is None:
            return TensorType.of(None, element, indices.rank + 1)
        dims = indices.dims
        return TensorType.of([*dims[:axis], depth, *dims[axis:]], element)

    @classmethod
    def compute(cls, te: TensorLanguage, tensors: Sequence[Any], attributes: dict[str, Any]) -> Any:
        (indices,) = tensors
        dtype = cls.result_dtype(attributes)
        axis = normalize_axis(cls.name, attributes["axis"], indices.ndim + 1)
        on, off = (te.const(attributes[n], dtype) for n in ("on_value", "off_value"))

        def element(*i: Any) -> Any:
            index = te.cast("int64", indices(*i[:axis], *i[axis + 1 :]))
            return te.Select(te.EQ(index, te.cast("int64", i[axis])), on, off)

        shape = [*indices.shape[:axis], attributes["depth"], *indices.shape[axis:]]
        return te.compute(shape, element, name="T_one_hot")

    @classmethod
    def reference(cls, arrays: Sequence[NDArray[Any]], attributes: dict[str, Any]) -> NDArray[Any]:
        rank = arrays[0].ndim + 1
        axis = normalize_axis(cls.name, attributes["axis"], rank)
        depth: int = attributes["depth"]
        places = np.arange(depth).reshape([-1] + [1] * (rank - 1 - axis))
        is_on = np.expand_dims(arrays[0], axis) == places
        on, off = (np.asarray(attributes[n]) for n in ("on_value", "off_value"))
        return np.where(is_on, on, off)
