"""Means of windows of integers, and of windows in the padding alone."""

import numpy as np
import pytest

from xrelax import relax
from xrelax.script import from_source


@pytest.mark.parametrize("dtype", ["int8", "float32"])
def test_means(dtype):
    module = from_source(f"""
@I.ir_module
class Module:
    @R.function
    def pool(x: R.Tensor((1, 1, "n"), "{dtype}")):
        return R.nn.avg_pool1d(x, 2, padding=(3, 2))

    @R.function
    def adaptive(x: R.Tensor((1, 1, 6), "{dtype}")):
        return R.nn.adaptive_avg_pool1d(x, 2)
""")
    x = np.array([[[1, 2, -4, -5, -4, 100]]], dtype)
    built = relax.build(module, check=True)
    pooled = np.array([0, 0, 1, 1.5, -1, -4.5, -4.5, 48, 100, 0])
    adaptive = np.array([-1 / 3, 91 / 3])
    if dtype == "int8":
        pooled, adaptive = np.trunc(pooled), np.trunc(adaptive)
    np.testing.assert_allclose(built["pool"](x).numpy()[0, 0], pooled, rtol=1e-6)
    np.testing.assert_allclose(built["adaptive"](x).numpy()[0, 0], adaptive, rtol=1e-6)
