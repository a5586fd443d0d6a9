"""Resizing of one to three spatial dims, with the options of ONNX's ``Resize``."""

from __future__ import annotations

from abc import ABC
from collections.abc import Mapping, Sequence
from functools import reduce
from operator import add
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from xdsl.ir import Attribute
from xdsl.irdl import irdl_op_definition, opt_prop_def

from ...dtypes import element_type, is_float
from ...int_expr import IntExpr
from ..types import TensorType, shape_text
from .attributes import Bool, Floats, Number, OutDType, SpatialExprs, Text
from .base import UnaryOp
from .conversion import accumulator, converted, wide
from .elementwise import NUMBERS
from .indexing import where_filled
from .inference import divides, require_dtype, require_rank
from .language import TensorLanguage
from .layouts import AnyLayouts, Layout
from .resize_axes import ResizedDim
from .resize_options import METHODS, OF_MODE, ROUNDINGS, TRANSFORMATIONS, Resizing
from .windows import all_of, expressions, in_order

MOST_TAPS = 8
"""The most elements that one expression combines; more are a reduction."""


class ResizeOp(UnaryOp, ABC):
    """An operator that interpolates the spatial dims to `size`.

    A transformation of coordinates, as ONNX names them, gives the place of an element in the data.
    Its factor is that of the sizes, unless `scales` give it: they are the factors of the result's
    sizes before these are rounded. "tf_crop_and_resize" takes the part `roi`, starts and then ends
    in units of the dims, and gives `extrapolation_value` outside of the data. With `antialias`, the
    weights of a smaller result are stretched; with `cubic_exclude`, elements outside of the data
    have none, by default they are those of the edge. The result is computed at least in float32.
    A `rounding_method` of "" is "floor", but "round" for aligned corners.
    """

    SPATIAL: ClassVar[str]
    """The letters of the spatial dims."""

    cubic_alpha = opt_prop_def(Number(default=-0.75))
    cubic_exclude = opt_prop_def(Bool(default=False))
    extrapolation_value = opt_prop_def(Number(default=0.0))
    out_dtype = opt_prop_def(OutDType())
    scales = opt_prop_def(Floats(default=None))
    antialias = opt_prop_def(Bool(default=False))

    @classmethod
    def encode(cls, attributes: Mapping[str, Any]) -> dict[str, Attribute]:
        """Without a `roi` of zeros, TVM's default, unless the mode takes that part."""
        given, zeros = dict(attributes), [0] * 2 * len(cls.SPATIAL)
        crops = given.get("coordinate_transformation_mode") == "tf_crop_and_resize"
        if not crops and list(given.get("roi") or ()) == zeros:
            del given["roi"]
        return super().encode(given)

    @classmethod
    def dims(cls, sizes: Sequence[IntExpr], attributes: dict[str, Any]) -> dict[str, ResizedDim]:
        """How each spatial dim is resized; raises ValueError for wrong attributes."""
        rank, counts = len(cls.SPATIAL), attributes["size"]
        if len(counts) != rank:
            raise ValueError(
                f"expected size of '{cls.name}' to have {rank} ints, got {len(counts)}"
            )
        scales = attributes["scales"] or [None] * rank
        region = attributes["roi"] or [0.0] * rank + [1.0] * rank
        if len(scales) != rank or any(s is not None and not s > 0 for s in scales):
            raise ValueError(
                f"expected scales of '{cls.name}' to be {rank} positive numbers, got {scales}"
            )
        if len(region) != 2 * rank:
            raise ValueError(
                f"expected roi of '{cls.name}' to have {2 * rank} numbers, got {len(region)}"
            )
        regions = zip(region[:rank], region[rank:], strict=True)
        made = _resizing(attributes)
        parts = zip(cls.SPATIAL, sizes, counts, scales, regions, strict=True)
        return {s: ResizedDim(d, IntExpr.of(c), f, r, made) for s, d, c, f, r in parts}

    @classmethod
    def infer(cls, operands: Sequence[TensorType], attributes: dict[str, Any]) -> TensorType:
        (data,), rank = operands, 2 + len(cls.SPATIAL)
        require_dtype(cls.name, operands, *NUMBERS)
        require_rank(cls.name, "data", data, rank)
        dtype = attributes["out_dtype"]
        element = data.known_element if dtype is None else element_type(dtype)
        if data.dims is None:
            return TensorType.of(None, element, rank)
        layout = attributes["layout"]
        named = dict(zip(layout, data.dims, strict=True))
        resized = cls.dims([named[s] for s in cls.SPATIAL], attributes)
        if any(named[s].constant == 0 and d.count.constant != 0 for s, d in resized.items()):
            raise ValueError(
                f"expected spatial dims of '{cls.name}' other than 0, got {shape_text(data)}"
            )
        named |= {s: d.count for s, d in resized.items()}
        return TensorType.of([named[letter] for letter in layout], element)

    @classmethod
    def compute(cls, te: TensorLanguage, tensors: Sequence[Any], attributes: dict[str, Any]) -> Any:
        (data,), layout = tensors, attributes["layout"]
        exprs: dict[str, Any] = dict(attributes)
        exprs["size"] = tuple(te.dim_expr(e) for e in attributes["size"])
        resized = cls.dims(expressions(te, data, layout, cls.SPATIAL), exprs)
        moved = {letter: dim for letter, dim in resized.items() if not dim.is_kept}
        value: Any = data
        if attributes["method"] == "nearest_neighbor":
            value = _nearest(te, value, layout, moved)
        else:
            dtype = accumulator(data.dtype) if is_float(data.dtype) else "float32"
            for letter, dim in moved.items():
                value = _interpolated(te, value, layout, letter, dim, dtype)
        return _finished(te, value, layout, resized, exprs, exprs["out_dtype"] or data.dtype)

    @classmethod
    def reference(cls, arrays: Sequence[NDArray[Any]], attributes: dict[str, Any]) -> NDArray[Any]:
        (data,), layout = arrays, attributes["layout"]
        dtype = attributes["out_dtype"] or str(data.dtype)
        sizes = in_order([IntExpr.of(d) for d in data.shape], layout, cls.SPATIAL)
        result, outside = wide(data, dtype), np.zeros((1,) * data.ndim, bool)
        for letter, dim in cls.dims(sizes, attributes).items():
            axis = layout.index(letter)
            if not dim.is_kept:
                exact = result.astype(np.float64)
                result = np.moveaxis(np.tensordot(exact, dim.numpy_matrix(), (axis, 1)), -1, axis)
            x = dim.numpy_coordinates(np.float64)
            beyond = (x < 0) | (x > dim.length.offset - 1)
            outside = outside | beyond.reshape([-1 if a == axis else 1 for a in range(data.ndim)])
        if attributes["coordinate_transformation_mode"] == "tf_crop_and_resize":
            result = np.where(outside, attributes["extrapolation_value"], result)
        return converted(result, dtype)


