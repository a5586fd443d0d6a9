"""Max and average pools over windows of one to three spatial dims."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from xdsl.ir import Attribute
from xdsl.irdl import irdl_op_definition, opt_prop_def

from ...dtypes import is_float
from ...int_expr import IntExpr
from ..types import TensorType
from .attributes import Int
from .base import ResultType, UnaryOp
from .conversion import accumulator, rounded, wide
from .elementwise import FLOATS, NUMBERS, Dtypes, truncated_quotient
from .inference import require_dtype, require_rank
from .language import TensorLanguage
from .layouts import AnyLayouts
from .pool_attributes import OneDimWindows, ThreeDimWindows, TwoDimWindows
from .pool_windows import MovingWindows, PoolWindows
from .windows import (
    all_of,
    expressions,
    in_order,
    spatial_ints,
    window_slices,
    windows_of,
    without_same_layout,
)


class PoolOp(UnaryOp, ABC):
    """An operator that reduces each window of the spatial dims to one element."""

    DTYPES: ClassVar[Dtypes] = FLOATS
    SPATIAL: ClassVar[str]
    """The letters of the spatial dims."""
    PREFIX: ClassVar[str] = "pool"
    """What the names of the blocks start with."""

    @classmethod
    def encode(cls, attributes: Mapping[str, Any]) -> dict[str, Attribute]:
        return without_same_layout(super().encode(attributes), cls, "layout")

    @classmethod
    def layouts(cls, attributes: dict[str, Any]) -> tuple[str, str]:
        """The layouts of data and result."""
        return attributes["layout"], attributes["out_layout"] or attributes["layout"]

    @classmethod
    @abstractmethod
    def windows(cls, attributes: dict[str, Any]) -> Sequence[PoolWindows]:
        """The windows over each spatial dim; raises ValueError for wrong attributes."""

    @classmethod
    def counts(cls, spatial: Sequence[IntExpr], attributes: dict[str, Any]) -> list[IntExpr]:
        """The number of windows of each spatial dim; raises ValueError if there is none."""
        return [w.count(d) for w, d in zip(cls.windows(attributes), spatial, strict=True)]

    @classmethod
    def infer(cls, operands: Sequence[TensorType], attributes: dict[str, Any]) -> ResultType:
        (data,) = operands
        require_dtype(cls.name, operands, *cls.DTYPES)
        require_rank(cls.name, "data", data, 2 + len(cls.SPATIAL))
        cls.windows(attributes)
        layout, out_layout = cls.layouts(attributes)
        if data.dims is None:
            return TensorType.of(None, data.known_element, 2 + len(cls.SPATIAL))
        wanted = f"NC{cls.SPATIAL}"
        batch, channels, *spatial = in_order(data.dims, layout, wanted)
        dims = [batch, channels, *cls.counts(spatial, attributes)]
        return TensorType.of(in_order(dims, wanted, out_layout), data.known_element)

    @classmethod
    def pool(
        cls, te: TensorLanguage, data: Any, attributes: dict[str, Any], reduce: Any, name: str
    ) -> Any:
        """Reduce each window of the data by `reduce`, which is `largest` or `total`."""
        layout, out_layout = cls.layouts(attributes)
        dims = dict(zip(layout, expressions(te, data, layout, layout), strict=True))
        windows = dict(zip(cls.SPATIAL, cls.windows(attributes), strict=True))
        shape = dims | {s: w.count(dims[s]) for s, w in windows.items()}
        extents = te.tensor.shape_of([w.extent(dims[s]) for s, w in windows.items()])
        axes = [te.reduce_axis((0, e), f"r{s}") for s, e in zip(cls.SPATIAL, extents, strict=True)]

        def element(*i: Any) -> Any:
            at, inside = dict(zip(out_layout, i, strict=True)), list[Any]()
            for (letter, w), axis in zip(windows.items(), axes, strict=True):
                at[letter], conditions = w.read(te, at[letter], axis, dims[letter])
                inside += conditions
            return reduce(te, data(*(at[c] for c in layout)), axes, inside)

        return te.compute(
            te.tensor.shape_of([shape[c] for c in out_layout]), element, name=f"{cls.PREFIX}_{name}"
        )

    @classmethod
    def numpy_windows(
        cls, array: NDArray[Any], attributes: dict[str, Any]
    ) -> tuple[NDArray[Any], list[int]]:
        """The array with dims ``(N, C, spatial…)``, and the windows along each spatial dim."""
        layout, _ = cls.layouts(attributes)
        first = array.transpose(in_order(range(array.ndim), layout, f"NC{cls.SPATIAL}"))
        counts = cls.counts([IntExpr.of(d) for d in first.shape[2:]], attributes)
        return first, [c.constant or 0 for c in counts]

    @classmethod
    def in_out_layout(cls, array: NDArray[Any], attributes: dict[str, Any]) -> NDArray[Any]:
        """Permute an array of dims ``(N, C, spatial…)`` to the layout of the result."""
        _, out_layout = cls.layouts(attributes)
        return array.transpose(in_order(range(array.ndim), f"NC{cls.SPATIAL}", out_layout))


class LargestOfWindows(PoolOp, ABC):
    """A max pool; padding is never the largest element."""

    @classmethod
    def compute(cls, te: TensorLanguage, tensors: Sequence[Any], attributes: dict[str, Any]) -> Any:
        (data,) = tensors
        return rounded(te, cls.pool(te, data, attributes, _largest, "max"), data.dtype)


class MeanOfWindows(PoolOp, ABC):
    """An average pool; means of integers are rounded towards 0."""

    DTYPES: ClassVar[Dtypes] = NUMBERS

    @classmethod
    def compute(cls, te: TensorLanguage, tensors: Sequence[Any], attributes: dict[str, Any]) -> Any:
        (data,) = tensors
        layout, out_layout = cls.layouts(attributes)
        spatial = expressions(te, data, layout, cls.SPATIAL)
        sums = cls.pool(te, data, attributes, _total, "sum")

        def mean(*i: Any) -> Any:
            taps: Any = cls.divisor(attributes) or 1
            at = in_order(i, out_layout, cls.SPATIAL)
            if cls.divisor(attributes) is None:
                for w, o, d in zip(cls.windows(attributes), at, spatial, strict=True):
                    taps = taps * w.taps(te, o, d)
            count = te.const(taps, sums.dtype) if isinstance(taps, int) else taps.astype(sums.dtype)
            total = sums(*i)
            found = total / count if is_float(data.dtype) else te.truncdiv(total, count)
            return found.astype(data.dtype)

        return te.compute(sums.shape, mean, name=f"{cls.PREFIX}_avg")

    @classmethod
    def divisor(cls, attributes: dict[str, Any]) -> int | None:
        """The divisor of all sums; by default each is divided by the number of its elements."""
        return None


def _largest(te: TensorLanguage, element: Any, axes: Sequence[Any], inside: Sequence[Any]) -> Any:
    dtype = accumulator(element.dtype)
    lowest = float("-inf") if is_float(dtype) else int(np.iinfo(dtype).min)
    return te.max(_guarded(te, element.astype(dtype), inside, lowest), axis=list(axes))


def _total(te: TensorLanguage, element: Any, axes: Sequence[Any], inside: Sequence[Any]) -> Any:
    value = element.astype(accumulator(element.dtype) if is_float(element.dtype) else "int64")
    return te.sum(_guarded(te, value, inside, 0), axis=list(axes))


def _guarded(te: TensorLanguage, value: Any, inside: Sequence[Any], outside: Any) -> Any:
    if not inside:
        return value
    return te.if_then_else(all_of(inside), value, te.const(outside, value.dtype))


def wide_sums(array: NDArray[Any]) -> NDArray[Any]:
    """An array in the dtype of its sums."""
    return array.astype(np.int64) if array.dtype.kind in "iu" else wide(array)


def numpy_mean(total: Any, count: Any) -> NDArray[Any]:
    """The means for sums in their dtype, rounded towards 0 for integers."""
    if total.dtype.kind == "f":
        return (total / count).astype(total.dtype)
    return truncated_quotient(total, count)


class WindowPoolOp(PoolOp, ABC):
    """A pool whose windows have equal sizes."""

    @classmethod
    def windows(cls, attributes: dict[str, Any]) -> tuple[MovingWindows, ...]:
        rank = len(cls.SPATIAL)
        sizes = spatial_ints(cls.name, "pool_size", attributes["pool_size"], rank, 1)
        windows = windows_of(cls.name, [IntExpr.of(s) for s in sizes], attributes)
        options = attributes["ceil_mode"], attributes["count_include_pad"]
        return tuple(MovingWindows(cls.name, w, *options) for w in windows)

    @classmethod
    def require_elements(cls, attributes: dict[str, Any]) -> None:
        """Raise ValueError if there may be windows in the padding alone."""
        for window in cls.windows(attributes):
            if not window.window.has_elements:
                raise ValueError(
                    f"expected padding of '{cls.name}' to be less than a window of "
                    f"{window.window.reach}, got {attributes['padding']}"
                )

    @classmethod
    def seen(
        cls, data: NDArray[Any], attributes: dict[str, Any], value: Any
    ) -> Iterator[NDArray[Any]]:
        """For each offset in the windows, the elements there, in the layout of the result."""
        first, counts = cls.numpy_windows(data, attributes)
        windows = [w.window for w in cls.windows(attributes)]
        for _, elements in window_slices(first, windows, counts, value):
            yield cls.in_out_layout(elements, attributes)


class MaxPoolOp(LargestOfWindows, WindowPoolOp, ABC):
    """The largest element of each window, the least number for a window of padding alone."""

    DTYPES: ClassVar[Dtypes] = NUMBERS

    @classmethod
    def reference(cls, arrays: Sequence[NDArray[Any]], attributes: dict[str, Any]) -> NDArray[Any]:
        dtype = arrays[0].dtype
        lowest = -np.inf if dtype.kind == "f" else np.iinfo(dtype).min
        return np.maximum.reduce(list(cls.seen(arrays[0], attributes, lowest)))


class AvgPoolOp(MeanOfWindows, WindowPoolOp, ABC):
    """The mean of each window, with or without its padding; or its sum by `divisor_override`.

    The mean of a window of padding alone is 0.
    """

    divisor_override = opt_prop_def(Int(default=None))

    @classmethod
    def infer(cls, operands: Sequence[TensorType], attributes: dict[str, Any]) -> ResultType:
        if cls.divisor(attributes) == 0:
            raise ValueError(f"expected divisor_override of '{cls.name}' other than 0, got 0")
        return super().infer(operands, attributes)

    @classmethod
    def divisor(cls, attributes: dict[str, Any]) -> int | None:
        return attributes["divisor_override"]

    @classmethod
    def reference(cls, arrays: Sequence[NDArray[Any]], attributes: dict[str, Any]) -> NDArray[Any]:
        data = wide_sums(arrays[0])
        first, counts = cls.numpy_windows(data, attributes)
        own = map(MovingWindows.numpy_taps, cls.windows(attributes), counts, first.shape[2:])
        taps = np.prod(np.meshgrid(*own, indexing="ij"), axis=0)
        total = sum(cls.seen(data, attributes, 0))
        if (divisor := cls.divisor(attributes)) is not None:
            taps = np.full_like(taps, divisor)
        return numpy_mean(total, cls.in_out_layout(taps[None, None], attributes))


@irdl_op_definition
class MaxPool1dOp(AnyLayouts, OneDimWindows, MaxPoolOp):
    """The largest element of windows over one dim; `torch.nn.functional.max_pool1d`."""

    name = "relax.nn.max_pool1d"


@irdl_op_definition
class MaxPool2dOp(AnyLayouts, TwoDimWindows, MaxPoolOp):
    """The largest element of windows over two dims; `torch.nn.functional.max_pool2d`."""

    name = "relax.nn.max_pool2d"


@irdl_op_definition
class MaxPool3dOp(AnyLayouts, ThreeDimWindows, MaxPoolOp):
    """The largest element of windows over three dims; `torch.nn.functional.max_pool3d`."""

    name = "relax.nn.max_pool3d"


@irdl_op_definition
class AvgPool1dOp(AnyLayouts, OneDimWindows, AvgPoolOp):
    """The mean of windows over one dim; `torch.nn.functional.avg_pool1d`."""

    name = "relax.nn.avg_pool1d"


@irdl_op_definition
class AvgPool2dOp(AnyLayouts, TwoDimWindows, AvgPoolOp):
    """The mean of windows over two dims; `torch.nn.functional.avg_pool2d`."""

    name = "relax.nn.avg_pool2d"


@irdl_op_definition
class AvgPool3dOp(AnyLayouts, ThreeDimWindows, AvgPoolOp):
    """The mean of windows over three dims; `torch.nn.functional.avg_pool3d`."""

    name = "relax.nn.avg_pool3d"
