"""The bins that regions of images are divided into, and the pools over them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from math import ceil, floor
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .language import TensorLanguage


@dataclass(frozen=True)
class Bins(ABC):
    """Bins of regions, whose coordinates are multiplied by `scale`."""

    scale: float

    @abstractmethod
    def pool(
        self, te: TensorLanguage, ib: Any, inputs: Any, output: Any, at: Any, size: Sequence[int]
    ) -> None:
        """The statements that pool one bin of a region, for all channels."""

    @abstractmethod
    def numpy(
        self, image: NDArray[Any], region: NDArray[Any], at: Sequence[int], size: Sequence[int]
    ) -> Any:
        """The pools of one bin, by channel."""


def _image_of(te: TensorLanguage, data: Any, rois: Any, region: Any) -> Any:
    """The number of a region's image, in bounds."""
    number = te.cast("int64", rois(region, 0))
    return te.max(te.min(number, data.shape[0] - 1), 0)


@dataclass(frozen=True)
class AlignedBins(Bins):
    """Bins that are sampled at points between elements."""

    ratio: int
    is_moved: bool
    takes_largest: bool

    def pool(
        self, te: TensorLanguage, ib: Any, inputs: Any, output: Any, at: Any, size: Sequence[int]
    ) -> None:
        (data, rois), (region, *place), dtype = inputs, at, output.dtype
        image, channels = ib.let(_image_of(te, data, rois, region)), data.shape[1]
        dims = [self._dim(te, ib, rois, region, d, place[d], size[d], dtype) for d in (0, 1)]
        totals, some = ib.allocate(dtype, (channels,), "totals"), ib.allocate("bool", (1,), "some")
        with ib.for_range(0, channels, "c") as c:
            ib.store(totals, (c,), te.const(0, dtype))
        ib.store(some, (0,), te.const(False))
        (first, step, rows), (left, stride, columns) = dims
        with ib.for_range(0, rows, "i") as i:
            y = ib.let(first + (te.cast(dtype, i) + 0.5) * step)
            upper = self._taps(te, ib, y, data.shape[2], dtype)
            with ib.for_range(0, columns, "j") as j:
                x = ib.let(left + (te.cast(dtype, j) + 0.5) * stride)
                lower = self._taps(te, ib, x, data.shape[3], dtype)
                taps = [(a, b, ib.let(v * w)) for (a, v), (b, w) in product(upper, lower)]
                is_next = ib.let(some(0))
                with ib.for_range(0, channels, "c") as c:
                    parts = [data(image, c, a, b).astype(dtype) * w for a, b, w in taps]
                    ib.store(totals, (c,), self._combined(te, totals(c), parts, is_next))
                ib.store(some, (0,), te.const(True))
        with ib.for_range(0, channels, "c") as c:
            result = totals(c)
            if not self.takes_largest:
                result = result / te.cast(dtype, te.max(rows * columns, 1))
            ib.store(output, (region, c, *place), result)

    def _dim(
        self, te: TensorLanguage, ib: Any, rois: Any, region: Any, dim: int, place: Any,
        size: int, dtype: str,
    ) -> tuple[Any, Any, Any]:  # fmt: skip
        """The start of a bin, the distance of its samples, and their number along a dim."""
        moved = 0.5 if self.is_moved else 0.0
        low, high = (rois(region, 2 - dim + n).astype(dtype) * self.scale - moved for n in (0, 2))
        length = high - low if self.is_moved else te.max(high - low, te.const(1, dtype))
        each = ib.let(length / float(size))
        count: Any = te.const(self.ratio, "int64")
        if not self.ratio:
            count = ib.let(te.max(te.cast("int64", te.ceil(each)), 0))
        step = each / te.cast(dtype, te.max(count, 1))
        return ib.let(low + te.cast(dtype, place) * each), ib.let(step), count

    def _taps(self, te: TensorLanguage, ib: Any, x: Any, size: Any, dtype: str) -> Any:
        """The two elements around a point along a dim, with their weights."""
        end = te.cast(dtype, te.const(0) + size)
        inside = (x >= te.const(-1, dtype)) & (x <= end)
        x = te.max(te.select(inside, x, te.const(0, dtype)), te.const(0, dtype))
        low = ib.let(te.max(te.min(te.cast("int64", x), size - 1), 0))
        high = ib.let(te.min(low + 1, size - 1))
        rest = te.select(low >= size - 1, te.const(0, dtype), x - te.cast(dtype, low))
        whole = te.select(inside, te.const(1, dtype), te.const(0, dtype))
        rest = ib.let(rest * whole)
        return [(low, ib.let(whole - rest)), (high, rest)]

    def _combined(self, te: TensorLanguage, total: Any, parts: Sequence[Any], some: Any) -> Any:
        if not self.takes_largest:
            return total + (parts[0] + parts[1] + parts[2] + parts[3])
        largest = te.max(te.max(parts[0], parts[1]), te.max(parts[2], parts[3]))
        return te.select(some, te.max(total, largest), largest)

    def numpy(
        self, image: NDArray[Any], region: NDArray[Any], at: Sequence[int], size: Sequence[int]
    ) -> Any:
        points = [self._numpy_points(region, d, at[d], size[d]) for d in (0, 1)]
        samples = [
            np.stack([
                image[:, a, b] * (v * w)
                for (a, v), (b, w) in product(
                    self._numpy_taps(y, image.shape[1]), self._numpy_taps(x, image.shape[2])
                )
            ])
            for y, x in product(*points)
        ]  # fmt: skip
        if not samples:
            return 0
        if self.takes_largest:
            return np.max([s.max(axis=0) for s in samples], axis=0)
        return np.mean([s.sum(axis=0) for s in samples], axis=0)

    def _numpy_points(
        self, region: NDArray[Any], dim: int, place: int, size: int
    ) -> Sequence[float]:
        moved = 0.5 if self.is_moved else 0.0
        low, high = (region[1 - dim + n] * self.scale - moved for n in (0, 2))
        length = high - low if self.is_moved else max(high - low, 1)
        each = length / size
        count = self.ratio or max(ceil(each), 0)
        return [low + place * each + (i + 0.5) * each / count for i in range(count)]

    def _numpy_taps(self, x: float, size: int) -> Sequence[tuple[int, float]]:
        if x < -1 or x > size:
            return [(0, 0.0), (0, 0.0)]
        low = min(int(max(x, 0)), size - 1)
        rest = 0.0 if low >= size - 1 else max(x, 0) - low
        return [(low, 1 - rest), (min(low + 1, size - 1), rest)]


