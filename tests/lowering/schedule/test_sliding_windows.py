"""Depthwise convolutions and pools, with channels last and in planes, of all dtypes."""

import re

import numpy as np
import pytest
from differential import watched_rules

from xrelax import relax
from xrelax.dialects.relax.operators.plain_convolution import Conv2dOp
from xrelax.dialects.relax.operators.pooling import AvgPool2dOp, MaxPool2dOp
from xrelax.inspection import stage_text
from xrelax.script import from_source

ZEN = "llvm -mcpu=znver4 -mtriple=x86_64-linux-gnu"
TARGET = "llvm -mcpu=haswell -num-cores=1 -cache-sizes=32768,262144,8388608"
LAYOUTS = {"data_layout": "NHWC", "kernel_layout": "OIHW", "out_layout": "NHWC"}
IMAGES = ((1, 14, 14), (2, 7, 9), (1, 1, 15), (3, 23, 8))
TOLERANCE = {"float16": 2e-2, "float32": 1e-5, "float64": 1e-12, "int8": 0, "int32": 0}


def options_of(stride, padding, dilation):
    return {"strides": [stride] * 2, "padding": list(padding), "dilation": [dilation] * 2}


def arguments(options):
    return ", ".join(f"{name}={value!r}" for name, value in options.items())


def draw(shape, dtype):
    rng = np.random.default_rng(sum(shape))
    return rng.integers(-3, 4, shape).astype(dtype)


def convolution(dims, last, kernel, options, dtype, channels=None):
    """A depthwise convolution; channels are the last dim of the data unless they are given."""
    kind, channels = f'"{dtype}"', last if channels is None else channels
    return from_source(f"""
@R.function
def main(
    x: R.Tensor(({dims}, {last}), {kind}), w: R.Tensor(({channels}, 1, {kernel}), {kind}),
):
    return R.nn.conv2d(x, w, {arguments(options)})
""")


def compare(result, wanted, dtype):
    np.testing.assert_allclose(result, wanted, rtol=TOLERANCE[dtype], atol=TOLERANCE[dtype])


@pytest.mark.sampled
@pytest.mark.parametrize("dtype", list(TOLERANCE))
@pytest.mark.parametrize("dims", ['"n", 14, 15', '"n", "h", 15', '2, "h", "w"'])
@pytest.mark.parametrize(
    ("channels", "kernel", "stride", "padding", "dilation"),
    [
        (16, (3, 3), 1, (1, 1, 1, 1), 1),
        (20, (5, 5), 2, (2, 2, 2, 2), 1),
        (3, (3, 2), 1, (0, 1, 2, 1), 2),
        (33, (1, 7), 3, (0, 3, 0, 3), 1),
        (8, (3, 3), 2, (5, 5, 5, 5), 1),
    ],
)
def test_convolutions(dims, channels, kernel, stride, padding, dilation, dtype):
    options = options_of(stride, padding, dilation) | {"groups": channels} | LAYOUTS
    sizes = f"{kernel[0]}, {kernel[1]}"
    run = relax.build(convolution(dims, channels, sizes, options, dtype))
    w = draw((channels, 1, *kernel), dtype)
    for batch, height, width in IMAGES:
        given = (batch, height, width) if '"w"' in dims else (batch, height, 15)
        fixed = [d.strip() for d in dims.split(",")]
        shape = [g if d.startswith('"') else int(d) for g, d in zip(given, fixed, strict=True)]
        if shape[1] + padding[0] + padding[2] <= dilation * (kernel[0] - 1):
            continue
        if shape[2] + padding[1] + padding[3] <= dilation * (kernel[1] - 1):
            continue
        x = draw((*shape, channels), dtype)
        wanted = Conv2dOp.reference([x, w], options | {"out_dtype": None})
        compare(run(x, w).numpy(), wanted, dtype)


