"""Winograd convolutions: scheduled kernels and whole builds agree with the direct form."""

import numpy as np
import pytest
from test_contraction import TARGETS, kernels, whole_numbers

import xrelax as tvm
from xrelax import relax
from xrelax.backend.target import Target
from xrelax.dialects import tir
from xrelax.inspection import stage_text
from xrelax.lowering.schedule.rules.winograd_cost import Convolution
from xrelax.reference.evaluate import evaluate
from xrelax.script import from_source

ZNVER4 = "llvm -mcpu=znver4 -mtriple=x86_64-linux-gnu"

CASES = (
    # batch, height, width, inputs, outputs, padding, tile, block
    (1, 8, 8, 16, 16, 1, 4, (2, 2)),
    (2, 9, 13, 16, 32, 1, 4, (1, 4)),
    (1, 5, 11, 32, 48, 0, 2, (2, 3)),
    (3, 4, 3, 16, 16, 1, 2, (8, 8)),
    ("n", 10, 6, 16, 32, 2, 4, (2, 1)),
)


def convolution(batch, height, width, inputs, outputs, padding, tile, block, after="y"):
    """A convolution of transformed weights with a bias, and what follows."""
    return f"""
@R.function
def main(x: R.Tensor(({batch!r}, {height}, {width}, {inputs}), "float32"),
         u: R.Tensor(({tile + 2}, {tile + 2}, {inputs}, {outputs}), "float32"),
         b: R.Tensor(({outputs},), "float32")):
    with R.dataflow():
        y = R.nn.winograd_conv2d(x, u, padding=[{padding}], tile={tile}, block={list(block)},
                                 data_layout="NHWC", out_layout="NHWC")
        z = {after}
        R.output(z)
    return z
"""


def operands(batch, height, width, inputs, outputs, tile):
    batch = 2 if batch == "n" else batch
    x = whole_numbers((batch, height, width, inputs))
    w = whole_numbers((3, 3, inputs, outputs), 1)
    text = f"""
@R.function
def main(w: R.Tensor((3, 3, {inputs}, {outputs}), "float32")):
    return R.nn.winograd_weight(w, tile={tile})
"""
    u = np.asarray(evaluate(kernels(text), "main", [w])).reshape(tile + 2, tile + 2, *w.shape[2:])
    return x, w, u, whole_numbers(outputs, 2)


def direct(x, w, padding):
    around = np.pad(x, [(0, 0), (padding, padding), (padding, padding), (0, 0)])
    windows = np.lib.stride_tricks.sliding_window_view(around, (3, 3), (1, 2))
    return np.einsum("nhwcab,abck->nhwk", windows.astype(np.float64), w)


def close(got, expected):
    got = np.asarray(got).reshape(expected.shape)
    assert abs(got - expected).max() <= 1e-5 * abs(expected).max()


@pytest.mark.sampled
@pytest.mark.parametrize("after", ["y", "R.nn.relu(R.add(y, b))", "R.multiply(R.add(y, b), y)"])
@pytest.mark.parametrize("target", [*TARGETS, ZNVER4])
def test_scheduled_kernels_agree_with_the_direct_form(target, after):
    for case in CASES:
        batch, height, width, inputs, outputs, padding, tile, _ = case
        x, w, u, b = operands(batch, height, width, inputs, outputs, tile)
        text = convolution(*case, after)
        expected = direct(x, w, padding)
        if "relu" in after:
            expected = np.maximum(expected + b, 0)
        elif "multiply" in after:
            expected = (expected + b) * expected
        close(evaluate(kernels(text, target), "main", [x, u, b]), expected)


