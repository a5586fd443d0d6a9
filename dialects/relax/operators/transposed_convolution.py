"""Transposed convolutions: by phases, or convolutions of dilated data with a flipped weight."""

from __future__ import annotations

from abc import ABC
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from xdsl.irdl import irdl_op_definition, opt_prop_def

from ...bounds import is_less
from ...int_expr import ONE, IntExpr
from .attributes import Int, OutDType, Padding, SpatialInts
from .conversion import accumulator
from .convolution import ChannelError, ConvolutionLayouts, DirectConvolutionOp
from .inference import divides
from .language import TensorLanguage
from .layouts import Layout
from .phases import Phases, has_phases
from .windows import Window, all_of, expressions, in_order, spatial_ints, windows_of


class TransposedConvolutionOp(DirectConvolutionOp, ABC):
    """The gradient of a convolution by its data; the weight is ``(I, O / groups, spatial…)``."""

    @classmethod
    def geometry(
        cls, data: Sequence[IntExpr], weight: Sequence[IntExpr], attributes: dict[str, Any]
    ) -> tuple[list[IntExpr], IntExpr]:
        groups = attributes["groups"]
        if groups < 1 or data[1] != weight[1] or not divides(IntExpr.of(groups), weight[1]):
            raise ChannelError
        windows = windows_of(cls.name, weight[2:], attributes)
        extra = attributes["output_padding"]
        extra = spatial_ints(cls.name, "output_padding", extra, len(windows), 0)
        sizes = [
            (d - 1) * w.stride - (w.before + w.after) + w.reach + e
            for d, w, e in zip(data[2:], windows, extra, strict=True)
        ]
        for size, window, e in zip(sizes, windows, extra, strict=True):
            if e >= max(window.stride, window.dilation):
                raise ValueError(
                    f"expected output_padding of '{cls.name}' to be less than strides or dilation, "
                    f"got {e}"
                )
            if is_less(size, ONE):
                raise ValueError(
                    f"expected padding of '{cls.name}' to leave a result, got a dim of {size}"
                )
        return sizes, weight[0] * groups

    @classmethod
    def compute(cls, te: TensorLanguage, tensors: Sequence[Any], attributes: dict[str, Any]) -> Any:
        data, weight = tensors
        layout, kernel, _ = cls.layouts(attributes)
        dims = expressions(te, data, layout, f"NC{cls.SPATIAL}")
        sizes = expressions(te, weight, kernel, f"OI{cls.SPATIAL}")
        windows = windows_of(cls.name, sizes[2:], attributes)
        if not all(has_phases(w) for w in windows):
            return super().compute(te, tensors, attributes)
        counts, _ = cls.geometry(dims, sizes, attributes)
        return Phases(te, cls.SPATIAL, tuple(windows), tuple(counts)).compute(
            tensors, cls.layouts(attributes), attributes
        )

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
        dtype = accumulator(data.dtype, attributes["out_dtype"])
        return (
            cls._spread(te, data, layout, windows, counts, dtype),
            cls._flipped(te, weight, kernel, attributes["groups"], dtype),
            [replace(w, stride=1) for w in windows],
        )

    @classmethod
    def _spread(
        cls,
        te: TensorLanguage,
        data: Any,
        layout: str,
        windows: Sequence[Window],
        counts: Sequence[IntExpr],
        dtype: str,
    ) -> Any:
        """The data, channels last, dilated and padded with zeros."""
        last = f"N{cls.SPATIAL}C"
        batch, *spatial, channels = expressions(te, data, layout, last)
        shape = [c + w.reach - 1 for c, w in zip(counts, windows, strict=True)]

        def element(*i: Any) -> Any:
            at, inside = dict(zip(last, i, strict=True)), list[Any]()
            for letter, w, size in zip(cls.SPATIAL, windows, spatial, strict=True):
                first, end = te.tensor.shape_of(
                    [w.reach - 1 - w.before, (size - 1) * w.stride + w.reach - w.before]
                )
                inside += [at[letter] >= first, at[letter] < end]
                from_first = at[letter] - first
                if w.stride > 1:
                    inside.append(from_first % w.stride == 0)
                at[letter] = from_first // w.stride
            found = data(*(at[letter] for letter in layout)).astype(dtype)
            return te.if_then_else(all_of(inside), found, te.const(0, dtype))

        sizes = te.tensor.shape_of([batch, *shape, channels])
        return te.compute(sizes, element, name="spread")

    @classmethod
    def _flipped(cls, te: TensorLanguage, weight: Any, kernel: str, groups: int, dtype: str) -> Any:
        """The weight flipped in its spatial dims, as ``…IO`` with all channels of the result."""
        last = f"{cls.SPATIAL}IO"
        *spatial, inputs, outputs = expressions(te, weight, kernel, last)
        own = inputs // IntExpr.of(groups)
        (each, part) = te.tensor.shape_of([outputs, own])
        sizes = te.tensor.shape_of(spatial)

        def element(*i: Any) -> Any:
            *at, inner, o = i
            back = [s - 1 - a for s, a in zip(sizes, at, strict=True)]
            channel = inner if groups == 1 else o // each * part + inner
            source = [*back, channel, o % each if groups > 1 else o]
            return weight(*in_order(source, last, kernel)).astype(dtype)

        shape = te.tensor.shape_of([*spatial, own, outputs * groups])
        return te.compute(shape, element, name="T_pack")

    @classmethod
    def numpy_groups(
        cls,
        data: NDArray[Any],
        weight: NDArray[Any],
        windows: Sequence[Window],
        counts: Sequence[int],
        groups: int,
    ) -> NDArray[Any]:
        batch, channels, *spatial = data.shape
        each, own, *sizes = weight.shape
        split = data.reshape(batch, groups, channels // groups, *spatial)
        parts = weight.reshape(each, groups, own // groups, *sizes)
        return _scatter(split, parts, windows, counts)


def _scatter(
    data: NDArray[Any], weight: NDArray[Any], windows: Sequence[Window], counts: Sequence[int]
) -> NDArray[Any]:
    """The result by groups: each element of the data adds its multiple of the weight."""
    lengths = [
        max((d - 1) * w.stride + (w.reach.constant or 1), w.before + count)
        for d, w, count in zip(data.shape[3:], windows, counts, strict=True)
    ]
    shape = (data.shape[0], data.shape[1], weight.shape[0], *lengths)
    result = np.zeros(shape, data.dtype)
    for offset in np.ndindex(*weight.shape[3:]):
        at = tuple(
            slice(o * w.dilation, o * w.dilation + (d - 1) * w.stride + 1, w.stride)
            for o, w, d in zip(offset, windows, data.shape[3:], strict=True)
        )
        result[(..., *at)] += np.einsum("ngi...,ogi->ngo...", data, weight[(..., *offset)])
    kept = tuple(slice(w.before, w.before + c) for w, c in zip(windows, counts, strict=True))
    return result[(..., *kept)]


@irdl_op_definition
class Conv1dTransposeOp(ConvolutionLayouts, TransposedConvolutionOp):
    """Transposed convolution over one dim; `torch.nn.functional.conv_transpose1d`."""

    name = "relax.nn.conv1d_transpose"
    SPATIAL: ClassVar[str] = "W"
    strides = opt_prop_def(SpatialInts(default=(1,)))
    padding = opt_prop_def(Padding(default=(0, 0)))
    output_padding = opt_prop_def(SpatialInts(default=(0,), least=0))
    dilation = opt_prop_def(SpatialInts(default=(1,)))
    groups = opt_prop_def(Int(default=1))
    data_layout = opt_prop_def(Layout(default="NCW", choices=("NCW", "NWC")))
    kernel_layout = opt_prop_def(Layout(default="IOW", choices=("IOW", "WOI", "WIO")))
    out_layout = opt_prop_def(Layout(default=None, choices=("NCW", "NWC")))
    out_dtype = opt_prop_def(OutDType())


@irdl_op_definition
class Conv2dTransposeOp(ConvolutionLayouts, TransposedConvolutionOp):
    """Transposed convolution over two dims; `torch.nn.functional.conv_transpose2d`."""

    name = "relax.nn.conv2d_transpose"
    SPATIAL: ClassVar[str] = "HW"
    strides = opt_prop_def(SpatialInts(default=(1, 1)))
    padding = opt_prop_def(Padding(default=(0, 0, 0, 0)))
    output_padding = opt_prop_def(SpatialInts(default=(0, 0), least=0))
    dilation = opt_prop_def(SpatialInts(default=(1, 1)))
    groups = opt_prop_def(Int(default=1))
    data_layout = opt_prop_def(Layout(default="NCHW", choices=("NCHW", "NHWC")))
    kernel_layout = opt_prop_def(Layout(default="IOHW", choices=("IOHW", "HWOI", "HWIO")))
    out_layout = opt_prop_def(Layout(default=None, choices=("NCHW", "NHWC")))
    out_dtype = opt_prop_def(OutDType())


@irdl_op_definition
class Conv3dTransposeOp(ConvolutionLayouts, TransposedConvolutionOp):
    """Transposed convolution over three dims; `torch.nn.functional.conv_transpose3d`."""

    name = "relax.nn.conv3d_transpose"
    SPATIAL: ClassVar[str] = "DHW"
    strides = opt_prop_def(SpatialInts(default=(1, 1, 1)))
    padding = opt_prop_def(Padding(default=(0, 0, 0, 0, 0, 0)))
    output_padding = opt_prop_def(SpatialInts(default=(0, 0, 0), least=0))
    dilation = opt_prop_def(SpatialInts(default=(1, 1, 1)))
    groups = opt_prop_def(Int(default=1))
    data_layout = opt_prop_def(Layout(default="NCDHW", choices=("NCDHW", "NDHWC")))
    kernel_layout = opt_prop_def(Layout(default="IODHW", choices=("IODHW", "DHWOI", "DHWIO")))
    out_layout = opt_prop_def(Layout(default=None, choices=("NCDHW", "NDHWC")))
    out_dtype = opt_prop_def(OutDType())