@pytest.mark.sampled
@pytest.mark.parametrize("target", ["llvm", "llvm -mcpu=haswell", "llvm -mcpu=x86-64"])
@pytest.mark.parametrize("dtype", list(TOLERANCE))
@pytest.mark.parametrize("dims", ["2, 5, 14, 15", "1, 1, 23, 40", "1, 3, 9, 33"])
@pytest.mark.parametrize(
    ("kernel", "stride", "padding", "dilation"),
    [
        ((3, 3), 1, (1, 1, 1, 1), 1),
        ((5, 5), 2, (2, 2, 2, 2), 1),
        ((3, 2), 1, (0, 1, 2, 1), 2),
        ((1, 7), 3, (0, 3, 0, 3), 1),
        ((3, 3), 4, (5, 5, 5, 5), 1),
        ((1, 5), 1, (0, 2, 0, 2), 1),
        ((17, 3), 1, (8, 1, 8, 1), 1),
        ((17, 17), 1, (8, 8, 8, 8), 1),
        ((3, 3), 5, (1, 1, 1, 1), 1),
    ],
)
def test_planes(dims, kernel, stride, padding, dilation, dtype, target):
    shape = tuple(map(int, dims.split(", ")))
    batch, channels, *image = shape
    options = options_of(stride, padding, dilation) | {"groups": channels}
    x, w = draw(shape, dtype), draw((channels, 1, *kernel), dtype)
    module = convolution(
        f"{batch}, {channels}, {image[0]}",
        image[1],
        f"{kernel[0]}, {kernel[1]}",
        options,
        dtype,
        channels,
    )
    defaults = {"data_layout": "NCHW", "kernel_layout": "OIHW", "out_layout": None}
    wanted = Conv2dOp.reference([x, w], options | defaults | {"out_dtype": None})
    compare(relax.build(module, target)["main"](x, w).numpy(), wanted, dtype)


@pytest.mark.parametrize(
    ("dtype", "size", "stride", "padding", "is_tiled"),
    [
        ("float32", 3, 1, 1, True),
        ("int8", 3, 1, 1, False),
        ("float32", 2, 2, 1, True),
        ("float32", 2, 2, 0, False),
    ],
)
def test_pools_of_planes_are_tiled_where_masks_stand_for_padding(
    dtype, size, stride, padding, is_tiled
):
    options = arguments(options_of(stride, (padding,) * 4, 1) | {"pool_size": [size, size]})
    module = from_source(f"""
@R.function
def main(x: R.Tensor((2, 3, 23, 37), "{dtype}")):
    return R.nn.max_pool2d(x, {options})
""")
    with watched_rules() as fired:
        stage_text(module, "schedule", "llvm -mcpu=haswell -mtriple=x86_64-linux-gnu")
    assert ("sliding-windows" in fired) == is_tiled


@pytest.mark.parametrize("operator", [MaxPool2dOp, AvgPool2dOp])
@pytest.mark.parametrize("stride", [1, 2])
@pytest.mark.parametrize("size", [2, 3])
def test_pools_of_planes(operator, stride, size):
    options = options_of(stride, (1, 1, 1, 1), 1) | {"pool_size": [size, size]}
    name = operator.name.removeprefix("relax.")
    module = from_source(f"""
@R.function
def main(x: R.Tensor((2, 3, 23, 37), "float32")):
    return R.{name}(x, {arguments(options)})
""")
    defaults = {"ceil_mode": False, "count_include_pad": False, "divisor_override": None}
    attributes = options | defaults | {"layout": "NCHW", "out_layout": "NCHW"}
    x = draw((2, 3, 23, 37), "float32") - 4
    compare(relax.build(module)(x).numpy(), operator.reference([x], attributes), "float32")


def with_constant_weight(shape, w, options):
    builder, given = relax.BlockBuilder(), relax.Var("x", relax.TensorType(shape, "float32"))
    with builder.function("main", [given]):
        found = builder.emit(relax.op.nn.conv2d(given, relax.const(w), **options))
        builder.emit_func_output(found)
    return builder.get()


@pytest.mark.parametrize("stride", [1, 2])
def test_planes_and_their_weights_are_not_permuted(stride):
    options = options_of(stride, (1, 1, 1, 1), 1) | {"groups": 32}
    module = with_constant_weight((1, 32, 28, 28), draw((32, 1, 3, 3), "float32"), options)
    func = stage_text(module, "tir", ZEN)
    blocks = {re.sub(r"_at\d+", "", name) for name in re.findall(r'block "(\w+)"', func)}
    assert "[32, 1, 3, 3], f32>" in func
    assert blocks == {"conv_sum_init", "conv_sum_update", "conv_sum_global"}


