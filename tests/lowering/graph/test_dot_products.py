"""Contractions of 8-bit integers by dot products of words equal those in wide integers."""

import re
import textwrap

import numpy as np
import pytest

from xrelax import relax
from xrelax.backend.target import Target
from xrelax.inspection import stage_text
from xrelax.script import from_source

RNG = np.random.default_rng(0)

TARGETS = ("llvm -mcpu=native", "llvm -mcpu=x86-64-v3")


def built(text, target, **weights):
    source = f"@I.ir_module\nclass Module:\n{textwrap.indent(text, '    ')}"
    module = relax.transform.BindParams("main", weights)(from_source(source))
    return relax.build(module, target, check=True)["main"]


def integers(shape, dtype):
    """Any integers, with the largest and the smallest among them."""
    limits = np.iinfo(dtype)
    values = RNG.integers(limits.min, limits.max, shape, endpoint=True)
    values.flat[:2] = limits.min, limits.max
    return values.astype(dtype)


@pytest.mark.sampled
@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("depth", [2, 7, 64])
@pytest.mark.parametrize("data, shift", [("uint8", 0), ("uint8", 131), ("int8", -5), ("int8", 0)])
@pytest.mark.parametrize("weight, other", [("int8", 0), ("uint8", 128), ("uint8", 94)])
def test_matmul(data, shift, weight, other, depth, target):
    x, w = integers((5, depth), data), integers((depth, 19), weight)
    text = f"""
@R.function
def main(x: R.Tensor(("n", {depth}), "{data}"), w: R.Tensor(({depth}, 19), "{weight}")):
    R.func_attr({{"num_input": 1}})
    zero = R.astype(R.const({shift}, "{data}"), "int16")
    other = R.astype(R.const({other}, "{weight}"), "int16")
    a, b = R.subtract(R.astype(x, "int16"), zero), R.subtract(R.astype(w, "int16"), other)
    return R.matmul(a, b, out_dtype="int32")
"""
    got = built(text, target, w=w)(x).numpy()
    np.testing.assert_array_equal(got, (x.astype(int) - shift) @ (w.astype(int) - other))


@pytest.mark.sampled
@pytest.mark.parametrize("is_transposed", [False, True])
@pytest.mark.parametrize("data, shift", [("uint8", 131), ("int8", -5)])
@pytest.mark.parametrize("other_dtype, other", [("int8", 0), ("uint8", 128), ("uint8", 94)])
@pytest.mark.parametrize("batch", [(), (3,)])
def test_matmul_of_two_activations(batch, data, shift, other_dtype, other, is_transposed):
    """Sums over the right operand are those of each call, and of each of several matrices."""
    matrix = (19, 37) if is_transposed else (37, 19)
    x, w = integers((*batch, 5, 37), data), integers((*batch, *matrix), other_dtype)
    axes, rows = [*range(len(batch)), len(batch) + 1, len(batch)], '3, "n"' if batch else '"n"'
    text = f"""
@R.function
def main(x: R.Tensor(({rows}, 37), "{data}"), w: R.Tensor({w.shape}, "{other_dtype}")):
    a = R.dequantize(x, R.const(0.5, "float32"), R.const({shift}, "{data}"))
    b = R.dequantize(w, R.const(0.25, "float32"), R.const({other}, "{other_dtype}"))
    return R.matmul(a, {f"R.permute_dims(b, {axes})" if is_transposed else "b"})
"""
    right = w.transpose(axes) if is_transposed else w
    wanted = (x.astype(float) - shift) @ (right.astype(float) - other) * 0.125
    np.testing.assert_array_equal(built(text, TARGETS[0])(x, w).numpy(), wanted)


WINDOWS = [((1, 1), (1, 1), 3), ((0, 0), (1, 1), 1), ((0, 0), (2, 1), 2), ((2, 1), (2, 2), 3)]


def convolved(x, w, padding, strides):
    """The convolution of integers in float64, which is exact."""
    windows = np.lib.stride_tricks.sliding_window_view(
        np.pad(x.astype(float), [(0, 0), (0, 0), *[(p, p) for p in padding]]), w.shape[2:], (2, 3)
    )[:, :, :: strides[0], :: strides[1]]
    return np.einsum("nchwyx,ocyx->nohw", windows, w.astype(float))


@pytest.mark.sampled
@pytest.mark.parametrize("padding, strides, size", WINDOWS)
@pytest.mark.parametrize("weight, other", [("int8", 0), ("uint8", 94)])
@pytest.mark.parametrize("is_known", [True, False], ids=["constant", "parameter"])
def test_convolution(weight, other, padding, strides, size, is_known):
    """Where a window reaches over the border, the padding is the zero point, known or not."""
    x, w = integers((2, 6, 9, 8), "uint8"), integers((5, 6, size, size), weight)
    zero = 'R.const(131, "uint8")' if is_known else "z"
    text = f"""
@R.function
def main(x: R.Tensor((2, 6, 9, 8), "uint8"), z: R.Tensor((), "uint8"),
         w: R.Tensor({w.shape}, "{weight}")):
    R.func_attr({{"num_input": 2}})
    a = R.subtract(R.astype(x, "int32"), R.astype({zero}, "int32"))
    b = R.subtract(R.astype(w, "int32"), R.astype(R.const({other}, "{weight}"), "int32"))
    return R.nn.conv2d(a, b, strides={list(strides)}, padding={list(padding) * 2})
"""
    got = built(text, TARGETS[0], w=w)(x, np.array(131, np.uint8)).numpy()
    expected = convolved(x.astype(int) - 131, w.astype(int) - other, padding, strides)
    np.testing.assert_array_equal(got, expected)


