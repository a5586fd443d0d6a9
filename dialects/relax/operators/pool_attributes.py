"""The attributes of pools over one to three spatial dims."""

from __future__ import annotations

from typing import ClassVar

from xdsl.irdl import opt_prop_def

from .attributes import Bool, Padding, SpatialInts
from .layouts import Layout


class OneDim:
    """The attributes of pools over one dim."""

    SPATIAL: ClassVar[str] = "W"
    layout = opt_prop_def(Layout(default="NCW", choices=("NCW", "NWC")))
    out_layout = opt_prop_def(Layout(default=None, choices=("NCW", "NWC")))


class TwoDims:
    """The attributes of pools over two dims."""

    SPATIAL: ClassVar[str] = "HW"
    layout = opt_prop_def(Layout(default="NCHW", choices=("NCHW", "NHWC")))
    out_layout = opt_prop_def(Layout(default=None, choices=("NCHW", "NHWC")))


class ThreeDims:
    """The attributes of pools over three dims."""

    SPATIAL: ClassVar[str] = "DHW"
    layout = opt_prop_def(Layout(default="NCDHW", choices=("NCDHW", "NDHWC")))
    out_layout = opt_prop_def(Layout(default=None, choices=("NCDHW", "NDHWC")))


class OneDimWindows(OneDim):
    """The attributes of windows over one dim."""

    pool_size = opt_prop_def(SpatialInts(default=(1,)))
    strides = opt_prop_def(SpatialInts(default=(1,)))
    padding = opt_prop_def(Padding(default=(0, 0)))
    dilation = opt_prop_def(SpatialInts(default=(1,)))
    ceil_mode = opt_prop_def(Bool(default=False))
    count_include_pad = opt_prop_def(Bool(default=False))


class TwoDimWindows(TwoDims):
    """The attributes of windows over two dims."""

    pool_size = opt_prop_def(SpatialInts(default=(1, 1)))
    strides = opt_prop_def(SpatialInts(default=(1, 1)))
    padding = opt_prop_def(Padding(default=(0, 0, 0, 0)))
    dilation = opt_prop_def(SpatialInts(default=(1, 1)))
    ceil_mode = opt_prop_def(Bool(default=False))
    count_include_pad = opt_prop_def(Bool(default=False))


class ThreeDimWindows(ThreeDims):
    """The attributes of windows over three dims."""

    pool_size = opt_prop_def(SpatialInts(default=(1, 1, 1)))
    strides = opt_prop_def(SpatialInts(default=(1, 1, 1)))
    padding = opt_prop_def(Padding(default=(0, 0, 0, 0, 0, 0)))
    dilation = opt_prop_def(SpatialInts(default=(1, 1, 1)))
    ceil_mode = opt_prop_def(Bool(default=False))
    count_include_pad = opt_prop_def(Bool(default=False))