def _resizing(attributes: dict[str, Any]) -> Resizing:
    mode, rounding = attributes["coordinate_transformation_mode"], attributes["rounding_method"]
    if rounding == OF_MODE:
        rounding = "round" if mode == "align_corners" else "floor"
    return Resizing(
        attributes["method"],
        mode,
        rounding,
        attributes["cubic_alpha"],
        bool(attributes["cubic_exclude"]),
        attributes["antialias"],
    )


def _shape(te: TensorLanguage, data: Any, layout: str, moved: dict[str, ResizedDim]) -> Any:
    dims = [te.dim_expr(d) for d in data.shape]
    counts = [
        moved[letter].count if letter in moved else dim
        for letter, dim in zip(layout, dims, strict=True)
    ]
    return te.tensor.shape_of(counts)


def _sizes(te: TensorLanguage, moved: dict[str, ResizedDim]) -> Any:
    """The sizes of dims that may have no element where the result has."""
    doubtful = [d.length for d in moved.values() if not divides(d.length, d.count)]
    return te.tensor.shape_of(doubtful)


def _nearest(te: TensorLanguage, data: Any, layout: str, moved: dict[str, ResizedDim]) -> Any:
    sizes = _sizes(te, moved)

    def element(*i: Any) -> Any:
        at = dict(zip(layout, i, strict=True))
        at |= {letter: dim.te_index(te, at[letter]) for letter, dim in moved.items()}
        return where_filled(te, sizes, data(*at.values()))

    return te.compute(_shape(te, data, layout, moved), element, name="resize")


