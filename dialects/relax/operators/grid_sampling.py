"""Sampling of images and volumes at the points of a grid."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, reduce
from itertools import product
from operator import mul
from typing import Any

import numpy as np
from numpy.typing import NDArray
from xdsl.irdl import irdl_op_definition, operand_def, opt_prop_def

from ...dtypes import is_float
from ..types import TensorType, shape_text
from .attributes import Bool, Text
from .base import OperatorOp
from .conversion import accumulator, converted, wide
from .elementwise import NUMBERS
from .grid_points import Functions
from .indexing import where_filled
from .inference import require_dtype, require_floats, require_rank
from .language import TensorLanguage
from .windows import all_of

TAPS = {"nearest": 1, "bilinear": 2, "bicubic": 4}
"""The number of elements along each dim that a sample is made of, by method."""


@irdl_op_definition
class GridSampleOp(OperatorOp):
    """Sample ``(N, C, spatial…)`` data at the points of a grid ``(N, dims, spatial…)``.

    A point has a coordinate for each dim, that of the last dim first; -1 and 1 are the centers of
    the outermost elements with `align_corners`, else their outer edges. Outside of the data,
    elements are 0 ("zeros"), those of the edge ("border"), or reflected. A point halfway between
    two elements has the one of even index. `torch.nn.functional.grid_sample`, which has the dims of
    a point last.
    """

    name = "relax.image.grid_sample"
    data = operand_def(TensorType)
    grid = operand_def(TensorType)
    method = opt_prop_def(Text(default="bilinear", choices=tuple(TAPS)))
    layout = opt_prop_def(Text(default="NCHW", choices=("NCW", "NCHW", "NCDHW")))
    padding_mode = opt_prop_def(Text(default="zeros", choices=("zeros", "border", "reflection")))
    align_corners = opt_prop_def(Bool(default=True))
    assembly_format = "$data `,` $grid attr-dict `:` type($data) `,` type($grid) `->` type($result)"

    @classmethod
    def infer(cls, operands: Sequence[TensorType], attributes: dict[str, Any]) -> TensorType:
        (data, grid), rank = operands, len(attributes["layout"])
        require_dtype(cls.name, [data], *NUMBERS)
        require_floats(cls.name, [grid])
        require_rank(cls.name, "data", data, rank)
        require_rank(cls.name, "grid", grid, rank)
        if data.dims is None or grid.dims is None:
            return TensorType.of(None, data.known_element, rank)
        if grid.dims[0] != data.dims[0] or grid.dims[1].constant != rank - 2:
            raise ValueError(
                f"expected grid of '{cls.name}' to be ({data.dims[0]}, {rank - 2}, …), "
                f"got {shape_text(grid)}"
            )
        if any(d.constant == 0 for d in data.dims[2:]):
            raise ValueError(
                f"expected spatial dims of '{cls.name}' other than 0, got {shape_text(data)}"
            )
        return TensorType.of([*data.dims[:2], *grid.dims[2:]], data.known_element)

    @classmethod
    def compute(cls, te: TensorLanguage, tensors: Sequence[Any], attributes: dict[str, Any]) -> Any:
        return _Samples(te, tensors[0], tensors[1], attributes).compute()

    @classmethod
    def reference(cls, arrays: Sequence[NDArray[Any]], attributes: dict[str, Any]) -> NDArray[Any]:
        (data, grid), taps = arrays, TAPS[attributes["method"]]
        functions, sizes = Functions.of_numpy(), data.shape[2:]
        exact = wide(data, "float64").astype(np.float64)
        first, weights = list[Any](), list[Any]()
        for axis, size in enumerate(sizes):
            own = grid[:, -1 - axis].astype(np.float64)
            x: Any = _place(functions, own, float(size), attributes)
            low: Any = functions.floor(x) if taps > 1 else _half_to_even(x)
            first.append(low.astype(np.int64) - (max(taps // 2, 1) - 1))
            weights.append([x * 0 + 1] if taps == 1 else functions.weights(taps, x - low))
        total = np.zeros((*data.shape[:2], *grid.shape[2:]))
        for offset in product(range(taps), repeat=len(sizes)):
            index: list[Any] = [f + o for f, o in zip(first, offset, strict=True)]
            if taps == 4:
                index = [
                    _numpy_padded(functions, i, s, attributes)
                    for i, s in zip(index, sizes, strict=True)
                ]
            weight: Any = reduce(mul, (w[o] for w, o in zip(weights, offset, strict=True)))
            total += _numpy_read(exact, index) * weight[:, None]
        return converted(total, str(data.dtype))


@dataclass(frozen=True)
class _Samples:
    """The tensor expression of samples: all channels share tables of indices and weights."""

    te: TensorLanguage
    data: Any
    grid: Any
    attributes: dict[str, Any]

    @cached_property
    def taps(self) -> int:
        """The number of elements along each dim that a sample is made of."""
        return TAPS[self.attributes["method"]]

    @cached_property
    def dtype(self) -> str:
        """The dtype of coordinates and weights."""
        return accumulator(self.data.dtype) if is_float(self.data.dtype) else "float32"

    def compute(self) -> Any:
        """The samples."""
        te, (batch, rank, *points) = self.te, self.grid.shape
        places = te.compute(self.grid.shape, self._place, name="places")

        def index(n: Any, dim: Any, k: Any, *at: Any) -> Any:
            return self._index(places(n, dim, *at), dim, k)

        def weight(n: Any, dim: Any, k: Any, *at: Any) -> Any:
            return self._weight(places(n, dim, *at), k)

        table = (batch, rank, self.taps, *points)
        indices = te.compute(table, index, name="indices")
        weights = te.compute(table, weight, name="weights") if self.taps > 1 else None

        def element(n: Any, c: Any, *at: Any) -> Any:
            total: Any = None
            for taps in product(range(self.taps), repeat=rank):
                pairs = [(rank - 1 - axis, k) for axis, k in enumerate(taps)]
                value = self._read((n, c), [indices(n, dim, k, *at) for dim, k in pairs])
                if weights is None:
                    return value
                factor = reduce(mul, (weights(n, dim, k, *at) for dim, k in pairs))
                term = value.astype(self.dtype) * factor
                total = term if total is None else total + term
            return total.astype(self.data.dtype)

        return te.compute((*self.data.shape[:2], *points), element, name="grid_sample")

    def _size(self, dim: Any) -> Any:
        """The size of the dim that a coordinate is along, in `dtype`; the last one comes first."""
        te = self.te
        first, *others = [te.cast(self.dtype, te.const(0) + d) for d in self.data.shape[:1:-1]]
        for number, size in enumerate(others, 1):
            first = te.select(te.EQ(dim, number), size, first)
        return first

    def _place(self, n: Any, dim: Any, *at: Any) -> Any:
        x, functions = self.grid(n, dim, *at).astype(self.dtype), Functions.of_te(self.te)

        def placed(size: Any) -> Any:
            return _place(functions, x, size, self.attributes)

        return self.te.let(placed, self._size(dim))

    def _index(self, place: Any, dim: Any, k: Any) -> Any:
        """The index of an element around a point, -1 outside of the data."""
        te = self.te
        low = te.nearbyint(place) if self.taps == 1 else te.floor(place) - float(self.taps // 2 - 1)

        def padded(size: Any) -> Any:
            found = te.cast("int32", low) + k
            if self.taps == 4:
                found = self._moved(found, size)
            return te.let(lambda i: inside(i, size), found)

        def inside(index: Any, size: Any) -> Any:
            known = (index >= 0) & (index < te.cast("int32", size))
            return te.select(known, index, te.const(-1, "int32"))

        return te.let(padded, self._size(dim))

    def _moved(self, index: Any, size: Any) -> Any:
        """An index outside of the data as that of the element which stands there."""
        te, functions = self.te, Functions.of_te(self.te)
        mode, x = self.attributes["padding_mode"], te.cast(self.dtype, index)
        if mode == "zeros":
            return index
        if mode == "border":
            return te.cast("int32", functions.clipped(x, size))
        return te.cast("int32", functions.reflected(x, size, self.attributes["align_corners"]))

    def _weight(self, place: Any, k: Any) -> Any:
        te = self.te

        def chosen(f: Any) -> Any:
            first, *others = Functions.of_te(te).weights(self.taps, f)
            for number, weight in enumerate(others, 1):
                first = te.select(te.EQ(k, number), weight, first)
            return first

        return te.let(chosen, place - te.floor(place))

    def _read(self, before: Sequence[Any], index: Sequence[Any]) -> Any:
        """An element, or 0 for an index of -1."""
        te, data = self.te, self.data
        value = data(*before, *(te.max(i, 0) for i in index))
        value = where_filled(te, data.shape[2:], value)
        return te.select(all_of([i >= 0 for i in index]), value, te.const(0, data.dtype))


def _place(functions: Functions, x: Any, size: Any, attributes: dict[str, Any]) -> Any:
    """The coordinate of a point in elements, in the data if that is how it is padded."""
    corners, mode = attributes["align_corners"], attributes["padding_mode"]
    place = functions.place(x, size, corners)
    if attributes["method"] == "bicubic" or mode == "zeros":
        return place
    if mode == "border":
        return functions.clipped(place, size)
    return functions.reflected(place, size, corners)


def _numpy_padded(
    functions: Functions, index: NDArray[Any], size: int, attributes: dict[str, Any]
) -> NDArray[Any]:
    mode = attributes["padding_mode"]
    if mode == "border":
        return np.clip(index, 0, size - 1)
    if mode == "reflection":
        corners = attributes["align_corners"]
        found: Any = functions.reflected(index.astype(np.float64), float(size), corners)
        return found.astype(np.int64)
    return index


def _half_to_even(x: NDArray[Any]) -> NDArray[Any]:
    return np.round(x)


def _numpy_read(data: NDArray[Any], index: Sequence[NDArray[Any]]) -> NDArray[Any]:
    """Elements ``(N, C, spatial…)`` at these places of ``(N, spatial…)``, 0 outside of the data."""
    pairs = list(zip(index, data.shape[2:], strict=True))
    inside = np.logical_and.reduce([(i >= 0) & (i < size) for i, size in pairs])
    places = [np.clip(i, 0, size - 1) for i, size in pairs]
    shape: tuple[int, ...] = (-1, *[1] * (data.ndim - 2))
    batch: NDArray[Any] = np.reshape(range(data.shape[0]), shape)
    values = data[(batch, slice(None), *places)]
    return np.where(inside[:, None], np.moveaxis(values, -1, 1), 0)