@dataclass(frozen=True)
class PooledBins(Bins):
    """Bins of whole elements, of which the largest is taken."""

    def pool(
        self, te: TensorLanguage, ib: Any, inputs: Any, output: Any, at: Any, size: Sequence[int]
    ) -> None:
        (data, rois), (region, *place), dtype = inputs, at, output.dtype
        image = ib.let(_image_of(te, data, rois, region))
        (top, bottom), (left, right) = (
            self._range(te, ib, rois, region, d, place[d], size[d], data.shape[2 + d])
            for d in (0, 1)
        )
        best = ib.allocate(dtype, (1,), "best")
        is_empty = (bottom <= top) | (right <= left)
        start = ib.let(te.select(is_empty, te.const(0, dtype), te.const(float("-inf"), dtype)))
        with ib.for_range(0, data.shape[1], "c") as c:
            ib.store(best, (0,), start)
            with ib.for_range(top, bottom, "i") as i, ib.for_range(left, right, "j") as j:
                ib.store(best, (0,), te.max(best(0), data(image, c, i, j).astype(dtype)))
            ib.store(output, (region, c, *place), best(0))

    def _range(
        self, te: TensorLanguage, ib: Any, rois: Any, region: Any, dim: int, place: Any,
        size: int, length: Any,
    ) -> tuple[Any, Any]:  # fmt: skip
        """The first element of a bin along a dim, and the one behind its last."""
        low, high = (_half_up(te, rois(region, 2 - dim + n), self.scale) for n in (0, 2))
        low, high = ib.let(low), ib.let(high)
        each = ib.let(te.cast("float32", te.max(high - low + 1, 1)) / float(size))
        start = te.floor(te.cast("float32", place) * each)
        end = te.ceil(te.cast("float32", place + 1) * each)
        first, last = (te.cast("int64", e) + low for e in (start, end))
        return tuple(ib.let(te.max(te.min(e, length), 0)) for e in (first, last))

    def numpy(
        self, image: NDArray[Any], region: NDArray[Any], at: Sequence[int], size: Sequence[int]
    ) -> Any:
        bounds: list[slice] = []
        for d in (0, 1):
            scaled = [float(region[1 - d + n] * self.scale) for n in (0, 2)]
            low, high = (int(np.copysign(floor(abs(x) + 0.5), x)) for x in scaled)
            each = np.float32(max(high - low + 1, 1)) / np.float32(size[d])
            start, end = floor(np.float32(at[d]) * each), ceil(np.float32(at[d] + 1) * each)
            limits = (int(np.clip(e + low, 0, image.shape[1 + d])) for e in (start, end))
            bounds.append(slice(*limits))
        part = image[(slice(None), *bounds)]
        return part.max(axis=(1, 2)) if part.size else 0


def _half_up(te: TensorLanguage, x: Any, scale: float) -> Any:
    """The nearest integer to a scaled coordinate; halves are rounded away from 0."""
    scaled = te.cast("float32", x) * scale
    return te.cast("int64", te.copysign(te.floor(te.fabs(scaled) + 0.5), scaled))
