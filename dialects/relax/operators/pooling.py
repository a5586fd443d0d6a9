"""Pools over windows of one or two spatial dims: the largest element, or the mean."""

from __future__ import annotations

from abc import ABC
from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from xdsl.irdl import irdl_op_definition, opt_prop_def

from ...dtypes import is_float
from ...int_expr import IntExpr
from ..types import TensorType
from .accumulation import accumulator, rounded, wide
from .attributes import Bool, Ints, Text
from .base import UnaryOp
from .inference import require_dtype, require_floats, require_rank
from .language import TensorLanguage
from .windows import Window, all_of, expressions, in_order, spatial_ints, window_slices, windows_of


def largest(te: TensorLanguage, element: Any, axes: Sequence[Any], is_inside: Sequence[Any]) -> Any:
    """The largest element, over reduction axes, of those that are inside of the data."""
    dtype = accumulator(element.dtype)
    lowest = float("-inf") if is_float(dtype) else int(np.iinfo(dtype).min)
    return te.max(_guarded(te, element.astype(dtype), is_inside, lowest), axis=list(axes))


def total(te: TensorLanguage, element: Any, axes: Sequence[Any], is_inside: Sequence[Any]) -> Any:
    """The sum, over reduction axes, of the elements that are inside of the data."""
    value = element.astype(accumulator(element.dtype))
    return te.sum(_guarded(te, value, is_inside, 0), axis=list(axes))


def _guarded(te: TensorLanguage, value: Any, is_inside: Sequence[Any], outside: Any) -> Any:
    if not is_inside:
        return value
    return te.if_then_else(all_of(is_inside), value, te.const(outside, value.dtype))


def mean_of(te: TensorLanguage, sums: Any, count: Any, dtype: str) -> Any:
    """Sums divided by ``count(*indices)``, in `dtype`."""
    return te.compute(
        sums.shape,
        lambda *i: (sums(*i) / _number(te, count(*i), sums.dtype)).astype(dtype),
        name="avg_pool",
    )


def _number(te: TensorLanguage, value: Any, dtype: str) -> Any:
    return te.const(value, dtype) if isinstance(value, int) else value.astype(dtype)


class WindowPoolOp(UnaryOp, ABC):
    """A pool whose windows all have one size."""

    SPATIAL: ClassVar[str]
    """The letters of the spatial dims."""

    @classmethod
    def layouts(cls, attributes: dict[str, Any]) -> tuple[str, str]:
        """The layouts of data and result."""
        return attributes["layout"], attributes["out_layout"] or attributes["layout"]

    @classmethod
    def windows(cls, attributes: dict[str, Any]) -> tuple[Window, ...]:
        """The windows; raises ValueError for wrong attributes."""
        rank = len(cls.SPATIAL)
        sizes = spatial_ints(cls.name, "pool_size", attributes["pool_size"], rank, 1)
        windows = windows_of(cls.name, [IntExpr.of(s) for s in sizes], attributes)
        for window in windows:
            reach = window.reach.constant or 1
            if max(window.before, window.after) >= reach:
                raise ValueError(
                    f"expected padding of '{cls.name}' to be less than a window of {reach}, "
                    f"got {attributes['padding']}"
                )
        return windows

    @classmethod
    def counts(cls, spatial: Sequence[IntExpr], attributes: dict[str, Any]) -> list[IntExpr]:
        """How many windows each spatial dim has."""
        ceil_mode = attributes["ceil_mode"]
        pairs = zip(cls.windows(attributes), spatial, strict=True)
        return [w.count(cls.name, d, ceil_mode) for w, d in pairs]

    @classmethod
    def infer(cls, operands: Sequence[TensorType], attributes: dict[str, Any]) -> TensorType:
        (data,) = operands
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
        """The reduction of each window of the data, where `reduce` is `largest` or `total`."""
        layout, out_layout = cls.layouts(attributes)
        dims = dict(zip(layout, expressions(te, data, layout, layout), strict=True))
        windows = dict(zip(cls.SPATIAL, cls.windows(attributes), strict=True))
        counts = cls.counts([dims[s] for s in cls.SPATIAL], attributes)
        shape = dims | dict(zip(cls.SPATIAL, counts, strict=True))
        axes = {s: te.reduce_axis((0, w.size.constant), f"r{s}") for s, w in windows.items()}

        def element(*i: Any) -> Any:
            at, inside = dict(zip(out_layout, i, strict=True)), list[Any]()
            for letter, w in windows.items():
                at[letter] = at[letter] * w.stride + axes[letter] * w.dilation - w.before
                inside += [at[letter] >= 0] if w.before else []
                hangs_over = w.hangs_over(shape[letter], dims[letter])
                (length,) = te.tensor.shape_of([dims[letter]])
                inside += [at[letter] < length] if hangs_over else []
            return reduce(te, data(*(at[c] for c in layout)), list(axes.values()), inside)

        return te.compute(te.tensor.shape_of([shape[c] for c in out_layout]), element, name=name)

    @classmethod
    def seen(cls, data: NDArray[Any], attributes: dict[str, Any], value: Any) -> Any:
        """The elements of each offset of the windows, as arrays of the result's layout."""
        layout, out_layout = cls.layouts(attributes)
        first = data.transpose(in_order(range(data.ndim), layout, f"NC{cls.SPATIAL}"))
        found = cls.counts([IntExpr.of(d) for d in first.shape[2:]], attributes)
        windows, counts = cls.windows(attributes), [c.constant or 0 for c in found]
        back = in_order(range(data.ndim), f"NC{cls.SPATIAL}", out_layout)
        for _, elements in window_slices(first, windows, counts, value):
            yield elements.transpose(back)


