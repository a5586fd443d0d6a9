"""Reductions over axes: sums, products, maxima and minima, any and all."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from xdsl.irdl import irdl_op_definition, operand_def, opt_prop_def

from ...dtypes import element_type
from ...int_expr import ONE
from ..types import TensorType, shape_text
from .attributes import Bool, DType, Ints
from .base import OperatorOp
from .conversion import accumulator, elements_of_total, rounded, total_dtype, wide
from .elementwise import ANY, NUMBERS, Dtypes, short_name
from .inference import normalize_axes, require_dtype
from .language import TensorLanguage


def reduced_shape(
    op_name: str, x: TensorType, axis: Sequence[int] | None, keepdims: bool
) -> TensorType:
    """`x` without the reduced axes, or with dims of 1 in their place.

    Raises ValueError for axes that are out of range.
    """
    if x.rank is None:
        return TensorType.of([], x.known_element) if axis is None and not keepdims else x
    axes = normalize_axes(op_name, axis, x.rank)
    if x.dims is None:
        if keepdims and len(axes) == x.rank:
            return TensorType.of([ONE] * x.rank, x.known_element)
        return TensorType.of(None, x.known_element, x.rank if keepdims else x.rank - len(axes))
    dims = [ONE if i in axes else d for i, d in enumerate(x.dims) if keepdims or i not in axes]
    return TensorType.of(dims, x.known_element)


def reduced(
    te: TensorLanguage,
    x: Any,
    axes: Sequence[int],
    keepdims: bool,
    element: Callable[[Any, list[Any], tuple[Any, ...]], Any],
    name: str,
) -> Any:
    """The tensor of ``element(read, ks, i)`` over the remaining dims.

    `ks` are the reduction axes. ``read(tensor)`` is the element of `x`, or of a tensor like it, at
    `ks` and at the result's indices `i`, which omit reduced dims that are kept; ``read(tensor, 0)``
    is the first of the reduced elements.
    """
    ks = [te.reduce_axis((0, x.shape[a]), name=f"k{a}") for a in axes]
    shape = [1 if i in axes else d for i, d in enumerate(x.shape) if keepdims or i not in axes]

    def at(*i: Any) -> Any:
        kept = [v for n, v in enumerate(i) if not (keepdims and n in axes)]
        over = dict(zip(axes, ks, strict=True))

        def read(tensor: Any, at: int | None = None) -> Any:
            left = iter(kept)
            place = {n: k if at is None else at for n, k in over.items()}
            return tensor(*(place[n] if n in place else next(left) for n in range(x.ndim)))

        return element(read, ks, tuple(kept))

    return te.compute(shape, at, name=name)


def number_of_elements(te: TensorLanguage, x: Any, axes: Sequence[int]) -> Any:
    """The number of reduced elements: an int or an expression."""
    count: Any = 1
    for axis in axes:
        count = count * x.shape[axis]
    return count


class ReductionOp(OperatorOp, ABC):
    """A reduction over `axis`, by default all axes, which are dropped unless `keepdims`.

    Sums in half precision are computed in float32 and rounded once.
    """

    DTYPES: ClassVar[Dtypes] = NUMBERS

    x = operand_def(TensorType)
    assembly_format = "$x attr-dict `:` type($x) `->` type($result)"

    @classmethod
    def result_dtype(cls, dtype: str, attributes: dict[str, Any]) -> str:
        """The dtype of the result for an operand of `dtype`."""
        return dtype

    @classmethod
    @abstractmethod
    def reduce(
        cls, te: TensorLanguage, x: Any, axes: tuple[int, ...], attributes: dict[str, Any]
    ) -> Any:
        """The reduced tensor, before it is rounded to the result's dtype."""

    @classmethod
    @abstractmethod
    def numpy_function(cls, x: NDArray[Any], attributes: dict[str, Any], **options: Any) -> Any:
        """The reduction in NumPy; `options` are `axis` and `keepdims`."""

    @classmethod
    def infer(cls, operands: Sequence[TensorType], attributes: dict[str, Any]) -> TensorType:
        require_dtype(cls.name, operands, *cls.DTYPES)
        (x,) = operands
        shape = reduced_shape(cls.name, x, attributes["axis"], attributes["keepdims"]).shape
        if x.dtype is None:
            return TensorType(shape, x.element_type)
        return TensorType(shape, element_type(cls.result_dtype(x.dtype, attributes)))

    @classmethod
    def compute(cls, te: TensorLanguage, tensors: Sequence[Any], attributes: dict[str, Any]) -> Any:
        (x,) = tensors
        axes = normalize_axes(cls.name, attributes["axis"], x.ndim)
        result = cls.reduce(te, x, axes, attributes)
        return rounded(te, result, cls.result_dtype(x.dtype, attributes))

    @classmethod
    def reference(cls, arrays: Sequence[NDArray[Any]], attributes: dict[str, Any]) -> Any:
        axis, keepdims = attributes["axis"], attributes["keepdims"]
        return cls.numpy_function(wide(arrays[0]), attributes, axis=axis, keepdims=keepdims)


