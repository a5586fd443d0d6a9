"""Constant operands in panels of half registers, on processors that are as fast with these."""

import re

import numpy as np
import pytest

from xrelax import relax
from xrelax.inspection import stage_text
from xrelax.runtime import array
from xrelax.script import from_source


def product(columns, dtype="float32"):
    """The module of a product with a constant of 40 rows, and the constant."""
    module = from_source(f"""
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor(("m", 40), "{dtype}"), w: R.Tensor((40, {columns}), "{dtype}")):
        return R.nn.relu(R.matmul(x, w))
""")
    w = np.random.default_rng(0).integers(-1, 2, (40, columns))
    return relax.transform.BindParams("main", {"w": array(w, dtype=dtype)})(module), w


def lanes(columns, cpu):
    text = stage_text(product(columns)[0], "tir", f"llvm -mtriple=x86_64-linux-gnu -mcpu={cpu}")
    return {int(n) for n in re.findall(r"in \(0, (\d+)\) vectorized", text)}


def test_24_columns_are_three_narrow_vectors():
    """Two vectors of 16 lanes would take a third longer on Zen 4, and less on Zen 5."""
    assert lanes(24, "znver4") == {8}
    assert lanes(24, "znver5") == lanes(32, "znver4") == {16}


@pytest.mark.parametrize("dtype", ["float32", "float64", "bfloat16", "int8"])
@pytest.mark.parametrize("columns", [8, 24, 130])
def test_results(columns, dtype):
    """Sums of 40 products are exact in every dtype."""
    module, w = product(columns, dtype)
    called = relax.build(module, "llvm -model=narrow-rate=2")["main"]
    for rows in (1, 19, 64):
        x = np.random.default_rng(rows).integers(-1, 2, (rows, 40))
        found = called(array(x, dtype=dtype))
        expected = array(np.maximum(x @ w, 0), dtype=dtype)
        np.testing.assert_array_equal(found.numpy(), expected.numpy())