class MaxPoolOp(WindowPoolOp, ABC):
    """The largest element of each window; padding is never the largest."""

    @classmethod
    def infer(cls, operands: Sequence[TensorType], attributes: dict[str, Any]) -> TensorType:
        require_dtype(cls.name, operands, lambda dtype: dtype != "bool", "numbers")
        return super().infer(operands, attributes)

    @classmethod
    def compute(cls, te: TensorLanguage, tensors: Sequence[Any], attributes: dict[str, Any]) -> Any:
        (data,) = tensors
        return rounded(te, cls.pool(te, data, attributes, largest, "max_pool"), data.dtype)

    @classmethod
    def reference(cls, arrays: Sequence[NDArray[Any]], attributes: dict[str, Any]) -> NDArray[Any]:
        dtype = arrays[0].dtype
        lowest = -np.inf if dtype.kind == "f" else np.iinfo(dtype).min
        return np.maximum.reduce(list(cls.seen(arrays[0], attributes, lowest)))


class AvgPoolOp(WindowPoolOp, ABC):
    """The mean of each window, with or without the padding that it covers."""

    @classmethod
    def infer(cls, operands: Sequence[TensorType], attributes: dict[str, Any]) -> TensorType:
        require_floats(cls.name, operands)
        return super().infer(operands, attributes)

    @classmethod
    def compute(cls, te: TensorLanguage, tensors: Sequence[Any], attributes: dict[str, Any]) -> Any:
        (data,) = tensors
        layout, out_layout = cls.layouts(attributes)
        spatial = expressions(te, data, layout, cls.SPATIAL)
        counts = cls.counts(spatial, attributes)
        padded = attributes["count_include_pad"]

        def count(*i: Any) -> Any:
            taps: Any = 1
            at = in_order(i, out_layout, cls.SPATIAL)
            for o, w, c, d in zip(at, cls.windows(attributes), counts, spatial, strict=True):
                taps = taps * _taps(te, o, w, c, d, padded)
            return taps

        sums = cls.pool(te, data, attributes, total, "pool_sum")
        return mean_of(te, sums, count, data.dtype)

    @classmethod
    def reference(cls, arrays: Sequence[NDArray[Any]], attributes: dict[str, Any]) -> NDArray[Any]:
        data = wide(arrays[0])
        layout, out_layout = cls.layouts(attributes)
        lengths = in_order(data.shape, layout, cls.SPATIAL)
        counts = cls.counts([IntExpr.of(d) for d in lengths], attributes)
        taps = np.ones([1] * data.ndim, data.dtype)
        for letter, w, c, d in zip(
            cls.SPATIAL, cls.windows(attributes), counts, lengths, strict=True
        ):
            own = _counted(w, c.constant or 0, d, attributes["count_include_pad"])
            taps = taps * own.reshape([-1 if x == letter else 1 for x in out_layout])
        return (sum(cls.seen(data, attributes, 0)) / taps).astype(data.dtype)


