"""Pools with a given number of windows, which share the spatial dims as evenly as possible."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from xdsl.irdl import irdl_op_definition, opt_prop_def

from ...int_expr import IntExpr
from ..types import TensorType
from .accumulation import rounded, wide
from .attributes import Ints, Text
from .base import UnaryOp
from .inference import divides, require_floats, require_rank
from .language import TensorLanguage
from .pooling import largest, mean_of, total
from .windows import expressions, in_order, spatial_ints


class AdaptivePoolOp(UnaryOp, ABC):
    """A pool into `output_size` windows; of n the i-th is ``[i * d // n, ceil((i + 1) * d / n))``.

    Without `output_size` the result is as large as the data.
    """

    SPATIAL: ClassVar[str]
    """The letters of the spatial dims."""

    @classmethod
    def layouts(cls, attributes: dict[str, Any]) -> tuple[str, str]:
        """The layouts of data and result."""
        return attributes["layout"], attributes["out_layout"] or attributes["layout"]

    @classmethod
    def counts(cls, spatial: Sequence[IntExpr], attributes: dict[str, Any]) -> list[IntExpr]:
        """How many windows each spatial dim has; raises ValueError for a wrong `output_size`."""
        given = attributes["output_size"]
        if given is None:
            return list(spatial)
        sizes = spatial_ints(cls.name, "output_size", given, len(cls.SPATIAL), 1)
        return [IntExpr.of(s) for s in sizes]

    @classmethod
    def infer(cls, operands: Sequence[TensorType], attributes: dict[str, Any]) -> TensorType:
        (data,) = operands
        require_floats(cls.name, operands)
        require_rank(cls.name, "data", data, 2 + len(cls.SPATIAL))
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
        counts = cls.counts([dims[s] for s in cls.SPATIAL], attributes)
        shape = dims | dict(zip(cls.SPATIAL, counts, strict=True))
        axes = {
            s: te.reduce_axis((0, *te.tensor.shape_of([longest(dims[s], shape[s])])), f"r{s}")
            for s in cls.SPATIAL
        }

        def element(*i: Any) -> Any:
            at, inside = dict(zip(out_layout, i, strict=True)), list[Any]()
            for letter in cls.SPATIAL:
                start, size = _window(te, at[letter], dims[letter], shape[letter])
                inside += [] if divides(shape[letter], dims[letter]) else [axes[letter] < size]
                at[letter] = start + axes[letter]
            return reduce(te, data(*(at[c] for c in layout)), list(axes.values()), inside)

        return te.compute(te.tensor.shape_of([shape[c] for c in out_layout]), element, name=name)

    @classmethod
    @abstractmethod
    def numpy_function(cls, window: NDArray[Any], axes: tuple[int, ...]) -> NDArray[Any]:
        """The result of one window in NumPy."""

    @classmethod
    def reference(cls, arrays: Sequence[NDArray[Any]], attributes: dict[str, Any]) -> NDArray[Any]:
        layout, out_layout = cls.layouts(attributes)
        wanted = f"NC{cls.SPATIAL}"
        data = wide(arrays[0]).transpose(in_order(range(arrays[0].ndim), layout, wanted))
        found = cls.counts([IntExpr.of(d) for d in data.shape[2:]], attributes)
        counts = [c.constant or 0 for c in found]
        result = np.zeros((*data.shape[:2], *counts), data.dtype)
        for at in np.ndindex(*counts):
            bounds = [
                slice(i * d // n, -(-(i + 1) * d // n))
                for i, d, n in zip(at, data.shape[2:], counts, strict=True)
            ]
            window = data[(slice(None), slice(None), *bounds)]
            result[(..., *at)] = cls.numpy_function(window, tuple(range(2, data.ndim)))
        return result.transpose(in_order(range(data.ndim), wanted, out_layout))


def longest(length: IntExpr, count: IntExpr) -> IntExpr:
    """A bound of the size of windows; their size where all have the same."""
    if length == count:
        return IntExpr.of(1)
    if divides(count, length):
        return length // count
    if (fixed := length.constant) is not None and (parts := count.constant) is not None:
        sizes = (-(-(i + 1) * fixed // parts) - i * fixed // parts for i in range(parts))
        return IntExpr.of(max(sizes, default=0))
    return (length + (count - 1)) // count + 1


def _window(te: TensorLanguage, at: Any, length: IntExpr, count: IntExpr) -> tuple[Any, Any]:
    """Where window number `at` starts, and its size."""
    if divides(count, length):
        (size,) = te.tensor.shape_of([longest(length, count)])
        return at * size, size
    size, parts = te.tensor.shape_of([length, count])
    start = at * size // parts
    return start, ((at + 1) * size + (parts - 1)) // parts - start


class AdaptiveAvgPoolOp(AdaptivePoolOp, ABC):
    """The mean of each window."""

    @classmethod
    def compute(cls, te: TensorLanguage, tensors: Sequence[Any], attributes: dict[str, Any]) -> Any:
        (data,) = tensors
        layout, out_layout = cls.layouts(attributes)
        spatial = expressions(te, data, layout, cls.SPATIAL)
        counts = cls.counts(spatial, attributes)

        def count(*i: Any) -> Any:
            taps: Any = 1
            at = in_order(i, out_layout, cls.SPATIAL)
            for o, d, c in zip(at, spatial, counts, strict=True):
                taps = taps * _window(te, o, d, c)[1]
            return taps

        sums = cls.pool(te, data, attributes, total, "pool_sum")
        return mean_of(te, sums, count, data.dtype)

    @classmethod
    def numpy_function(cls, window: NDArray[Any], axes: tuple[int, ...]) -> NDArray[Any]:
        return window.mean(axis=axes)


class AdaptiveMaxPoolOp(AdaptivePoolOp, ABC):
    """The largest element of each window."""

    @classmethod
    def compute(cls, te: TensorLanguage, tensors: Sequence[Any], attributes: dict[str, Any]) -> Any:
        (data,) = tensors
        found = cls.pool(te, data, attributes, largest, "adaptive_max_pool")
        return rounded(te, found, data.dtype)

    @classmethod
    def numpy_function(cls, window: NDArray[Any], axes: tuple[int, ...]) -> NDArray[Any]:
        return window.max(axis=axes)


@irdl_op_definition
class AdaptiveAvgPool1dOp(AdaptiveAvgPoolOp):
    """The means of so many windows of one dim; `torch.nn.functional.adaptive_avg_pool1d`."""

    name = "relax.nn.adaptive_avg_pool1d"
    SPATIAL: ClassVar[str] = "W"
    output_size = opt_prop_def(Ints(default=None))
    layout = opt_prop_def(Text(default="NCW", choices=("NCW", "NWC")))
    out_layout = opt_prop_def(Text(default=None, choices=("NCW", "NWC")))


@irdl_op_definition
class AdaptiveAvgPool2dOp(AdaptiveAvgPoolOp):
    """The means of so many windows of two dims; `torch.nn.functional.adaptive_avg_pool2d`."""

    name = "relax.nn.adaptive_avg_pool2d"
    SPATIAL: ClassVar[str] = "HW"
    output_size = opt_prop_def(Ints(default=None))
    layout = opt_prop_def(Text(default="NCHW", choices=("NCHW", "NHWC")))
    out_layout = opt_prop_def(Text(default=None, choices=("NCHW", "NHWC")))


@irdl_op_definition
class AdaptiveMaxPool1dOp(AdaptiveMaxPoolOp):
    """The largest of so many windows of one dim; `torch.nn.functional.adaptive_max_pool1d`."""

    name = "relax.nn.adaptive_max_pool1d"
    SPATIAL: ClassVar[str] = "W"
    output_size = opt_prop_def(Ints(default=None))
    layout = opt_prop_def(Text(default="NCW", choices=("NCW", "NWC")))
    out_layout = opt_prop_def(Text(default=None, choices=("NCW", "NWC")))


@irdl_op_definition
class AdaptiveMaxPool2dOp(AdaptiveMaxPoolOp):
    """The largest of so many windows of two dims; `torch.nn.functional.adaptive_max_pool2d`."""

    name = "relax.nn.adaptive_max_pool2d"
    SPATIAL: ClassVar[str] = "HW"
    output_size = opt_prop_def(Ints(default=None))
    layout = opt_prop_def(Text(default="NCHW", choices=("NCHW", "NHWC")))
    out_layout = opt_prop_def(Text(default=None, choices=("NCHW", "NHWC")))
