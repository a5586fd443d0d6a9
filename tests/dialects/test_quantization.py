"""`relax.quantize` and `relax.dequantize`: halves, limits and special values."""

import numpy as np
import pytest

from xrelax import relax
from xrelax.script import from_source


def quantize(dim, zero_point, out_dtype):
    return relax.build(
        from_source(f'''
@R.function
def main(x: R.Tensor(({dim},), "float32"), s: R.Tensor((), "float32")):
    return R.quantize(x, s, R.const({zero_point}, "{out_dtype}"), out_dtype="{out_dtype}")
'''),
        check=True,
    )


VALUES = np.array([0.25, 0.75, 1.25, -0.25, -0.75, 1e9, -1e9, np.inf, -np.inf, np.nan], "float32")


@pytest.mark.parametrize("dim", ["10", "'n'"])
@pytest.mark.parametrize("out_dtype", ["int8", "uint8", "int16", "uint16"])
def test_halves_go_to_even_and_limits_saturate(dim, out_dtype):
    low, high = np.iinfo(out_dtype).min, np.iinfo(out_dtype).max
    found = quantize(dim, 10, out_dtype)(VALUES, np.float32(0.5)).numpy()
    wanted = [10, 12, 12, 10, 8, high, low, high, low, 0]
    np.testing.assert_array_equal(found, np.array(wanted, out_dtype))


def test_vectors_along_the_first_axis():
    function = from_source("""
@R.function
def main(
    x: R.Tensor(("n", 3), "int8"), s: R.Tensor(("n",), "float32"), z: R.Tensor(("n",), "int8")
):
    return R.dequantize(x, s, z, axis=0, out_dtype="float16")
""")
    x = np.array([[-128, 0, 127], [-128, 5, 127]], "int8")
    scale, zero_point = np.array([0.5, 2], "float32"), np.array([127, -128], "int8")
    found = relax.build(function, check=True)(x, scale, zero_point).numpy()
    assert found.dtype == np.float16
    np.testing.assert_array_equal(found, [[-127.5, -63.5, 0], [0, 266, 510]])


def test_what_was_quantized_is_within_half_a_step():
    function = from_source("""
@R.function
def main(x: R.Tensor((2, "n"), "float32"), s: R.Tensor((), "float32"), z: R.Tensor((), "uint8")):
    return R.dequantize(R.quantize(x, s, z, out_dtype="uint8"), s, z)
""")
    x = np.random.default_rng(0).uniform(-4, 4, (2, 100)).astype("float32")
    found = relax.build(function, check=True)(x, np.float32(0.0625), np.uint8(128)).numpy()
    assert 0 < np.abs(found - x).max() <= 0.0625 / 2