@pytest.mark.parametrize(
    ("kernel", "stride", "padding", "in_planes"),
    [
        ("1, 5", 1, (0, 2, 0, 2), True),
        ("3, 3", 4, (1, 1, 1, 1), True),
        ("3, 3", 5, (1, 1, 1, 1), False),
        ("3, 17", 1, (1, 8, 1, 8), True),
        ("17, 3", 1, (8, 1, 8, 1), False),
        ("17, 17", 1, (8, 8, 8, 8), False),
    ],
)
def test_windows_that_stay_in_planes(kernel, stride, padding, in_planes):
    """Others have no vectors along rows, and are faster with channels last."""
    options = options_of(stride, padding, 1) | {"groups": 32}
    weight = draw((32, 1, *map(int, kernel.split(", "))), "float32")
    module = with_constant_weight((1, 32, 56, 56), weight, options)
    assert (f"[32, 1, {kernel}], f32>" in stage_text(module, "tir", ZEN)) == in_planes


@pytest.mark.parametrize(
    ("dtype", "target", "is_copied"),
    [("float32", ZEN, False), ("float16", ZEN, True), ("int8", TARGET, True)],
)
def test_planes_are_padded_one_by_one(dtype, target, is_copied):
    """Without masks for their elements, or if they are converted: a copy of each plane."""
    options = options_of(1, (1, 1, 1, 1), 1) | {"groups": 16}
    module = convolution("1, 16, 20", 20, "3, 3", options, dtype, 16)
    text = stage_text(module, "tir", target)
    assert ("pad_temp" in text) == is_copied
    assert not is_copied or re.search(r"alloc_buffer.*<\[1, 1, 22, 22\]", text)


@pytest.mark.parametrize("operator", [MaxPool2dOp, AvgPool2dOp])
@pytest.mark.parametrize("channels", [16, 19])
def test_pools(operator, channels):
    options = options_of(2, (1, 1, 1, 1), 1) | {"pool_size": [3, 3], "layout": "NHWC"}
    name = operator.name.removeprefix("relax.")
    run = relax.build(
        from_source(f"""
@R.function
def main(x: R.Tensor(("n", "h", 21, {channels}), "float32")):
    return R.{name}(x, {arguments(options)})
""")
    )
    defaults = {"ceil_mode": False, "count_include_pad": False, "divisor_override": None}
    attributes = options | defaults | {"out_layout": "NHWC"}
    for batch, height, _ in IMAGES:
        x = draw((batch, height, 21, channels), "float32") - 4
        compare(run(x).numpy(), operator.reference([x], attributes), "float32")


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_planes_of_unknown_height(dtype):
    """Each unrolled tile of windows is permuted back on its own."""
    options = options_of(1, (1, 1, 1, 1), 1) | {"groups": 8}
    x, w = draw((1, 8, 9, 24), dtype), draw((8, 1, 3, 3), dtype)
    run = relax.build(convolution('1, 8, "h"', 24, "3, 3", options, dtype, 8))
    defaults = {"data_layout": "NCHW", "kernel_layout": "OIHW", "out_layout": None}
    wanted = Conv2dOp.reference([x, w], options | defaults | {"out_dtype": None})
    compare(run(x, w).numpy(), wanted, dtype)


def test_nothing_is_copied():
    options = options_of(1, (1, 1, 1, 1), 1) | {"groups": 64} | LAYOUTS
    function = convolution("1, 28, 28", 64, "3, 3", options, "float32")
    schedule = stage_text(function, "schedule", "llvm -mcpu=haswell")
    assert "sch.compute_inline(" in schedule and "sch.skip_padding(" in schedule
    assert '"pad_temp"' not in stage_text(function, "tir", "llvm -mcpu=haswell")


