"""Sums and products in another dtype: elements are converted before they are combined."""

import numpy as np
import pytest

from xrelax import relax
from xrelax.script import from_source

X = np.array([0.5, 2.75, -1.5, 1.25], np.float32)


@pytest.mark.parametrize("name", ["sum", "prod", "cumsum", "cumprod"])
@pytest.mark.parametrize("dtype", ["int32", "float64"])
def test_elements_are_converted_first(name, dtype):
    function = from_source(f'''
@R.function
def main(x: R.Tensor(("n",), "float32")):
    return R.{name}(x, dtype="{dtype}")
''')
    result = relax.build(function, check=True)(X).numpy()
    expected = getattr(np, name)(X.astype(dtype), dtype=dtype)
    assert result.dtype == dtype
    np.testing.assert_array_equal(result, expected)


@pytest.mark.parametrize("name", ["sum", "prod", "cumsum", "cumprod"])
def test_numbers_that_do_not_fit(name):
    function = from_source(f"""
@R.function
def main(x: R.Tensor((2,), "float32")):
    return R.{name}(x, dtype="int8")
""")
    result = relax.build(function, check=True)(np.array([300.0, np.nan], "float32")).numpy()
    expected = getattr(np, name)(np.array([127, 0], "int8"), dtype="int8")
    np.testing.assert_array_equal(result, expected)
