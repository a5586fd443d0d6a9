"""Sampling of images and volumes at the points of a grid."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
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
        (data, grid), taps = tensors, TAPS[attributes["method"]]
        dtype = accumulator(data.dtype) if is_float(data.dtype) else "float32"
        functions, rank = Functions.of_te(te), data.ndim - 2

        def place(n: Any, dim: Any, *at: Any) -> Any:
            return _place(functions, grid(n, dim, *at).astype(dtype), sizes(dim), attributes)

        def sizes(dim: Any) -> Any:
            """The size of the dim that a coordinate is along, in `dtype`."""
            found = te.cast(dtype, te.const(0) + data.shape[-1])
            for axis in range(1, rank):
                own = te.cast(dtype, te.const(0) + data.shape[-1 - axis])
                found = te.select(te.EQ(dim, axis), own, found)
            return found

        places = te.compute(grid.shape, place, name="places")

        def element(n: Any, c: Any, *at: Any) -> Any:
            points = [places(n, rank - 1 - axis, *at) for axis in range(rank)]
            if taps == 1:
                index = [te.cast("int32", te.nearbyint(x)) for x in points]
                return _read(te, data, (n, c), index)
            low = [te.floor(x) for x in points]
            first = [te.cast("int32", x) - (taps // 2 - 1) for x in low]
            weights = [functions.weights(taps, x - f) for x, f in zip(points, low, strict=True)]
            total: Any = te.const(0, dtype)
            for offset in product(range(taps), repeat=rank):
                index = [f + o for f, o in zip(first, offset, strict=True)]
                if taps == 4:
                    index = _padded(te, functions, index, data.shape[2:], attributes)
                weight = reduce(mul, (w[o] for w, o in zip(weights, offset, strict=True)))
                total = total + _read(te, data, (n, c), index).astype(dtype) * weight
            return total.astype(data.dtype)

        return te.compute((*data.shape[:2], *grid.shape[2:]), element, name="grid_sample")

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


def _place(functions: Functions, x: Any, size: Any, attributes: dict[str, Any]) -> Any:
    """The coordinate of a point in elements, in the data if that is how it is padded."""
    corners, mode = attributes["align_corners"], attributes["padding_mode"]
    place = functions.place(x, size, corners)
    if attributes["method"] == "bicubic" or mode == "zeros":
        return place
    if mode == "border":
        return functions.clipped(place, size)
    return functions.reflected(place, size, corners)


def _read(te: TensorLanguage, data: Any, before: Sequence[Any], index: Sequence[Any]) -> Any:
    """An element, or 0 outside of the data."""
    inside, places = list[Any](), list[Any]()
    for i, size in zip(index, data.shape[2:], strict=True):
        end = size if isinstance(size, int) else te.cast("int32", size)
        inside += [i >= 0, i < end]
        places.append(te.max(te.min(i, end - 1), 0))
    value = where_filled(te, data.shape[2:], data(*before, *places))
    return te.select(all_of(inside), value, te.const(0, data.dtype))


def _padded(
    te: TensorLanguage,
    functions: Functions,
    index: Sequence[Any],
    sizes: Sequence[Any],
    attributes: dict[str, Any],
) -> list[Any]:
    """Indices in the data, if elements outside of it are others of it."""
    mode, found = attributes["padding_mode"], list[Any]()
    for i, size in zip(index, sizes, strict=True):
        if mode == "reflection":
            x, whole = te.cast("float32", i), te.cast("float32", te.const(0) + size)
            corners = attributes["align_corners"]
            found.append(te.cast("int32", functions.reflected(x, whole, corners)))
        elif mode == "border":
            end = size if isinstance(size, int) else te.cast("int32", size)
            found.append(te.max(te.min(i, end - 1), 0))
        else:
            found.append(i)
    return found


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
