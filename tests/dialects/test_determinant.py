"""`relax.det` of matrices that need pivots, and of singular ones."""

import numpy as np
import pytest

from xrelax import relax
from xrelax.script import from_source

MATRICES = {
    "permutation": ([[0, 1, 0], [0, 0, 1], [1, 0, 0]], 1),
    "exchange": ([[0, 1, 0], [1, 0, 0], [0, 0, 1]], -1),
    "singular": ([[1, 2, 3], [2, 4, 6], [1, 0, 1]], 0),
    "zero": (np.zeros((3, 3)), 0),
    "small pivot": ([[1e-9, 1, 0], [1, 1, 0], [0, 0, 1]], 1e-9 - 1),
    "nan": ([[np.nan, 1, 0], [1, 1, 0], [0, 0, 1]], np.nan),
}


@pytest.mark.parametrize("dim", ["3", "'n'"])
def test_determinants(dim):
    function = from_source(f"""
@R.function
def main(x: R.Tensor(("b", {dim}, {dim}), "float32")):
    return R.det(x)
""")
    x = np.array([matrix for matrix, _ in MATRICES.values()], np.float32)
    result = relax.build(function, check=dim == "3")(x).numpy()
    np.testing.assert_allclose(result, [wanted for _, wanted in MATRICES.values()], rtol=1e-6)


def test_no_rows():
    function = from_source("""
@R.function
def main(x: R.Tensor((2, 0, 0), "float64")):
    return R.det(x)
""")
    result = relax.build(function, check=True)(np.zeros((2, 0, 0))).numpy()
    np.testing.assert_array_equal(result, [1, 1])