class FoldOp(ReductionOp, ABC):
    """A reduction that combines elements with the reducer of `te` of the operator's name."""

    @classmethod
    def element(cls, te: TensorLanguage, x: Any, dtype: str) -> Any:
        """Map an element before it is combined, for a result of `dtype`."""
        return x

    @classmethod
    def reduce(
        cls, te: TensorLanguage, x: Any, axes: tuple[int, ...], attributes: dict[str, Any]
    ) -> Any:
        dtype = cls.result_dtype(x.dtype, attributes)
        reducer = getattr(te, short_name(cls.name))

        def folded(read: Any, ks: Any, i: Any) -> Any:
            value = cls.element(te, read(x), dtype)
            return reducer(value, axis=ks) if ks else value

        return reduced(te, x, axes, attributes["keepdims"], folded, f"{x.name}_red")


class AccumulationOp(FoldOp, ABC):
    """A sum or product. The result has dtype `dtype`, by default that of the operand.

    Elements are converted to it before they are combined. Bools are counted in int64.
    """

    DTYPES: ClassVar[Dtypes] = ANY

    @classmethod
    def result_dtype(cls, dtype: str, attributes: dict[str, Any]) -> str:
        return total_dtype(dtype, attributes["dtype"])

    @classmethod
    def element(cls, te: TensorLanguage, x: Any, dtype: str) -> Any:
        return x.astype(accumulator(dtype))

    @classmethod
    def numpy_function(cls, x: NDArray[Any], attributes: dict[str, Any], **options: Any) -> Any:
        elements = elements_of_total(x, cls.result_dtype(str(x.dtype), attributes))
        return getattr(np, short_name(cls.name))(elements, dtype=elements.dtype, **options)


@irdl_op_definition
class SumOp(AccumulationOp):
    """The sum; `numpy.sum`, `torch.sum`."""

    name = "relax.sum"
    axis = opt_prop_def(Ints(default=None))
    keepdims = opt_prop_def(Bool(default=False))
    dtype = opt_prop_def(DType(default=None))


@irdl_op_definition
class ProdOp(AccumulationOp):
    """The product; `numpy.prod`, `torch.prod`."""

    name = "relax.prod"
    axis = opt_prop_def(Ints(default=None))
    keepdims = opt_prop_def(Bool(default=False))
    dtype = opt_prop_def(DType(default=None))


class ExtremumOp(FoldOp, ABC):
    """The maximum or minimum, NaN if an element is NaN; there must be an element."""

    DTYPES: ClassVar[Dtypes] = ANY

    @classmethod
    def element(cls, te: TensorLanguage, x: Any, dtype: str) -> Any:
        return x.astype(accumulator(dtype))  # the result is not rounded at each step

    @classmethod
    def infer(cls, operands: Sequence[TensorType], attributes: dict[str, Any]) -> TensorType:
        require_elements(cls.name, operands[0], attributes["axis"])
        return super().infer(operands, attributes)

    @classmethod
    def numpy_function(cls, x: NDArray[Any], attributes: dict[str, Any], **options: Any) -> Any:
        is_max = short_name(cls.name) == "max"
        if x.dtype.kind == "f":
            identity: Any = -np.inf if is_max else np.inf
        elif x.dtype.kind == "b":
            identity = not is_max
        else:
            identity = np.iinfo(x.dtype).min if is_max else np.iinfo(x.dtype).max
        return getattr(np, short_name(cls.name))(x, initial=identity, **options)


def require_elements(op_name: str, x: TensorType, axis: Sequence[int] | None) -> None:
    """Raise ValueError for a tensor that provably has no elements along the axes."""
    if x.dims is not None:
        axes = normalize_axes(op_name, axis, len(x.dims))
        if any(x.dims[a].constant == 0 for a in axes):
            raise ValueError(
                f"expected x of '{op_name}' to have elements along its axes, got {shape_text(x)}"
            )


@irdl_op_definition
class MaxOp(ExtremumOp):
    """The maximum, NaN if an element is NaN; `numpy.max`, `torch.amax`."""

    name = "relax.max"
    axis = opt_prop_def(Ints(default=None))
    keepdims = opt_prop_def(Bool(default=False))


@irdl_op_definition
class MinOp(ExtremumOp):
    """The minimum, NaN if an element is NaN; `numpy.min`, `torch.amin`."""

    name = "relax.min"
    axis = opt_prop_def(Ints(default=None))
    keepdims = opt_prop_def(Bool(default=False))


class TruthOp(FoldOp, ABC):
    """A logical reduction; nonzero numbers are true."""

    DTYPES: ClassVar[Dtypes] = ANY

    @classmethod
    def result_dtype(cls, dtype: str, attributes: dict[str, Any]) -> str:
        return "bool"

    @classmethod
    def element(cls, te: TensorLanguage, x: Any, dtype: str) -> Any:
        return te.all(x)

    @classmethod
    def numpy_function(cls, x: NDArray[Any], attributes: dict[str, Any], **options: Any) -> Any:
        return getattr(np, short_name(cls.name))(x, **options)


@irdl_op_definition
class AnyOp(TruthOp):
    """Whether an element is true; `numpy.any`, `torch.any`."""

    name = "relax.any"
    axis = opt_prop_def(Ints(default=None))
    keepdims = opt_prop_def(Bool(default=False))


@irdl_op_definition
class AllOp(TruthOp):
    """Whether all elements are true; `numpy.all`, `torch.all`."""

    name = "relax.all"
    axis = opt_prop_def(Ints(default=None))
    keepdims = opt_prop_def(Bool(default=False))
