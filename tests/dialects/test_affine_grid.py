"""`relax.image.affine_grid` of grids with a dim of one point."""

import numpy as np
import pytest

from xrelax import relax
from xrelax.script import from_source


@pytest.mark.parametrize("dim", ["1", "'n'"])
def test_one_point(dim):
    """The only point of a dim is its center; one number is both sizes."""
    function = from_source(f"""
@R.function
def main(x: R.Tensor(({dim}, 2, 3), "float32")):
    return R.image.affine_grid(x, 1), R.image.affine_grid(x, (1, 2))
""")
    x = np.arange(6, dtype="float32").reshape(1, 2, 3)
    one, two = relax.build(function, check=True)(x)
    np.testing.assert_array_equal(one.numpy(), [[[[2]], [[5]]]])
    np.testing.assert_array_equal(two.numpy(), [[[[2, 2]], [[2, 8]]]])
