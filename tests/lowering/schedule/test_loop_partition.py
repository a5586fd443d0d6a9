"""What has loops of its own for its border is what it was, for borders and sizes of all kinds."""

import numpy as np
import pytest
from differential import without_rules

from xrelax import relax
from xrelax.script import from_source

IMAGES = ((1, 1, 1, 3), (0, 5, 7, 4), (1, 13, 17, 19), (2, 37, 16, 64))
"""Numbers of images, rows, columns and channels."""

WINDOWS = (
    "pool_size=3, strides=2, padding=1",
    "pool_size=(2, 3), strides=1, padding=(0, 1, 1, 1)",
    "pool_size=3, strides=1, padding=2, dilation=2",
)


def check(calls, shape, dtype="float32"):
    """Compare calls on whole numbers with themselves as they are written."""
    text = "@I.ir_module\nclass Module:\n" + "".join(
        f'    @R.function\n    def f{n}(x: R.Tensor({shape}, "{dtype}")):\n        return {call}\n'
        for n, call in enumerate(calls)
    )
    values = np.random.default_rng(0).integers(-9, 10, shape).astype(dtype)
    with without_rules():
        plain = relax.build(from_source(text))
    scheduled = relax.build(from_source(text))
    for n, call in enumerate(calls):
        found, expected = (code[f"f{n}"](values).numpy() for code in (scheduled, plain))
        np.testing.assert_array_equal(found, expected, err_msg=f"{call} of {shape}")


@pytest.mark.sampled
@pytest.mark.parametrize("image", IMAGES)
@pytest.mark.parametrize("layout", ["NHWC", "NCHW"])
def test_pools(image, layout):
    n, h, w, c = image
    calls = [
        f'R.nn.{op}(x, {window}, layout="{layout}")'
        for window in WINDOWS
        for op in ("max_pool2d", "avg_pool2d")
    ]
    check(calls, (n, h, w, c) if layout == "NHWC" else (n, c, h, w))


@pytest.mark.sampled
@pytest.mark.parametrize("shape", [(1, 1), (0, 4), (33, 47), (40, 16)])
@pytest.mark.parametrize("dtype", ["float32", "float64", "int32"])
def test_padding(shape, dtype):
    padded = [f"R.nn.pad(x, {w})" for w in ((0, 0, 1, 1), (3, 2, 0, 1), (9, 9, 9, 9))]
    check(padded + [f"R.permute_dims({call})" for call in padded], shape, dtype)


@pytest.mark.parametrize("order", ["rki", "kir"])
@pytest.mark.parametrize("extent", ["n", 0, 3])
def test_sums_of_nothing_start_on_both_sides_of_a_border(extent, order):
    extents = {"r": extent, "k": 2, "i": 8}
    first, second, third = (f"for {v} in range({extents[v]}):" for v in order)
    source = f"""
@T.prim_func
def main(x: T.handle, y: T.handle):
    n = T.int64()
    X = T.match_buffer(x, (n, 8))
    Y = T.match_buffer(y, (8,))
    {first}
        {second}
            {third}
                with T.block("Y"):
                    vr, vk, vi = T.axis.remap("RRS", [r, k, i])
                    with T.init():
                        Y[vi] = T.float32(2)
                    Y[vi] = Y[vi] + T.if_then_else(vi >= 1, X[vr, vi], T.float32(3))
"""
    if extent != "n":
        source = source.replace("    n = T.int64()\n", "").replace("(n, 8)", f"({extent}, 8)")
    function = relax.build(from_source(source))["main"]
    for rows in (0, 1, 3) if extent == "n" else (extent,):
        x = np.arange(8 * rows, dtype=np.float32).reshape(rows, 8)
        y = np.full(8, 77, np.float32)
        function(x, y)
        expected = 2 + 2 * x.sum(0)
        expected[0] = 2 + 2 * 3 * rows
        np.testing.assert_array_equal(y, expected)
