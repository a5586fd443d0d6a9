"""Kernels that prefetch their panels compute the same, also at the ends of what they read."""

import numpy as np
import pytest

from xrelax import relax
from xrelax.driver import stage_text
from xrelax.ir import IRModule
from xrelax.script import from_source

SIZES = ((1, 97, 301), (3, 64, 509), (5, 9, 4099), (29, 33, 9001))
"""Rows, columns and depth; weights of the last are larger than a second cache."""


def product(rows, columns, depth):
    return f"""
@R.function
def main(x: R.Tensor(({rows}, {depth}), "float32"), w: R.Tensor(({depth}, {columns}), "float32")):
    return R.nn.relu(R.matmul(x, w))
"""


@pytest.mark.parametrize(("rows", "columns", "depth"), SIZES)
def test_products_with_panels_ahead(rows, columns, depth):
    rng = np.random.default_rng(1)
    x, w = (rng.integers(-3, 4, s).astype(np.float32) for s in ((rows, depth), (depth, columns)))
    module = IRModule({"main": from_source(product(rows, columns, depth))})
    bound = relax.transform.BindParams("main", {"w": w})(module)
    text = stage_text(bound, "loops", "llvm -mcpu=haswell")
    assert "loops.prefetch" in text
    np.testing.assert_array_equal(relax.build(bound)(x).numpy(), np.maximum(x @ w, 0))
