"""Convolutions (cross-correlations) with strides, padding, dilation and groups.

Those of planes whose channels are filtered each by itself do not move them last::

    Y[n, c, h, w] += P[n, c, h + r, w + s] * W[c, 0, r, s]
"""

from __future__ import annotations

from abc import ABC
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from ...int_expr import ONE, IntExpr
from .conversion import accumulator, rounded
from .convolution import ChannelError, DirectConvolutionOp
from .inference import divides
from .language import TensorLanguage
from .linear_algebra import MatmulOp, MatrixProductOp
from .windows import (
    MOST_TAPS,
    WIDEST_STEP,
    Window,
    arranged,
    expressions,
    padded,
    window_slices,
    windows_of,
)

SHORTEST_ROW = 8
"""The fewest results in a row along which a depthwise convolution's vectors run."""


def filtered(
    te: TensorLanguage,
    data: Any,
    weight: Any,
    windows: Sequence[Window],
    counts: Sequence[IntExpr],
    multiply: Callable[[Any, Any], Any],
) -> Any:
    """The depthwise convolution of padded ``NC…`` data and ``OI…`` weight, a plane at a time."""
    sizes = [te.reduce_axis((0, s), f"r{d}") for d, s in enumerate(weight.shape[2:])]

    def element(n: Any, channel: Any, *at: Any) -> Any:
        reads = [a * w.stride + r * w.dilation for a, w, r in zip(at, windows, sizes, strict=True)]
        return te.sum(multiply(data(n, channel, *reads), weight(channel, 0, *sizes)), axis=sizes)

    shape = (data.shape[0], weight.shape[0], *te.tensor.shape_of(counts))
    return te.compute(shape, element, name="conv_sum")


class ForwardConvolutionOp(DirectConvolutionOp, ABC):
    """A convolution (cross-correlation) with strides, padding, dilation and groups."""

    MATMUL: ClassVar[type[MatrixProductOp]] = MatmulOp
    """The operator that a window of one element makes of it."""

    @classmethod
    def filters_planes(
        cls, counts: Sequence[IntExpr], weight: Sequence[IntExpr], attributes: dict[str, Any]
    ) -> bool:
        """Whether each channel is filtered where it is: `counts` windows, of an ``OI…`` weight.

        Copies of depthwise data with channels last cost more than the sums. A kernel's vectors then
        run along rows, and its tiles along another dim, both of known sizes, of which the elements
        of a window are unrolled.
        """
        layout, _, out = cls.layouts(attributes)
        is_depthwise = weight[1] == ONE and weight[0] == IntExpr.of(attributes["groups"])
        sizes = [count.constant or 0 for count in counts]
        is_tiled = len(sizes) > 1 and min(sizes) > 1 and sizes[-1] >= SHORTEST_ROW
        taps = [size.constant or MOST_TAPS + 1 for size in weight[2:-1]]
        is_small = attributes["strides"][-1] <= WIDEST_STEP
        is_small = is_small and min(taps, default=0) <= MOST_TAPS
        return layout == out == f"NC{cls.SPATIAL}" and is_depthwise and is_tiled and is_small

    @classmethod
    def sums(
        cls,
        te: TensorLanguage,
        tensors: Sequence[Any],
        attributes: dict[str, Any],
        windows: Sequence[Window],
        counts: Sequence[IntExpr],
    ) -> Any:
        (data, weight), (layout, kernel, _) = tensors, cls.layouts(attributes)
        sizes = expressions(te, weight, kernel, f"OI{cls.SPATIAL}")
        if not cls.filters_planes(counts, sizes, attributes):
            return super().sums(te, tensors, attributes, windows, counts)
        own, others = (cls.operand_dtype(t.dtype, attributes) for t in tensors)
        around, moved = padded(te, data, layout, layout, windows, counts, own)
        weight = arranged(te, weight, kernel, f"OI{cls.SPATIAL}", others, "T_pack")
        dtype = accumulator(data.dtype, attributes["out_dtype"])
        multiply = partial(cls.multiply, te, dtype=dtype)
        product = filtered(te, around, weight, moved, counts, multiply)
        return rounded(te, product, attributes["out_dtype"] or data.dtype)

    @classmethod
    def data_channels(cls, weight: Sequence[IntExpr], attributes: dict[str, Any]) -> IntExpr:
        return weight[1] * attributes["groups"]

    @classmethod
    def geometry(
        cls, data: Sequence[IntExpr], weight: Sequence[IntExpr], attributes: dict[str, Any]
    ) -> tuple[list[IntExpr], IntExpr]:
        groups = IntExpr.of(attributes["groups"])
        fits = attributes["groups"] > 0 and data[1] == weight[1] * groups
        if not fits or not divides(groups, weight[0]):
            raise ChannelError
        windows = windows_of(cls.name, weight[2:], attributes)
        counts = [w.count(cls.name, d) for w, d in zip(windows, data[2:], strict=True)]
        return counts, weight[0]

    @classmethod
    def channels_last(
        cls,
        te: TensorLanguage,
        tensors: Sequence[Any],
        attributes: dict[str, Any],
        windows: Sequence[Window],
        counts: Sequence[IntExpr],
    ) -> tuple[Any, Any, Sequence[Window]]:
        (data, weight), (layout, kernel, _) = tensors, cls.layouts(attributes)
        own, others = (cls.operand_dtype(t.dtype, attributes) for t in tensors)
        last = f"N{cls.SPATIAL}C"
        around, moved = padded(te, data, layout, last, windows, counts, own)
        packed = arranged(te, weight, kernel, f"{cls.SPATIAL}IO", others, "T_pack")
        return around, packed, moved

    @classmethod
    def numpy_groups(
        cls,
        data: NDArray[Any],
        weight: NDArray[Any],
        windows: Sequence[Window],
        counts: Sequence[int],
        groups: int,
    ) -> NDArray[Any]:
        outputs, own, *sizes = weight.shape
        parts = weight.reshape(groups, outputs // groups, own, *sizes)
        result = np.zeros((data.shape[0], groups, parts.shape[1], *counts), data.dtype)
        for offset, seen in window_slices(data, windows, counts, 0):
            split = seen.reshape(data.shape[0], groups, own, *counts)
            result += np.einsum("ngi...,goi->ngo...", split, parts[(..., *offset)])
        return result