def _counted(window: Window, count: int, length: int, padded: bool) -> NDArray[Any]:
    """How many elements of each window lie in the data, or in the data and padding."""
    size = window.size.constant or 1
    first = np.arange(count)[:, None] * window.stride - window.before
    at = first + np.arange(size) * window.dilation
    inside = at < length + window.after if padded else (at >= 0) & (at < length)
    return inside.sum(axis=1)


def _taps(
    te: TensorLanguage, at: Any, window: Window, count: IntExpr, length: IntExpr, padded: bool
) -> Any:
    """`_counted` of window number `at` as an expression."""
    size, step = window.size.constant or 1, window.dilation
    start = at * window.stride - window.before
    reached = length + window.after if padded else length
    (end,) = te.tensor.shape_of([reached + (step - 1)])
    taps: Any = size
    if window.hangs_over(count, reached):
        taps = te.min((end - start) // step, taps)
    if window.before and not padded:
        taps = taps - te.max((step - 1 - start) // step, 0)
    return taps


@irdl_op_definition
class MaxPool1dOp(MaxPoolOp):
    """The largest element of windows over one dim; `torch.nn.functional.max_pool1d`."""

    name = "relax.nn.max_pool1d"
    SPATIAL: ClassVar[str] = "W"
    pool_size = opt_prop_def(Ints(default=(1,)))
    strides = opt_prop_def(Ints(default=(1,)))
    padding = opt_prop_def(Ints(default=(0, 0)))
    dilation = opt_prop_def(Ints(default=(1,)))
    ceil_mode = opt_prop_def(Bool(default=False))
    count_include_pad = opt_prop_def(Bool(default=False))
    layout = opt_prop_def(Text(default="NCW", choices=("NCW", "NWC")))
    out_layout = opt_prop_def(Text(default=None, choices=("NCW", "NWC")))


@irdl_op_definition
class MaxPool2dOp(MaxPoolOp):
    """The largest element of windows over two dims; `torch.nn.functional.max_pool2d`."""

    name = "relax.nn.max_pool2d"
    SPATIAL: ClassVar[str] = "HW"
    pool_size = opt_prop_def(Ints(default=(1, 1)))
    strides = opt_prop_def(Ints(default=(1, 1)))
    padding = opt_prop_def(Ints(default=(0, 0)))
    dilation = opt_prop_def(Ints(default=(1, 1)))
    ceil_mode = opt_prop_def(Bool(default=False))
    count_include_pad = opt_prop_def(Bool(default=False))
    layout = opt_prop_def(Text(default="NCHW", choices=("NCHW", "NHWC")))
    out_layout = opt_prop_def(Text(default=None, choices=("NCHW", "NHWC")))


@irdl_op_definition
class AvgPool1dOp(AvgPoolOp):
    """The mean of windows over one dim; `torch.nn.functional.avg_pool1d`."""

    name = "relax.nn.avg_pool1d"
    SPATIAL: ClassVar[str] = "W"
    pool_size = opt_prop_def(Ints(default=(1,)))
    strides = opt_prop_def(Ints(default=(1,)))
    padding = opt_prop_def(Ints(default=(0, 0)))
    dilation = opt_prop_def(Ints(default=(1,)))
    ceil_mode = opt_prop_def(Bool(default=False))
    count_include_pad = opt_prop_def(Bool(default=False))
    layout = opt_prop_def(Text(default="NCW", choices=("NCW", "NWC")))
    out_layout = opt_prop_def(Text(default=None, choices=("NCW", "NWC")))


@irdl_op_definition
class AvgPool2dOp(AvgPoolOp):
    """The mean of windows over two dims; `torch.nn.functional.avg_pool2d`."""

    name = "relax.nn.avg_pool2d"
    SPATIAL: ClassVar[str] = "HW"
    pool_size = opt_prop_def(Ints(default=(1, 1)))
    strides = opt_prop_def(Ints(default=(1, 1)))
    padding = opt_prop_def(Ints(default=(0, 0)))
    dilation = opt_prop_def(Ints(default=(1, 1)))
    ceil_mode = opt_prop_def(Bool(default=False))
    count_include_pad = opt_prop_def(Bool(default=False))
    layout = opt_prop_def(Text(default="NCHW", choices=("NCHW", "NHWC")))
    out_layout = opt_prop_def(Text(default=None, choices=("NCHW", "NHWC")))
