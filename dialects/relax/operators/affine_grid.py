"""Grids of points of affine transformations, at which `grid_sample` samples."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from operator import add
from typing import Any

import numpy as np
from numpy.typing import NDArray
from xdsl.irdl import irdl_op_definition, opt_prop_def

from ..types import TensorType, shape_text
from .attributes import Bool, SpatialExprs
from .base import UnaryOp
from .conversion import accumulator
from .creation import require_sizes
from .inference import require_floats, require_rank
from .language import TensorLanguage


@irdl_op_definition
class AffineGridOp(UnaryOp):
    """The points of a regular grid that affine transformations move, each column a point.

    `data` is ``(N, 2, 3)`` for a `size` of ``(h, w)``, or one number for both, and the result
    ``(N, 2, h, w)``; or ``(N, 3, 4)`` for ``(d, h, w)``. Coordinates of the grid are from -1 to 1,
    of the outermost points with `align_corners`, else of the outermost edges; the only one of a dim
    of 1 is 0. `torch.nn.functional.affine_grid`, which has the coordinates of a point last.
    """

    name = "relax.image.affine_grid"
    size = opt_prop_def(SpatialExprs(count=2))
    align_corners = opt_prop_def(Bool(default=True))

    @classmethod
    def infer(cls, operands: Sequence[TensorType], attributes: dict[str, Any]) -> TensorType:
        (data,), size = operands, attributes["size"]
        require_floats(cls.name, operands)
        require_rank(cls.name, "data", data, 3)
        rank = len(size)
        if rank not in (2, 3):
            raise ValueError(f"expected size of '{cls.name}' to be 1 to 3 numbers, got {rank}")
        require_sizes(cls.name, size)
        if data.dims is None:
            return TensorType.of(None, data.known_element, rank + 2)
        if [d.constant for d in data.dims[1:]] != [rank, rank + 1]:
            raise ValueError(
                f"expected data of '{cls.name}' to be ({data.dims[0]}, {rank}, {rank + 1}), "
                f"got {shape_text(data)}"
            )
        return TensorType.of([data.dims[0], data.dims[1], *size], data.known_element)

    @classmethod
    def compute(cls, te: TensorLanguage, tensors: Sequence[Any], attributes: dict[str, Any]) -> Any:
        (data,), sizes = tensors, attributes["size"]
        dtype = accumulator(data.dtype)

        def place(index: Any, size: Any) -> Any:
            extent = te.max(size - 1, 1) if attributes["align_corners"] else size
            return te.cast(dtype, index * 2 - (size - 1)) / te.cast(dtype, extent)

        def element(n: Any, row: Any, *point: Any) -> Any:
            places = [place(i, size) for i, size in zip(point, sizes, strict=True)][::-1]
            factors = [te.cast(dtype, data(n, row, k)) for k in range(len(sizes) + 1)]
            products = [f * p for f, p in zip(factors, places, strict=False)]
            return te.cast(data.dtype, reduce(add, [*products, factors[-1]]))

        return te.compute((*data.shape[:2], *sizes), element, name="affine_grid")

    @classmethod
    def reference(cls, arrays: Sequence[NDArray[Any]], attributes: dict[str, Any]) -> NDArray[Any]:
        (data,), sizes = arrays, attributes["size"]
        steps: list[NDArray[np.float64]] = [
            (2.0 * np.arange(n) - (n - 1)) / (max(n - 1, 1) if attributes["align_corners"] else n)
            for n in sizes
        ]
        places = np.meshgrid(*steps, indexing="ij")[::-1]
        points = np.stack([*places, np.ones(sizes)])
        return np.einsum("nrk,k...->nr...", data.astype(np.float64), points).astype(data.dtype)
