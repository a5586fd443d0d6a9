"""Convolutions with strides, padding, dilation and groups: conv1d, conv2d, conv3d.

The kernel that users see sums over operands in their own layouts, as TVM's does::

    P[n, i, h, w] = X[n, i, h - 1, w - 1] if … else 0
    Y[n, o, h, w] += P[n, i, h + r, w + s] * W[o, i, r, s]

Builds start from one whose channels are last, see `convolution`. The default schedule makes that of
the other too, see `channels_last`.
"""

from __future__ import annotations

from abc import ABC
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from xdsl.irdl import irdl_op_definition, opt_prop_def

from ...int_expr import IntExpr
from .attributes import Int, OutDType, Padding, SpatialInts
from .conversion import accumulator
from .convolution import ConvolutionLayouts
from .forward_convolution import ForwardConvolutionOp
from .language import TensorLanguage
from .layouts import Layout
from .steps import PlainFormOp
from .windows import Window, all_of, expressions


class PlainConvolutionOp(ConvolutionLayouts, PlainFormOp, ForwardConvolutionOp, ABC):
    """A convolution with a kernel in TVM's form, if dtypes and plain layouts do not change."""

    @classmethod
    def compute_plain(
        cls, te: TensorLanguage, tensors: Sequence[Any], attributes: dict[str, Any]
    ) -> Any:
        (data, weight), (layout, kernel, out) = tensors, cls.layouts(attributes)
        dtype, rank = attributes["out_dtype"] or data.dtype, 2 + len(cls.SPATIAL)
        is_plain = layout == out and (len(layout), len(kernel)) == (rank, rank)
        if not is_plain or {dtype, accumulator(data.dtype, dtype)} != {data.dtype}:
            return cls.compute(te, tensors, attributes)
        sizes = dict(zip(kernel, expressions(te, weight, kernel, kernel), strict=True))
        found = cls.windows([sizes[s] for s in cls.SPATIAL], attributes)
        windows = dict(zip(cls.SPATIAL, found, strict=True))
        dims = dict(zip(layout, expressions(te, data, layout, layout), strict=True))
        dims |= {s: w.count(cls.name, dims[s]) for s, w in windows.items()} | {"C": sizes["O"]}
        letters, groups = layout.replace("N", ""), attributes["groups"]
        extents = te.tensor.shape_of([sizes[s.replace("C", "I")] for s in letters])
        axes = {
            s: te.reduce_axis((0, e), f"r{s.lower()}")
            for s, e in zip(letters, extents, strict=True)
        }
        own, each = te.tensor.shape_of([sizes["I"], dims["C"] // IntExpr.of(groups)])
        source = _padded(te, data, layout, windows)
        kind = f"conv{len(cls.SPATIAL)}d_{layout.lower()}"
        name = kind if groups == 1 else f"group_{kind}"

        def element(*i: Any) -> Any:
            at = dict(zip(layout, i, strict=True))
            channel = axes["C"] if groups == 1 else at["C"] // each * own + axes["C"]
            read = {s: at[s] * w.stride + axes[s] * w.dilation for s, w in windows.items()}
            read |= {"N": at["N"], "C": channel}
            weights = axes | {"O": at["C"], "I": axes["C"]}
            left, right = source(*(read[s] for s in layout)), weight(*(weights[s] for s in kernel))
            return te.sum(left * right, axis=list(axes.values()))

        return te.compute(te.tensor.shape_of([dims[s] for s in layout]), element, name=name)


def _padded(te: TensorLanguage, data: Any, layout: str, windows: Mapping[str, Window]) -> Any:
    """A copy of the data with zeros around its spatial dims; there is one even without padding."""
    dims = dict(zip(layout, expressions(te, data, layout, layout), strict=True))
    shape = dims | {s: dims[s] + (w.before + w.after) for s, w in windows.items()}

    def element(*i: Any) -> Any:
        at, inside = dict(zip(layout, i, strict=True)), list[Any]()
        for letter in (s for s in layout if s in windows):
            w, place = windows[letter], at[letter]
            (end,) = te.tensor.shape_of([dims[letter] + w.before])
            inside += [te.LE(w.before, place)] if w.before else []
            inside += [place < end] if w.after else []
            at[letter] = place - w.before
        found = data(*(at[s] for s in layout))
        return te.if_then_else(all_of(inside), found, te.const(0, data.dtype)) if inside else found

    return te.compute(te.tensor.shape_of([shape[s] for s in layout]), element, name="pad_temp")


@irdl_op_definition
class Conv1dOp(PlainConvolutionOp):
    """Convolution over one dim; `torch.nn.functional.conv1d`."""

    name = "relax.nn.conv1d"
    SPATIAL: ClassVar[str] = "W"
    strides = opt_prop_def(SpatialInts(default=(1,)))
    padding = opt_prop_def(Padding(default=(0, 0)))
    dilation = opt_prop_def(SpatialInts(default=(1,)))
    groups = opt_prop_def(Int(default=1))
    data_layout = opt_prop_def(Layout(default="NCW", choices=("NCW", "NWC")))
    kernel_layout = opt_prop_def(Layout(default="OIW", choices=("OIW", "WIO", "OWI")))
    out_layout = opt_prop_def(Layout(default=None, choices=("NCW", "NWC")))
    out_dtype = opt_prop_def(OutDType())


@irdl_op_definition
class Conv2dOp(PlainConvolutionOp):
    """Convolution over two dims; `torch.nn.functional.conv2d`."""

    name = "relax.nn.conv2d"
    SPATIAL: ClassVar[str] = "HW"
    strides = opt_prop_def(SpatialInts(default=(1, 1)))
    padding = opt_prop_def(Padding(default=(0, 0, 0, 0)))
    dilation = opt_prop_def(SpatialInts(default=(1, 1)))
    groups = opt_prop_def(Int(default=1))
    data_layout = opt_prop_def(Layout(default="NCHW", choices=("NCHW", "NHWC")))
    kernel_layout = opt_prop_def(Layout(default="OIHW", choices=("OIHW", "HWIO", "OHWI")))
    out_layout = opt_prop_def(Layout(default=None, choices=("NCHW", "NHWC")))
    out_dtype = opt_prop_def(OutDType())


@irdl_op_definition
class Conv3dOp(PlainConvolutionOp):
    """Convolution over three dims; `torch.nn.functional.conv3d`."""

    name = "relax.nn.conv3d"
    SPATIAL: ClassVar[str] = "DHW"
    strides = opt_prop_def(SpatialInts(default=(1, 1, 1)))
    padding = opt_prop_def(Padding(default=(0, 0, 0, 0, 0, 0)))
    dilation = opt_prop_def(SpatialInts(default=(1, 1, 1)))
    groups = opt_prop_def(Int(default=1))
    data_layout = opt_prop_def(Layout(default="NCDHW", choices=("NCDHW", "NDHWC")))
    kernel_layout = opt_prop_def(Layout(default="OIDHW", choices=("OIDHW", "DHWIO", "ODHWI")))
    out_layout = opt_prop_def(Layout(default=None, choices=("NCDHW", "NDHWC")))
    out_dtype = opt_prop_def(OutDType())