LAYERS = {
    "matmul": ("R.matmul(a, b)", (24, 12), 1),
    "linear": ("R.linear(a, b, c)", (12, 24), 0),
}


@pytest.mark.skipif(
    not Target(TARGETS[0]).isa.dot(True, False, 128), reason="the processor has no dot products"
)
@pytest.mark.parametrize("layer", LAYERS)
@pytest.mark.parametrize("per_column", [True, False])
def test_floats(layer, per_column):
    """A sum of integers is exact, and scaled once; so the error is that of a few roundings."""
    call, shape, axis = LAYERS[layer]
    x, w = integers((3, 7, 24), "int8"), integers(shape, "int8")
    scale = RNG.uniform(0.001, 0.1, (12,) if per_column else ()).astype(np.float32)
    bias = RNG.standard_normal(12).astype(np.float32)
    text = f"""
@R.function
def main(x: R.Tensor((3, 7, 24), "int8"), w: R.Tensor({shape}, "int8"),
         s: R.Tensor({scale.shape}, "float32"), c: R.Tensor((12,), "float32")):
    R.func_attr({{"num_input": 1}})
    a = R.dequantize(x, R.const(0.25, "float32"), R.const(-7, "int8"))
    b = R.dequantize(w, s, R.const(0, "int8"), axis={axis})
    return {call}
"""
    got = built(text, TARGETS[0], w=w, s=scale, c=bias)(x).numpy()
    matrix = (w if layer == "matmul" else w.T).astype(float) * scale
    expected = 0.25 * (x.astype(float) + 7) @ matrix + (bias if layer == "linear" else 0)
    np.testing.assert_allclose(got, expected, rtol=1e-6, atol=1e-5)


@pytest.mark.parametrize(
    ("cpu", "instruction"),
    [("apple-m1", "sdot"), ("neoverse-v1", "usmmla"), ("cortex-a53", "sadalp")],
)
def test_unsigned_data_on_arm(cpu, instruction):
    """It becomes signed, where only bytes of one sign are multiplied.

    Without dot products, pairs of products of 16 bits are added.
    """
    text = """
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((8, 64), "uint8"), w: R.Tensor((64, 32), "int8")):
        a = R.dequantize(x, R.const(0.5, "float32"), R.const(7, "uint8"))
        b = R.dequantize(w, R.const(0.25, "float32"), R.const(0, "int8"))
        return R.matmul(a, b)
"""
    assembly = stage_text(from_source(text), "asm", f"llvm -mtriple=aarch64-linux-gnu -mcpu={cpu}")
    assert set(re.findall(r"\t(u?sdot|udot|u?smmla|sadalp|fmla)\t", assembly)) == {instruction}


@pytest.mark.sampled
@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("dtype", ["int8", "uint8"])
def test_a_scale_for_each_row(dtype, target):
    """Matrices, batches of them, and images; scales are powers of two, so that sums are exact."""
    w, kernel = integers((33, 19), "int8"), integers((6, 5, 3, 3), "int8")
    text = f"""
@R.function
def main(
    x: R.Tensor(("n", 33), "{dtype}"),
    s: R.Tensor(("n",), "float32"),
    y: R.Tensor((2, "n", 33), "{dtype}"),
    i: R.Tensor(("n", 5, 6, 7), "{dtype}"),
    w: R.Tensor((33, 19), "int8"),
    k: R.Tensor((6, 5, 3, 3), "int8"),
):
    R.func_attr({{"num_input": 4}})
    z, one = R.const(0, "int8"), R.const(1.0, "float32")
    zero = R.const(0, "{dtype}")
    b = R.dequantize(w, one, z)
    c = R.matmul(R.dequantize(x, s, zero, axis=0), b)
    d = R.matmul(R.dequantize(y, s, zero, axis=1), b)
    images = R.dequantize(i, s, zero, axis=0)
    e = R.nn.conv2d(images, R.dequantize(k, one, z), padding=[1, 1, 1, 1])
    return (c, d, e)
"""
    scales = np.array([0.5, 4.0, 0.125], "float32")
    x, y, i = (integers(shape, dtype) for shape in ((3, 33), (2, 3, 33), (3, 5, 6, 7)))
    found = [t.numpy() for t in built(text, target, w=w, k=kernel)(x, scales, y, i)]
    np.testing.assert_array_equal(found[0], x.astype(float) @ w * scales[:, None])
    np.testing.assert_array_equal(found[1], y.astype(float) @ w * scales[:, None])
    wanted = convolved(i, kernel, (1, 1), (1, 1)) * scales[:, None, None, None]
    np.testing.assert_array_equal(found[2], wanted)
