"""Slices whose bounds are tensors: dynamic_strided_slice, and the lengths of such slices."""

from __future__ import annotations

from abc import ABC
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from xdsl.dialects.builtin import i64
from xdsl.irdl import irdl_op_definition, operand_def, opt_prop_def

from ...int_expr import IntExpr
from ..types import TensorType
from .attributes import Exprs
from .base import OperatorOp
from .creation import require_sizes
from .inference import require_dtype, require_rank
from .language import TensorLanguage


class DynamicSliceOp(OperatorOp, ABC):
    """``x[begin:end:stride]`` with a begin, end and stride for each axis in int64 vectors."""

    x = operand_def(TensorType)
    begin = operand_def(TensorType)
    end = operand_def(TensorType)
    strides = operand_def(TensorType)
    assembly_format = (
        "$x `,` $begin `,` $end `,` $strides attr-dict `:` type($x) `,` type($begin) `,` "
        "type($end) `,` type($strides) `->` type($result)"
    )

    @classmethod
    def verify_bounds(cls, operands: Sequence[TensorType]) -> None:
        """Raise ValueError unless the bounds are int64 vectors with a number for each axis."""
        x, *bounds = operands
        require_dtype(cls.name, bounds, lambda dtype: dtype == "int64", "int64 but for x")
        for subject, bound in zip(("begin", "end", "strides"), bounds, strict=True):
            require_rank(cls.name, subject, bound, 1)
            if x.rank is None or bound.dims is None:
                continue
            if (count := bound.dims[0].constant) is not None and count != x.rank:
                raise ValueError(
                    f"expected {subject} of '{cls.name}' to have {x.rank} numbers, got {count}"
                )


def _range(te: TensorLanguage, tensors: Sequence[Any], axis: Any, dim: Any) -> tuple[Any, Any, Any]:
    """The first element along an axis, the number of elements, and the stride; `numpy.s_`."""
    begin, end, step = (bound(axis) for bound in tensors[1:])
    dim = te.cast("int64", dim)
    zero, one = te.const(0, "int64"), te.const(1, "int64")
    low, high = te.select(step > 0, zero, zero - 1), te.select(step > 0, dim, dim - 1)
    first, last = (te.max(te.min(te.select(e < 0, e + dim, e), high), low) for e in (begin, end))
    count = (last - first - te.select(step > 0, one, zero - 1)) // step + 1
    return first, te.select(step == 0, zero, te.max(count, zero)), step


def _numpy_ranges(arrays: Sequence[NDArray[Any]]) -> list[range]:
    """The places of elements along each axis; none for a stride of 0."""
    x, *bounds = arrays
    slices = zip(x.shape, *(map(int, b) for b in bounds), strict=True)
    return [range(*slice(b, e, s).indices(d)) if s else range(0) for d, b, e, s in slices]


@irdl_op_definition
class DynamicStridedSliceOp(DynamicSliceOp):
    """``x[begin:end:stride]``, whose bounds are int64 vectors with a number for each axis.

    They mean what they mean in Python; a stride of 0 selects nothing. The dims depend on data: they
    are unknown until a pass computes them. With `size` they are given, and elements that are not in
    `x` are 0.
    """

    name = "relax.dynamic_strided_slice"
    size = opt_prop_def(Exprs(default=None))

    @classmethod
    def infer(cls, operands: Sequence[TensorType], attributes: dict[str, Any]) -> TensorType:
        cls.verify_bounds(operands)
        x, size = operands[0], attributes["size"]
        if size is None:
            return TensorType.of(None, x.known_element, x.rank)
        require_sizes(cls.name, size)
        if x.rank not in (None, len(size)):
            raise ValueError(
                f"expected size of '{cls.name}' to have {x.rank} dims, got {len(size)}"
            )
        return TensorType.of(size, x.known_element)

    @classmethod
    def compute(cls, te: TensorLanguage, tensors: Sequence[Any], attributes: dict[str, Any]) -> Any:
        x, size = tensors[0], attributes["size"]
        if size is None:
            raise ValueError(f"expected size of '{cls.name}', got none")

        def element(*i: Any) -> Any:
            places: list[Any] = []
            inside = te.const(True, "bool")
            for axis, (dim, index) in enumerate(zip(x.shape, i, strict=True)):
                first, _, step = _range(te, tensors, axis, dim)
                place = first + te.cast("int64", index) * step
                inside = inside & (place >= 0) & (place < dim) & (step != 0)
                places.append(place)
            return te.if_then_else(inside, x(*places), te.const(0, x.dtype))

        return te.compute(size, element, name="T_dynamic_strided_slice")

    @classmethod
    def reference(cls, arrays: Sequence[NDArray[Any]], attributes: dict[str, Any]) -> NDArray[Any]:
        x, found, size = arrays[0], _numpy_ranges(arrays), attributes["size"]
        if size is None:
            return x[np.ix_(*found)]
        result = np.zeros(size, x.dtype)
        sources: list[NDArray[Any]] = []
        targets: list[NDArray[Any]] = []
        for places, count, step, dim in zip(found, size, arrays[3], x.shape, strict=True):
            steps: NDArray[Any] = np.arange(count, dtype=np.int64)
            source: NDArray[Any] = places.start + steps * int(step)
            held: NDArray[Any] = (source >= 0) & (source < dim) & bool(step)
            sources.append(source[held])
            targets.append(held)
        result[np.ix_(*targets)] = x[np.ix_(*sources)]
        return result


@irdl_op_definition
class DynamicStridedSliceLengthsOp(DynamicSliceOp):
    """The dims of a `dynamic_strided_slice` with the same operands, as an int64 vector."""

    name = "relax.dynamic_strided_slice_lengths"

    @classmethod
    def infer(cls, operands: Sequence[TensorType], attributes: dict[str, Any]) -> TensorType:
        cls.verify_bounds(operands)
        rank = operands[0].rank
        return TensorType.of(None if rank is None else [IntExpr.of(rank)], i64, 1)

    @classmethod
    def compute(cls, te: TensorLanguage, tensors: Sequence[Any], attributes: dict[str, Any]) -> Any:
        x = tensors[0]

        def element(i: Any) -> Any:
            dim = te.const(0, "int64")
            for axis, size in enumerate(x.shape):
                dim = te.select(i == axis, te.cast("int64", size), dim)
            return _range(te, tensors, i, dim)[1]

        return te.compute((x.ndim,), element, name="T_dynamic_strided_slice_lengths")

    @classmethod
    def reference(cls, arrays: Sequence[NDArray[Any]], attributes: dict[str, Any]) -> NDArray[Any]:
        return np.array([len(r) for r in _numpy_ranges(arrays)], np.int64)
