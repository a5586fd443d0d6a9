"""The rounding of coordinates of resizes by the mode, as TVM chooses it."""

import numpy as np
import pytest

from xrelax import relax
from xrelax.script import from_source


def resized(operator: str, options: str, x: np.ndarray, *size: int) -> np.ndarray:
    function = from_source(f"""
@R.function
def main(x: R.Tensor({x.shape}, "float32")):
    return R.image.{operator}(x, R.shape({list(size)}), method="nearest_neighbor"{options})
""")
    return relax.build(function, check=True)(x).numpy()


X = np.arange(7, dtype="float32").reshape(1, 1, 1, 1, 7)
MODES = {
    "half_pixel": [0, 1, 2, 3, 4, 5],
    "asymmetric": [0, 1, 2, 3, 4, 5],
    "align_corners": [0, 1, 2, 4, 5, 6],
}
"""The elements of seven that six are, with "floor", and with "round" for aligned corners."""


@pytest.mark.parametrize("mode", MODES)
def test_three_dims_round_by_the_mode(mode: str):
    options = f', coordinate_transformation_mode="{mode}"'
    found = [
        resized("resize3d", options + more, X, 1, 1, 6) for more in ("", ', rounding_method=""')
    ]
    np.testing.assert_array_equal(found[0].ravel(), MODES[mode])
    np.testing.assert_array_equal(found[1], found[0])


@pytest.mark.parametrize("mode", MODES)
def test_two_dims_round_by_the_mode_if_asked(mode: str):
    options = f', coordinate_transformation_mode="{mode}", rounding_method=""'
    found = resized("resize2d", options, X[0], 1, 6)
    np.testing.assert_array_equal(found.ravel(), MODES[mode])
    nearest = resized("resize2d", "", X[0], 1, 6)
    np.testing.assert_array_equal(nearest.ravel(), [0, 1, 2, 4, 5, 6])
