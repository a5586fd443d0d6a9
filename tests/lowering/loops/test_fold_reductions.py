"""Reductions of constant length, in registers of several lengths, agree with NumPy."""

import numpy as np
import pytest

from xrelax import relax
from xrelax.script import from_source

SOURCE = """
@R.function
def main(x: R.Tensor((5, {length}), "{dtype}")):
    with R.dataflow():
        y = R.{name}(x, axis=-1)
        R.output(y)
    return y
"""


@pytest.mark.parametrize("dtype", ("float32", "float64", "int32"))
@pytest.mark.parametrize("name", ("sum", "max", "min", "prod"))
@pytest.mark.parametrize("length", (20, 36, 77, 84, 100, 127, 196))
def test_rows_of_constant_length(length, name, dtype):
    x = np.random.default_rng(length).integers(-3, 4, (5, length)).astype(dtype)
    if name == "prod":
        x = np.where(x < 0, -1, 1).astype(dtype)
    x[3, -1] = 9
    if dtype != "int32" and name != "prod":
        x[4, length // 2] = np.nan
    found = relax.build(from_source(SOURCE.format(length=length, name=name, dtype=dtype)))(x)
    np.testing.assert_array_equal(found.numpy(), getattr(np, name)(x, axis=-1))