def _interpolated(
    te: TensorLanguage, data: Any, layout: str, letter: str, dim: ResizedDim, dtype: str
) -> Any:
    """The data with one dim interpolated, in `dtype`."""
    (indices, weights), sizes = dim.te_tables(te, dtype, letter.lower()), _sizes(te, {letter: dim})
    axis, taps = layout.index(letter), indices.shape[0]

    def element(*i: Any) -> Any:
        def tap(k: Any) -> Any:
            at = [*i[:axis], indices(k, i[axis]), *i[axis + 1 :]]
            return where_filled(te, sizes, data(*at)).astype(dtype) * weights(k, i[axis])

        if not isinstance(taps, int) or taps > MOST_TAPS:
            k = te.reduce_axis((0, taps), name="k")
            return te.sum(tap(k), axis=k)
        return reduce(add, map(tap, range(taps)))

    return te.compute(_shape(te, data, layout, {letter: dim}), element, name="resize")


def _finished(
    te: TensorLanguage,
    value: Any,
    layout: str,
    resized: dict[str, ResizedDim],
    attributes: dict[str, Any],
    dtype: str,
) -> Any:
    """The result in its dtype, with the value for elements outside of the data."""
    crops = attributes["coordinate_transformation_mode"] == "tf_crop_and_resize"
    moves = any(not dim.is_kept for dim in resized.values())
    if moves and not crops and value.dtype == dtype:
        return value

    def element(*i: Any) -> Any:
        found = value(*i).astype(dtype)
        if not crops:
            return found
        at = dict(zip(layout, i, strict=True))
        inside = [dim.te_is_inside(te, at[s], "float32") for s, dim in resized.items()]
        fill = te.cast(dtype, te.const(attributes["extrapolation_value"], "float32"))
        return te.select(all_of(inside), found, fill)

    return te.compute(value.shape, element, name="T_resize")


class OneDimRegion:
    """The first attributes of a resize of one spatial dim, in the order of TVM's."""

    SPATIAL: ClassVar[str] = "W"
    size = opt_prop_def(SpatialExprs(count=1))
    roi = opt_prop_def(Floats(default=None))
    layout = opt_prop_def(Layout(default="NCW", choices=("NCW", "NWC")))


class TwoDimRegion:
    """The first attributes of a resize of two spatial dims."""

    SPATIAL: ClassVar[str] = "HW"
    size = opt_prop_def(SpatialExprs(count=2))
    roi = opt_prop_def(Floats(default=None))
    layout = opt_prop_def(Layout(default="NCHW", choices=("NCHW", "NHWC")))


class ThreeDimRegion:
    """The first attributes of a resize of three spatial dims."""

    SPATIAL: ClassVar[str] = "DHW"
    size = opt_prop_def(SpatialExprs(count=3))
    roi = opt_prop_def(Floats(default=None))
    layout = opt_prop_def(Layout(default="NCDHW", choices=("NCDHW", "NDHWC")))


class Coordinates:
    """The attributes after these: how elements are chosen."""

    method = opt_prop_def(Text(default="linear", choices=METHODS))
    coordinate_transformation_mode = opt_prop_def(
        Text(default="half_pixel", choices=TRANSFORMATIONS)
    )
    rounding_method = opt_prop_def(Text(default="round", choices=(*ROUNDINGS, OF_MODE)))


@irdl_op_definition
class Resize1dOp(AnyLayouts, OneDimRegion, Coordinates, ResizeOp):
    """Interpolate one spatial dim to `size`; `torch.nn.functional.interpolate`, ONNX Resize."""

    name = "relax.image.resize1d"


@irdl_op_definition
class Resize2dOp(AnyLayouts, TwoDimRegion, Coordinates, ResizeOp):
    """Interpolate two spatial dims to `size`; `torch.nn.functional.interpolate`, ONNX Resize."""

    name = "relax.image.resize2d"


@irdl_op_definition
class Resize3dOp(AnyLayouts, ThreeDimRegion, Coordinates, ResizeOp):
    """Interpolate three spatial dims to `size`; `torch.nn.functional.interpolate`."""

    name = "relax.image.resize3d"
    rounding_method = opt_prop_def(Text(default=OF_MODE, choices=(*ROUNDINGS, OF_MODE)))
