"""Comparisons of tensors of different dtypes."""

import numpy as np
import pytest

from xrelax import relax
from xrelax.script import from_source


@pytest.mark.parametrize("name", ["equal", "less", "greater_equal"])
def test_uint64_and_signed_integers(name):
    """No dtype has the values of both."""
    function = from_source(f"""
@R.function
def main(x: R.Tensor((5,), "uint64"), y: R.Tensor((5,), "int64")):
    return R.{name}(x, y), R.{name}(y, x)
""")
    x = np.array([2**63, 2**64 - 1, 0, 7, 2**63], "uint64")
    y = np.array([-(2**63), -1, 0, 7, 2**63 - 1], "int64")
    results = [r.numpy() for r in relax.build(function, check=True)(x, y)]
    compare = getattr(np, name)
    np.testing.assert_array_equal(results, [compare(x, y), compare(y, x)])
