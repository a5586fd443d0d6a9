"""Convolutions whose windows have one element along a dim, and step over others."""

import numpy as np
import pytest

from xrelax import relax
from xrelax.dialects.relax.operators.plain_convolution import Conv2dOp
from xrelax.script import from_source

CASES = (
    ((1, 5, 13, 35), (7, 5, 1, 1), (2, 2), (0, 0), 1),
    ((2, 16, 16, 16), (33, 16, 1, 1), (3, 2), (0, 0), 1),
    ((1, 6, 11, 9), (6, 1, 1, 1), (2, 3), (1, 2), 6),
    ((1, 4, 8, 17), (8, 2, 1, 3), (2, 2), (0, 1), 2),
    ((0, 3, 5, 5), (4, 3, 1, 1), (2, 2), (0, 0), 1),
    ((1, 3, 1, 1), (4, 3, 1, 1), (2, 2), (0, 0), 1),
)
"""Data, weight, strides, padding and groups."""


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("layout", ["NCHW", "NHWC"])
def test_thin_windows(case, layout):
    shape, weight, strides, padding, groups = case
    rng = np.random.default_rng(2)
    x, w = (rng.integers(-3, 4, s).astype(np.float32) for s in (shape, weight))
    x = x.transpose([0, 2, 3, 1]).copy() if layout == "NHWC" else x
    options = {"strides": strides, "padding": padding, "groups": groups, "data_layout": layout}
    arguments = ", ".join(f"{k}={v!r}" for k, v in options.items())
    function = from_source(f"""
@R.function
def main(x: R.Tensor({x.shape}, "float32"), w: R.Tensor({w.shape}, "float32")):
    return R.nn.conv2d(x, w, {arguments})
""")
    got = relax.build(function)(x, w).numpy()
    defaults = {"dilation": (1, 1), "kernel_layout": "OIHW", "out_layout": None, "out_dtype": None}
    np.testing.assert_array_equal(got, Conv2dOp.reference([x, w], defaults | options))
