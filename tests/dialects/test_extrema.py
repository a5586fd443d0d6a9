"""`relax.maximum` and `relax.minimum` of zeros and NaN: IEEE 754's, on every target."""

import numpy as np
import pytest

from xrelax import relax
from xrelax.backend.target import Target
from xrelax.inspection import module_of
from xrelax.reference.evaluate import evaluate
from xrelax.script import from_source

LHS, RHS = [0.0, -0.0, 0.0, -0.0, np.nan, 1.0, -np.inf], [-0.0, 0.0, 0.0, -0.0, 1.0, np.nan, 0.0]
EXPECTED = {
    "maximum": [0.0, 0.0, 0.0, -0.0, np.nan, np.nan, 0.0],
    "minimum": [-0.0, -0.0, 0.0, -0.0, np.nan, np.nan, -np.inf],
}
CPUS = ("native", "x86-64") if Target("llvm").triple.startswith("x86_64") else ("native",)


@pytest.mark.parametrize("cpu", CPUS)
@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
@pytest.mark.parametrize("name", EXPECTED)
def test_zeros_of_both_signs(name, dtype, cpu):
    """Also in vectors, and for single numbers."""
    function = from_source(f'''
@R.function
def main(x: R.Tensor(("n",), "{dtype}"), y: R.Tensor(("n",), "{dtype}")):
    return R.{name}(x, y)
''')
    main = relax.build(function, target=f"llvm -mcpu={cpu}")["main"]
    for times in (1, 9):
        x, y, expected = (np.array(v * times, dtype) for v in (LHS, RHS, EXPECTED[name]))
        for got in (main(x, y).numpy(), *evaluate(module_of(function), "main", [x, y])):
            np.testing.assert_array_equal(got, expected)
            signs = np.isnan(expected) | (np.signbit(got) == np.signbit(expected))
            assert signs.all()
