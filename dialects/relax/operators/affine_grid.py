"""Grids of points of affine transformations, at which `grid_sample` samples."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from xdsl.irdl import irdl_op_definition, opt_prop_def

from ..types import TensorType, shape_text
from .attributes import SpatialExprs
from .base import UnaryOp
from .conversion import accumulator
from .creation import require_sizes
from .inference import require_floats, require_rank
from .language import TensorLanguage


@irdl_op_definition
class AffineGridOp(UnaryOp):
    """The points ``(N, 2, h, w)`` that affine transformations ``(N, 2, 3)`` make of a regular grid.

    `size` is ``(h, w)``, or one number for both. The outermost points of the grid are -1 and 1, the
    only one of a dim of 1 is 0. `torch.nn.functional.affine_grid` with `align_corners`, which has
    the two coordinates of a point last.
    """

    name = "relax.image.affine_grid"
    size = opt_prop_def(SpatialExprs(count=2))

    @classmethod
    def infer(cls, operands: Sequence[TensorType], attributes: dict[str, Any]) -> TensorType:
        (data,), size = operands, attributes["size"]
        require_floats(cls.name, operands)
        require_rank(cls.name, "data", data, 3)
        if len(size) != 2:
            raise ValueError(f"expected size of '{cls.name}' to be 1 or 2 numbers, got {len(size)}")
        require_sizes(cls.name, size)
        if data.dims is None:
            return TensorType.of(None, data.known_element, 4)
        if [d.constant for d in data.dims[1:]] != [2, 3]:
            raise ValueError(
                f"expected data of '{cls.name}' to be ({data.dims[0]}, 2, 3), "
                f"got {shape_text(data)}"
            )
        return TensorType.of([data.dims[0], data.dims[1], *size], data.known_element)

    @classmethod
    def compute(cls, te: TensorLanguage, tensors: Sequence[Any], attributes: dict[str, Any]) -> Any:
        (data,), (height, width) = tensors, attributes["size"]
        dtype = accumulator(data.dtype)

        def place(index: Any, size: Any) -> Any:
            doubled = te.cast(dtype, index * 2 - (size - 1))
            return doubled / te.cast(dtype, te.max(size - 1, 1))

        def element(n: Any, row: Any, i: Any, j: Any) -> Any:
            x, y = place(j, width), place(i, height)
            factors = [te.cast(dtype, data(n, row, k)) for k in range(3)]
            return te.cast(data.dtype, factors[0] * x + factors[1] * y + factors[2])

        return te.compute((data.shape[0], 2, height, width), element, name="affine_grid")

    @classmethod
    def reference(cls, arrays: Sequence[NDArray[Any]], attributes: dict[str, Any]) -> NDArray[Any]:
        (data,), sizes = arrays, attributes["size"]
        steps: list[NDArray[np.float64]] = [
            (2.0 * np.arange(n) - (n - 1)) / max(n - 1, 1) for n in sizes
        ]
        y, x = steps
        grid = np.stack([*np.broadcast_arrays(x[None], y[:, None]), np.ones(sizes)])
        return np.einsum("nrk,khw->nrhw", data.astype(np.float64), grid).astype(data.dtype)