@pytest.mark.parametrize("target", [*TARGETS, ZNVER4])
def test_stages_share_the_loops_over_blocks(target):
    """Only the transformed data of a block, products of a panel and rows of a tile are kept."""
    for case in CASES[:3]:
        module = kernels(convolution(*case, "R.nn.relu(R.add(y, b))"), target)
        allocated = [op.result for op in module.walk() if isinstance(op, tir.AllocBufferOp)]
        dims = {b.name_hint: [d.constant for d in b.type.dims] for b in allocated}
        tile = case[6]
        assert dims["data_tiles"][:5] == [1, 1, 1, tile + 2, tile + 2]
        assert dims["products"][:5] == [1, 1, 1, tile + 2, tile + 2]
        rows = dims["result_rows"]
        has_vectors = rows[-1] < case[4]  # with one only, the loop over tiles is not shared
        assert rows[:4] == [1, 1, 1, 1 if has_vectors else rows[3]]


@pytest.mark.parametrize(("channels", "size"), [(64, 24), (16, 13)])
@pytest.mark.parametrize("layout", ["NCHW", "NHWC"])
def test_builds(layout, channels, size):
    """The default pipeline chooses the form; a context leaves the pass out."""
    shape = (1, channels, size, size) if layout == "NCHW" else (1, size, size, channels)
    x, w = whole_numbers((1, size, size, channels)), whole_numbers((3, 3, channels, channels), 1)
    expected = direct(x, w, 1)
    if layout == "NCHW":
        x, expected = x.transpose(0, 3, 1, 2).copy(), expected.transpose(0, 3, 1, 2)
    function = from_source(f"""
@R.function
def main(x: R.Tensor({shape}, "float32"), w: R.Tensor((3, 3, {channels}, {channels}), "float32")):
    return R.nn.conv2d(x, w, padding=[1, 1], data_layout="{layout}", kernel_layout="HWIO")
""")
    module = tvm.IRModule({"main": function})
    bound = relax.transform.BindParams("main", {"w": w})(module)
    haswell = "llvm -mtriple=x86_64-linux-gnu -mcpu=haswell"
    assert "winograd_conv2d" in stage_text(bound, "rt", haswell)
    close(relax.build(bound)["main"](x).numpy(), expected)
    with tvm.transform.PassContext(disabled_pass=["UseWinograd"]):
        assert "winograd" not in stage_text(bound, "rt")
        found = relax.build(bound)["main"](x).numpy()
    np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize(
    ("tile", "channels", "most"), [(None, 256, 8), (2, 512, 12), (4, 64, 24), (4, 256, 24)]
)
def test_errors(tile, channels, most):
    """As docs/math.md says: errors over the largest result."""
    rng = np.random.default_rng(channels)
    x = rng.standard_normal((1, 8, 8, channels), np.float32)
    w = rng.standard_normal((3, 3, channels, 32), np.float32)
    value = 'R.nn.conv2d(x, w, padding=[1], data_layout="NHWC", kernel_layout="HWIO")'
    if tile is not None:
        value = (
            f"R.nn.winograd_conv2d(x, R.nn.winograd_weight(w, tile={tile}), padding=[1], "
            f'tile={tile}, block=[2, 2], data_layout="NHWC")'
        )
    module = from_source(f"""
@R.function
def main(x: R.Tensor({x.shape}, "float32"), w: R.Tensor({w.shape}, "float32")):
    return {value}
""")
    with tvm.transform.PassContext(disabled_pass=["UseWinograd"]):
        got = relax.build(module, params={"w": w})["main"](x).numpy()
    expected = direct(x, w, 1)
    assert abs(got - expected).max() <= most * 2**-23 * abs(expected).max()


def test_costs():
    """Tiles of 4x4 for many pixels; of 2x2 where their weights would come from memory for few."""
    target = Target(f"{ZNVER4} -cache-sizes=32768,1048576,8388608")
    found = Convolution(64, 64, 56, 56).blocking(target)
    assert found is not None and found.size == 4
    found = Convolution(512, 512, 7, 7).blocking(target)
    assert found is not None and found.size == 2
    found = Convolution(512, 64, 56, 56).blocking(target)
    assert found is not None and found.size == 4
    assert Convolution(16, 16, 3, 3).blocking(target) is None
    found = Convolution(64, 64, 56, 56).blocking(Target(f"{ZNVER4} -math=accurate"))
    assert found is not None and found.size == 2