@pytest.mark.parametrize("channels", [16, 40, 48])
def test_constant_weights_are_in_panels_of_lanes(channels):
    options = options_of(1, (1, 1, 1, 1), 1) | {"groups": channels} | LAYOUTS
    x, w = draw((1, 6, 7, channels), "float32"), draw((channels, 1, 3, 3), "float32")
    module = with_constant_weight(x.shape, w, options)
    scheduled = stage_text(module, "tir", ZEN)
    panels = f"<[{-(-channels // 16)}, 3, 3, 1, 16], f32>"
    assert (panels in scheduled) == (channels > 16)
    wanted = Conv2dOp.reference([x, w], options | {"out_dtype": None})
    compare(relax.build(module, check=True)["main"](x).numpy(), wanted, "float32")


READ_TWICE = """
@I.ir_module
class Module:
    @T.prim_func(private=True)
    def kernel(
        X: T.Buffer((10, 11, 40), "float32"), W: T.Buffer((3, 3, 40), "float32"),
        K: T.Buffer((40,), "int32"), Y: T.Buffer((8, 9, 40), "float32"),
        Z: T.Buffer((40,), "float32"),
    ):
        for h, w, c, r, s in T.grid(8, 9, 40, 3, 3):
            with T.block("Y"):
                vh, vw, vc, vr, vs = T.axis.remap("SSSRR", [h, w, c, r, s])
                with T.init():
                    Y[vh, vw, vc] = T.float32(0)
                Y[vh, vw, vc] = Y[vh, vw, vc] + X[vh + vr, vw + vs, vc] * W[vr, vs, vc]FACTOR
        for c in range(40):
            with T.block("Z"):
                vc = T.axis.spatial(40, c)
                Z[vc] = W[1, 2, INDEX]

    @R.function
    def main(
        x: R.Tensor((10, 11, 40), "float32"), w: R.Tensor((3, 3, 40), "float32"),
        k: R.Tensor((40,), "int32"),
    ):
        with R.dataflow():
            y = R.call_tir(
                kernel, (x, w, k), [R.Tensor((8, 9, 40), "float32"), R.Tensor((40,), "float32")]
            )
            R.output(y)
        return y
"""


@pytest.mark.parametrize(
    ("index", "factor", "in_panels"),
    [("39 - vc", "", True), ("K[vc]", "", False), ("39 - vc", " * W[0, 1, vc]", True)],
)
def test_constant_weights_that_are_read_twice(index, factor, in_panels):
    """Indices without known bounds keep the layout, and it is transformed once."""
    x, w = draw((10, 11, 40), "float32"), draw((3, 3, 40), "float32")
    k = np.arange(40, dtype="int32")[::-1].copy()
    module = from_source(READ_TWICE.replace("INDEX", index).replace("FACTOR", factor))
    bound = relax.transform.BindParams("main", {"w": w})(module)
    scheduled = stage_text(bound, "tir", ZEN)
    assert ("[3, 3, 3, 16], f32>" in scheduled) == in_panels
    products, gathered = relax.build(bound)["main"](x, k)
    windows = np.lib.stride_tricks.sliding_window_view(x, (3, 3), axis=(0, 1))
    taps = w * w[0, 1] if factor else w
    np.testing.assert_array_equal(products.numpy(), np.einsum("hwcrs,rsc->hwc", windows, taps))
    np.testing.assert_array_equal(gathered.numpy(), w[1, 2, ::-1])


@pytest.mark.parametrize(("channels", "block"), [(64, None), (320, 10), (324, None), (480, 10)])
def test_rows_of_windows_stay_in_the_first_cache(channels, block):
    """Of 320 channels, three rows take 54 KB; of 324, the last vector is masked.

    With 480, the weights alone take half of the cache.
    """
    options = options_of(1, (1, 1, 1, 1), 1) | {"groups": channels} | LAYOUTS
    mod = convolution("1, 14, 14", channels, "3, 3", options, "float32")
    made = re.findall(r"sch\.split\(\w+, \[None, (\d+)\]\)", stage_text(mod, "schedule", TARGET))
    tile = ["7", "8", *([] if block is None else [str(block)])]
    assert made[: len(tile)] == tile and made[len(tile)] not in ("5", "10")
    x, w = draw((1, 14, 14, channels), "float32"), draw((channels, 1, 3, 3), "float32")
    wanted = Conv2dOp.reference([x, w], options | {"out_dtype": None})
    compare(relax.build(mod)(x, w).numpy(), wanted, "float32")
