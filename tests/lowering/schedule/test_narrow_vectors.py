"""Constant operands in panels of half registers, on processors that are as fast with these."""

import re

import numpy as np
import pytest

from xrelax import relax
from xrelax.inspection import stage_text
from xrelax.script import from_source


def product(columns):
    """The module of a product with a constant of 40 rows, and the constant."""
    module = from_source(f"""
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor(("m", 40), "float32"), w: R.Tensor((40, {columns}), "float32")):
        return R.nn.relu(R.matmul(x, w))
""")
    w = np.random.default_rng(0).integers(-3, 4, (40, columns)).astype(np.float32)
    return relax.transform.BindParams("main", {"w": w})(module), w


def lanes(columns, cpu):
    text = stage_text(product(columns)[0], "tir", f"llvm -mtriple=x86_64-linux-gnu -mcpu={cpu}")
    return {int(n) for n in re.findall(r"in \(0, (\d+)\) vectorized", text)}


def test_24_columns_are_three_narrow_vectors():
    """Two vectors of 16 lanes would take a third longer on Zen 4, and as long on Zen 5."""
    assert lanes(24, "znver4") == {8}
    assert lanes(24, "znver5") == lanes(32, "znver4") == {16}


@pytest.mark.parametrize("columns", [8, 24, 40, 130])
@pytest.mark.parametrize("rows", [1, 19, 64])
def test_results(columns, rows):
    module, w = product(columns)
    x = np.random.default_rng(1).integers(-3, 4, (rows, 40)).astype(np.float32)
    found = relax.build(module, "llvm -model=narrow-rate=2")(x)
    np.testing.assert_array_equal(found.numpy(), np.maximum(x @ w, 0))
