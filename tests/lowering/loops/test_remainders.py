"""Kernels whose lanes have remainders, on targets with masks and without, agree with NumPy."""

import numpy as np
import pytest

from xrelax import relax
from xrelax.backend.target import Target
from xrelax.runtime import NativeError
from xrelax.script import from_source

TARGETS = ("llvm -mcpu=x86-64-v4", "llvm -mcpu=haswell")
KERNELS = {
    "R.sum(x, axis=[0])": lambda x: x.sum(0, dtype=x.dtype),
    "R.sum(x, axis=[1], keepdims=True) + x": lambda x: x.sum(1, dtype=x.dtype, keepdims=True) + x,
    "R.prod(x, axis=[1])": lambda x: x.prod(1, dtype=x.dtype),
    "R.max(x, axis=[0], keepdims=True) - x": lambda x: x.max(0, keepdims=True) - x,
    "R.min(x, axis=[1])": lambda x: x.min(1),
    "R.argmax(x, axis=0)": lambda x: x.argmax(0),
    "R.argmin(x, axis=1)": lambda x: x.argmin(1),
    "R.cumsum(x, axis=0)": lambda x: x.cumsum(0, dtype=x.dtype),
    "R.cumsum(x, axis=1)": lambda x: x.cumsum(1, dtype=x.dtype),
    "R.nn.softmax(x, axis=0)": lambda x: np.exp(x) / np.exp(x).sum(0),
    "R.nn.softmax(x, axis=1)": lambda x: np.exp(x) / np.exp(x).sum(1, keepdims=True),
}


@pytest.mark.skipif(not Target("llvm").triple.startswith("x86_64"), reason="x86-64 code")
@pytest.mark.sampled
@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("dtype", ["float32", "float16", "int8", "int32"])
@pytest.mark.parametrize("columns", ["13", "43", '"n"'])
@pytest.mark.parametrize("kernel", KERNELS)
def test_remainders(kernel, columns, dtype, target):
    if "softmax" in kernel and not dtype.startswith("float"):
        pytest.skip("softmax is of floats only")
    source = f"""
@R.function
def main(x: R.Tensor((7, {columns}), "{dtype}")):
    return {kernel}
"""
    run = relax.build(from_source(source), target=target)
    for size in (5, 31, 70) if "n" in columns else (int(columns),):
        x = np.random.default_rng(size).integers(-2, 3, (7, size)).astype(dtype)
        try:
            found = run(x).numpy()
        except NativeError as error:
            pytest.skip(str(error))
        tolerance = 1e-2 if dtype == "float16" else 1e-5
        np.testing.assert_allclose(found, KERNELS[kernel](x), rtol=tolerance, atol=tolerance)
