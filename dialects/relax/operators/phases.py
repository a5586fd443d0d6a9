"""Transposed convolutions with strides, by the phases of their results.

Elements of a result whose indices have one remainder by the stride, a phase, are a convolution of
the data with every `stride`-th element of the weight. All phases are one convolution with more
channels, after which they are interleaved::

    P[n, q, (r, o)] = sum of X[n, q - j, i] * W[i, o, r + stride * j] over i and j
    Y[n, q * stride + r - before, o] = P[n, q, (r, o)]
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from math import prod
from typing import Any

from ...int_expr import IntExpr
from .conversion import accumulator
from .convolution import DirectConvolutionOp, convolve
from .language import TensorLanguage
from .windows import Window, all_of, expressions, in_order


def has_phases(window: Window) -> bool:
    """Whether a window over one dim can be computed by phases."""
    return window.size.is_constant and (window.stride == 1 or window.dilation == 1)


@dataclass(frozen=True)
class Phases:
    """The windows of a transposed convolution, and the sizes of its result."""

    te: TensorLanguage
    spatial: str
    windows: tuple[Window, ...]
    counts: tuple[IntExpr, ...]

    @cached_property
    def strides(self) -> list[int]:
        """The number of phases of each dim."""
        return [w.stride for w in self.windows]

    @cached_property
    def taps(self) -> list[int]:
        """The number of elements of the data that one of the result is made of, by dim."""
        return [-(-(w.size.constant or 1) // w.stride) for w in self.windows]

    @cached_property
    def first(self) -> list[int]:
        """The first place that each dim of the data is moved to."""
        return [w.before // w.stride for w in self.windows]

    @cached_property
    def lengths(self) -> list[IntExpr]:
        """The number of elements of each phase."""
        ends = [(c + w.before - 1) // IntExpr.of(w.stride) for c, w in self._pairs()]
        return [end - first + 1 for end, first in zip(ends, self.first, strict=True)]

    def _pairs(self) -> list[tuple[IntExpr, Window]]:
        return list(zip(self.counts, self.windows, strict=True))

    def compute(
        self, tensors: Sequence[Any], layouts: Sequence[str], attributes: dict[str, Any]
    ) -> Any:
        """The transposed convolution of data and weight in these layouts."""
        (data, weight), (layout, kernel, out), groups = tensors, layouts, attributes["groups"]
        dtype = accumulator(data.dtype, attributes["out_dtype"])
        around = self._padded(data, layout, dtype)
        packed = self._packed(weight, kernel, groups, dtype)
        windows = [
            Window(IntExpr.of(t), 1, 0, 0, w.dilation)
            for t, w in zip(self.taps, self.windows, strict=True)
        ]
        multiply = partial(DirectConvolutionOp.multiply, self.te, dtype=dtype)
        product = convolve(self.te, around, packed, windows, self.lengths, groups, multiply)
        each = weight.shape[kernel.index("O")]
        return self._interleaved(product, out, each, groups, attributes["out_dtype"] or data.dtype)

    def _padded(self, data: Any, layout: str, dtype: str) -> Any:
        """The data, channels last, with zeros around it for all taps."""
        te, last = self.te, f"N{self.spatial}C"
        batch, *sizes, channels = expressions(te, data, layout, last)
        reach = [(t - 1) * w.dilation for t, w in zip(self.taps, self.windows, strict=True)]
        before = [r - f for r, f in zip(reach, self.first, strict=True)]
        shape = [n + r for n, r in zip(self.lengths, reach, strict=True)]

        def element(*i: Any) -> Any:
            at, inside = dict(zip(last, i, strict=True)), list[Any]()
            for letter, margin, size in zip(self.spatial, before, sizes, strict=True):
                at[letter] = at[letter] - margin
                (end,) = te.tensor.shape_of([size])
                inside += [at[letter] >= 0, at[letter] < end]
            found = data(*(at[letter] for letter in layout)).astype(dtype)
            return te.if_then_else(all_of(inside), found, te.const(0, dtype))

        return te.compute(te.tensor.shape_of([batch, *shape, channels]), element, name="pad_temp")

    def _packed(self, weight: Any, kernel: str, groups: int, dtype: str) -> Any:
        """The weight as ``…IO``, whose channels are those of all phases, group by group."""
        te, last = self.te, f"{self.spatial}IO"
        *_, inputs, outputs = expressions(te, weight, kernel, last)
        (own, each) = te.tensor.shape_of([inputs // IntExpr.of(groups), outputs])
        many = prod(self.strides)

        def element(*i: Any) -> Any:
            *at, inner, channel = i
            phase, group = channel // each % many, channel // (each * many)
            source, inside = list[Any](), list[Any]()
            for remainder, j, w, taps in zip(
                self._remainders(phase), at, self.windows, self.taps, strict=True
            ):
                place = remainder + (taps - 1 - j) * w.stride
                if taps * w.stride > (w.size.constant or 1):
                    inside.append(place < w.size.constant)
                source.append(place)
            row = inner if groups == 1 else group * own + inner
            found = weight(*in_order([*source, row, channel % each], last, kernel)).astype(dtype)
            return te.if_then_else(all_of(inside), found, te.const(0, dtype)) if inside else found

        shape = (*self.taps, own, each * (many * groups))
        return te.compute(shape, element, name="T_pack")

    def _remainders(self, phase: Any) -> list[Any]:
        """The remainder by the stride of each dim, from the number of a phase."""
        found: list[Any] = []
        for stride in reversed(self.strides):
            found.insert(0, phase % stride if stride > 1 else 0)
            phase = phase // stride
        return found

    def _interleaved(self, product: Any, out: str, each: Any, groups: int, dtype: str) -> Any:
        """The elements of all phases in their places, in the layout of the result."""
        te, last, many = self.te, f"N{self.spatial}C", prod(self.strides)

        def element(*i: Any) -> Any:
            batch, *at, channel = in_order(i, out, last)
            phase: Any = 0
            places: list[Any] = []
            for a, w, first in zip(at, self.windows, self.first, strict=True):
                place = a + w.before
                phase = phase * w.stride + (place % w.stride if w.stride > 1 else 0)
                places.append(place // w.stride - first)
            group, own = (0, channel) if groups == 1 else (channel // each, channel % each)
            source = (group * many + phase) * each + own
            return product(batch, *places, source).astype(dtype)

        sizes = dict(zip(self.spatial, te.tensor.shape_of(self.counts), strict=True))
        shape = {"N": product.shape[0], "C": each * groups, **sizes}
        return te.compute([shape[letter] for letter in out], element, name="conv")
