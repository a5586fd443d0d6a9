"""Convolutions with fewer products: Winograd's minimal filtering of 3x3 windows (Lavin, Gray 2015).

::

    V[i, j, t, c] = (B^T d B)[i, j]        the window `d` of a tile `t` of results
    M[i, j, t, k] = sum of V[i, j, t, c] * U[i, j, c, k] over c
    Y[n, h, w, k] = (A^T M A)[h % m, w % m]

Tiles of m x m results read windows of (m + 2)^2 elements, and take as many products instead of
9 m^2. Tiles are in blocks, so that the transformed data of one fits a cache.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from xdsl.ir import Attribute
from xdsl.irdl import irdl_op_definition, operand_def, opt_prop_def

from ...int_expr import IntExpr
from ..types import TensorType
from .attributes import Int, Padding, SpatialInts, Text
from .base import OperatorOp
from .conversion import product_element
from .convolution import ChannelError, ConvolutionOp, in_layout
from .inference import require_dtype, require_rank
from .language import TensorLanguage
from .toom_cook import POINTS, array, collect, filtering, pick, transform
from .windows import Window, expressions, padded, spatial_ints, windows_of

TAPS = 3
"""The size of windows in each spatial dim."""


def _require_tile(op_name: str, tile: int) -> None:
    if tile not in POINTS:
        known = " or ".join(map(str, POINTS))
        raise ValueError(f"expected tile of '{op_name}' to be {known}, got {tile}")


def _is_wide(dtype: str) -> bool:
    return dtype in ("float32", "float64")


@irdl_op_definition
class WinogradWeightOp(OperatorOp):
    """The transformed weight of `relax.nn.winograd_conv2d`, ``G g G^T``, of a 3x3 weight "HWIO".

    ``(3, 3, I, O)`` becomes ``(tile + 2, tile + 2, I, O)``. Sums are in float64. TVM's
    ``contrib_conv2d_winograd_weight_transform``.
    """

    name = "relax.nn.winograd_weight"
    weight = operand_def(TensorType)
    tile = opt_prop_def(Int(default=4))
    assembly_format = "$weight attr-dict `:` type($weight) `->` type($result)"

    @classmethod
    def infer(cls, operands: Sequence[TensorType], attributes: dict[str, Any]) -> TensorType:
        (weight,) = operands
        _require_tile(cls.name, attributes["tile"])
        require_dtype(cls.name, operands, _is_wide, "float32 or float64")
        require_rank(cls.name, "weight", weight, 4)
        if weight.dims is None:
            return TensorType.of(None, weight.known_element, 4)
        taps = IntExpr.of(TAPS)
        if tuple(weight.dims[:2]) != (taps, taps):
            sizes = "x".join(map(str, weight.dims[:2]))
            raise ValueError(f"expected windows of '{cls.name}' to be 3x3, got {sizes}")
        products = IntExpr.of(filtering(attributes["tile"]).products)
        return TensorType.of([products, products, *weight.dims[2:]], weight.known_element)

    @classmethod
    def compute(cls, te: TensorLanguage, tensors: Sequence[Any], attributes: dict[str, Any]) -> Any:
        (weight,), made = tensors, filtering(attributes["tile"])
        shape = (made.products, made.products, *weight.shape[2:])

        def along(values: Sequence[Any], index: Any) -> Any:
            rows = [
                sum(te.const(float(f), "float64") * v for f, v in zip(row, values, strict=True))
                for row in made.filters
            ]
            return pick(te, index, rows)

        def element(i: Any, j: Any, c: Any, k: Any) -> Any:
            columns = [
                along([weight(y, x, c, k).astype("float64") for y in range(TAPS)], i)
                for x in range(TAPS)
            ]
            return along(columns, j).astype(weight.dtype)

        return te.compute(shape, element, name="winograd_weight")

    @classmethod
    def reference(cls, arrays: Sequence[NDArray[Any]], attributes: dict[str, Any]) -> NDArray[Any]:
        (weight,) = arrays
        factors = array(filtering(attributes["tile"]).filters)
        found = np.einsum("ia,jb,abck->ijck", factors, factors, weight.astype(np.float64))
        return found.astype(weight.dtype)


@irdl_op_definition
class WinogradConv2dOp(ConvolutionOp):
    """A 3x3 convolution of stride 1 by Winograd's minimal filtering, with a transformed weight.

    The weight is the result of `relax.nn.winograd_weight`, ``(n, n, I, O)`` for the ``n^2``
    products of a tile of results, where n is ``tile + 2``. `block` has the most rows and
    columns of tiles in a block. TVM's ``contrib_conv2d_winograd_without_weight_transform``.
    """

    name = "relax.nn.winograd_conv2d"
    SPATIAL: ClassVar[str] = "HW"
    padding = opt_prop_def(Padding(default=(0, 0, 0, 0)))
    tile = opt_prop_def(Int(default=4))
    block = opt_prop_def(SpatialInts(default=(1, 1)))
    data_layout = opt_prop_def(Text(default="NCHW", choices=("NCHW", "NHWC")))
    kernel_layout = opt_prop_def(Text(default="HWIO", choices=("HWIO",)))
    out_layout = opt_prop_def(Text(default=None, choices=("NCHW", "NHWC")))

    @classmethod
    def windows(cls, sizes: Sequence[IntExpr], attributes: dict[str, Any]) -> Sequence[Window]:
        plain = {"strides": (1,), "dilation": (1,), "padding": attributes["padding"]}
        return windows_of(cls.name, [IntExpr.of(TAPS) for _ in sizes], plain)

    @classmethod
    def data_channels(cls, weight: Sequence[IntExpr], attributes: dict[str, Any]) -> IntExpr:
        return weight[1]

    @classmethod
    def geometry(
        cls, data: Sequence[IntExpr], weight: Sequence[IntExpr], attributes: dict[str, Any]
    ) -> tuple[list[IntExpr], IntExpr]:
        _require_tile(cls.name, attributes["tile"])
        spatial_ints(cls.name, "block", attributes["block"], 2, 1)
        products = IntExpr.of(filtering(attributes["tile"]).products)
        if tuple(weight[2:]) != (products, products):
            sizes = "x".join(map(str, weight[2:]))
            raise ValueError(
                f"expected {products}x{products} products of '{cls.name}' for tiles of "
                f"{attributes['tile']}, got {sizes}"
            )
        if data[1] != weight[1]:
            raise ChannelError
        windows = cls.windows(weight[2:], attributes)
        return [w.count(cls.name, d) for w, d in zip(windows, data[2:], strict=True)], weight[0]

    @classmethod
    def element(
        cls, operands: Sequence[TensorType], attributes: dict[str, Any]
    ) -> Attribute | None:
        require_dtype(cls.name, operands, _is_wide, "float32 or float64")
        return product_element(cls.name, operands, None)

    @classmethod
    def blocks(
        cls, counts: Sequence[IntExpr], attributes: dict[str, Any]
    ) -> tuple[list[IntExpr], list[int]]:
        """The number of blocks and the tiles in each by spatial dim, in which they are equal."""
        most = spatial_ints(cls.name, "block", attributes["block"], 2, 1)
        size, blocks, tiles = attributes["tile"], list[IntExpr](), list[int]()
        for count, limit in zip(counts, most, strict=True):
            number = (count + size * limit - 1) // (size * limit)
            all_tiles, known = ((count + size - 1) // size).constant, number.constant
            tiles.append(-(-all_tiles // known) if known and all_tiles is not None else limit)
            blocks.append(number)
        return blocks, tiles

    @classmethod
    def compute(cls, te: TensorLanguage, tensors: Sequence[Any], attributes: dict[str, Any]) -> Any:
        data, weight = tensors
        layout, _, out = cls.layouts(attributes)
        size, made = attributes["tile"], filtering(attributes["tile"])
        sizes = expressions(te, weight, "HWIO", "OIHW")
        counts, _ = cls.geometry(expressions(te, data, layout, "NCHW"), sizes, attributes)
        blocks, (rows, columns) = cls.blocks(counts, attributes)
        covered = [b * (n * size) for b, n in zip(blocks, (rows, columns), strict=True)]
        windows = cls.windows(sizes[2:], attributes)
        image, _ = padded(te, data, layout, "NHWC", windows, covered, data.dtype)
        batch, (*_, channels, outputs) = image.shape[0], weight.shape
        across, along, tiles = *te.tensor.shape_of(blocks), rows * columns
        each = range(made.products)

        def vertical(b: Any, r: Any, q: Any, t: Any, i: Any, x: Any, c: Any) -> Any:
            top, left = (r * rows + t // columns) * size, (q * columns + t % columns) * size
            values = [image(b, top + y, left + x, c) for y in each]
            return pick(te, i, [transform(te, row, values) for row in made.data])

        def horizontal(b: Any, r: Any, q: Any, i: Any, j: Any, t: Any, c: Any) -> Any:
            values = [half(b, r, q, t, i, x, c) for x in each]
            return pick(te, j, [transform(te, row, values) for row in made.data])

        def product(b: Any, r: Any, q: Any, i: Any, j: Any, t: Any, k: Any) -> Any:
            return te.sum(found(b, r, q, i, j, t, inner) * weight(i, j, inner, k), axis=inner)

        def collected(b: Any, r: Any, q: Any, t: Any, y: Any, j: Any, k: Any) -> Any:
            values = [products(b, r, q, i, j, t, k) for i in each]
            return pick(te, y, [collect(te, made, row, values) for row in made.results])

        def result(b: Any, r: Any, q: Any, t: Any, y: Any, x: Any, k: Any) -> Any:
            values = [partial(b, r, q, t, y, j, k) for j in each]
            return pick(te, x, [collect(te, made, row, values) for row in made.results])

        def element(b: Any, h: Any, w: Any, k: Any) -> Any:
            tile = (h // size % rows) * columns + w // size % columns
            place = h // (size * rows), w // (size * columns), tile
            return results(b, *place, h % size, w % size, k)

        inner, n = te.reduce_axis((0, channels), "c"), made.products
        blocked = (batch, across, along)
        half = te.compute((*blocked, tiles, n, n, channels), vertical, name="data_rows")
        found = te.compute((*blocked, n, n, tiles, channels), horizontal, name="data_tiles")
        products = te.compute((*blocked, n, n, tiles, outputs), product, name="products")
        partial = te.compute((*blocked, tiles, size, n, outputs), collected, name="result_rows")
        results = te.compute((*blocked, tiles, size, size, outputs), result, name="result_tiles")
        shape = (batch, *te.tensor.shape_of(counts), outputs)
        return in_layout(te, te.compute(shape, element, name="conv_sum"), out, data.dtype)

    @classmethod
    def numpy_groups(
        cls,
        data: NDArray[Any],
        weight: NDArray[Any],
        windows: Sequence[Window],
        counts: Sequence[int],
        groups: int,
    ) -> NDArray[Any]:
        made = filtering(weight.shape[-1] - TAPS + 1)
        size, n = len(made.results), made.products
        tiles = [-(-count // size) for count in counts]
        widths = [(0, 0), (0, 0)]
        for length, w, number in zip(data.shape[2:], windows, tiles, strict=True):
            widths.append((w.before, max(0, number * size + TAPS - 1 - length - w.before)))
        full = np.pad(data.astype(np.float64), widths)
        seen = np.lib.stride_tricks.sliding_window_view(full, (n, n), axis=(2, 3))
        seen = seen[:, :, ::size, ::size][:, :, : tiles[0], : tiles[1]]
        rows, results = array(made.data), array(made.results)
        found = np.einsum("ia,jb,ncyxab->ncyxij", rows, rows, seen)
        found = np.einsum("ncyxij,kcij->nkyxij", found, weight.astype(np.float64))
        found = np.einsum("ai,bj,nkyxij->nkyaxb", results, results, found)
        batch, outputs = found.shape[:2]
        found = found.reshape(batch, 1, outputs, tiles[0] * size, tiles[1] * size)
        return found[..., : counts[0], : counts[1]].astype(data.dtype)
