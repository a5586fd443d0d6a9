"""Contractions in bf16, and integers between kernels: the results of passes, and their errors."""

import numpy as np
import pytest
from xdsl.dialects.builtin import StringAttr

from xrelax import relax
from xrelax.dialects.attributes import PRECISION
from xrelax.inspection import stage_text
from xrelax.runtime.tensor import array
from xrelax.script import from_source

RNG = np.random.default_rng(0)
ZNVER4 = "llvm -mtriple=x86_64-linux-gnu -mcpu=znver4"

NET = """
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor(("n", 3, 9, 10), "float32"), v: R.Tensor((4, 3, 3, 3), "float32"),
             w: R.Tensor((7, 80), "float32"), b: R.Tensor((7,), "float32")):
        n = T.int64()
        y = R.nn.relu(R.nn.conv2d(x, v, padding=[1, 1, 1, 1], strides=[2, 2]))
        y = R.nn.avg_pool2d(y, pool_size=[2, 2], padding=[1, 1, 1, 1])
        y = R.nn.max_pool2d(y, pool_size=[3, 2])
        return R.linear(R.reshape(y, (n, 80)), w, b)
"""


def bfloat16(x):
    """Numbers rounded to bf16."""
    bits = np.asarray(x, "float32").view("uint32")
    return ((bits + 0x7FFF + (bits >> 16 & 1)) & 0xFFFF0000).astype("uint32").view("float32")


def draw(*shape):
    return RNG.standard_normal(shape).astype("float32")


@pytest.mark.parametrize("precision", ["bf16", "f16"])
def test_a_network(precision):
    """It is near to that of float32, and not equal; every pass is checked."""
    arrays = [draw(2, 3, 9, 10), draw(4, 3, 3, 3), draw(7, 80), draw(7)]
    wanted = relax.build(from_source(NET))(*arrays).numpy()
    module = from_source(NET)
    before = module.script()
    found = relax.build(module, precision=precision, check=True)(*arrays).numpy()
    assert module.script() == before
    error = np.abs(found - wanted).max() / np.abs(wanted).max()
    assert 0 < error < (2e-2 if precision == "bf16" else 2e-3)


def test_a_product_of_rounded_operands():
    """Operands are those of bf16, sums those of float32, also where calls pass the weight."""
    source = """
@R.function
def main(x: R.Tensor(("m", 13), "float32"), w: R.Tensor((13, 5), "float32")):
    return R.matmul(x, w)
"""
    x, w = draw(6, 13), draw(13, 5)
    found = relax.build(from_source(source), precision="bf16", check=True)(x, w).numpy()
    wanted = bfloat16(x).astype("float64") @ bfloat16(w)
    np.testing.assert_allclose(found, wanted, rtol=1e-5, atol=1e-5)


def test_convolutions_that_winograd_computes_faster_stay_in_float32():
    weight = draw(64, 64, 3, 3)
    builder = relax.BlockBuilder()
    x = relax.Var("x", relax.TensorStructInfo((1, 64, 56, 56), "float32"))
    with builder.function("main", [x]):
        y = builder.emit(relax.op.nn.conv2d(x, relax.const(weight), padding=[1, 1, 1, 1]))
        z = builder.emit(relax.op.nn.conv2d(y, relax.const(weight), strides=[2, 2]))
        builder.emit_func_output(z)
    module = builder.get()
    module.op.attributes[PRECISION] = StringAttr("bfloat16")
    text = stage_text(module, "relax", ZNVER4)
    assert text.count("winograd_conv2d") == 1 and text.count("conv2d_words") == 1


def test_weights_of_bfloat16_are_transformed_on_load():
    """Also those that take eight times the bytes then: conversion doubles them."""
    builder = relax.BlockBuilder()
    x = relax.Var("x", relax.TensorStructInfo((1, 384, 16, 16), "bfloat16"))
    weight = array(np.zeros((384, 384, 3, 3), np.float32), dtype="bfloat16")
    with builder.function("main", [x]):
        y = builder.emit(relax.op.nn.conv2d(x, relax.const(weight), padding=[1, 1, 1, 1]))
        builder.emit_func_output(y)
    text = stage_text(builder.get(), "rt", ZNVER4)
    on_load, _, called = text.partition("rt.func @main")
    assert "winograd_conv2d" in called and "winograd_weight" not in called
    assert "on_load" in on_load and "winograd_weight" in on_load


def test_unknown_precision():
    with pytest.raises(ValueError) as caught:
        relax.build(from_source(NET), precision="bf8")
    assert str(caught.value) == "expected precision 'f32', 'bf16', 'f16', got 'bf8'"


def test_unknown_dtype():
    expected = "expected dtype of 'to-mixed-precision' bfloat16 or float16, got 'int8'"
    with pytest.raises(Exception, match=expected):
        relax.transform.ToMixedPrecision(dtype="int8")(from_source(NET))


def test_the_pass_as_tvm_has_it():
    text = relax.transform.ToMixedPrecision(dtype="float16")(from_source(NET)).script()
    assert text.count("R.astype") == 4 and text.count('out_dtype="float32"') == 2


INTEGERS = """
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((2, 4, "n"), "uint8")):
        n = T.int64()
        s = R.const(0.037, "float32")
        z = R.const(113, "uint8")
        y = R.dequantize(x, s, z)
        y = R.permute_dims(R.reshape(y, (8, n)))
        y = R.concat([y, R.strided_slice(y, axes=[0], begin=[1], end=[3])], axis=0)
        return R.quantize(y, s, z, out_dtype="uint8")
"""


def test_integers_stay_what_they_are():
    """Every value of a byte, and without a conversion."""
    x = np.arange(256, dtype="uint8").reshape(2, 4, 32)
    function = from_source(INTEGERS)
    found = relax.build(function, check=True)(x).numpy()
    flat = x.reshape(8, 32).T
    np.testing.assert_array_equal(found, np.concatenate([flat, flat[1:3]]))
    assert "quantize" not in stage_text(function, "relax")


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_an_argmax_of_what_its_kernel_computes(dtype):
    """The largest number is rounded like those that it is compared with."""
    net = f"""
@R.function
def main(x: R.Tensor((3, 37), "{dtype}"), y: R.Tensor((3, 37), "{dtype}")):
    return R.argmax(R.nn.relu(R.add(R.multiply(x, y), x)), axis=1)
"""
    x, y = draw(3, 37), draw(3, 37)
    operands = [array(v, dtype=dtype) for v in (x, y)]
    found = relax.build(from_source(net))(*operands).numpy()
    result = x * y + x
    largest = np.take_along_axis(result, found[:, None], 1)[:, 0]
    np.testing.assert_allclose(largest, result.max(1), rtol=3e-2)


@pytest.mark.parametrize("scale", [1e-30, 3.7e-12, 0.1, 0.2999999, 255.0, 1e30])
def test_the_roundings_cancel(scale):
    """To dequantize and quantize gives every integer, with every scale and zero point."""
    scale = np.float32(scale)
    for zero in (-128, -1, 0, 77, 127):
        wide = np.arange(-128, 128).astype("float32") - np.float32(zero)
        np.testing.assert_array_equal(np.rint(wide * scale / scale), wide)
