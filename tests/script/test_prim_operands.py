"""Numbers of known value as operands of operators: they are tensors of rank 0."""

import numpy as np
import pytest

from xrelax import relax
from xrelax.script import from_source
from xrelax.script import relax as R


@pytest.mark.parametrize("axis", [0, 1])
@pytest.mark.parametrize(("index", "place"), [("1", 1), ("n - 1", 4)])
def test_an_index(axis, index, place):
    function = from_source(f"""
@R.function
def main(x: R.Tensor(("n", "n"), "float32")):
    n = T.int64()
    return R.take(x, R.prim_value({index}), axis={axis})
""")
    x = np.random.default_rng(0).standard_normal((5, 5)).astype("float32")
    result = relax.build(function, check=True)(x).numpy()
    np.testing.assert_array_equal(result, x.take(place, axis))


def test_the_second_operand():
    function = from_source("""
@R.function
def main(x: R.Tensor(("n",), "int64")):
    n = T.int64()
    return R.multiply(R.add(x, R.prim_value(n)), R.prim_value(2))
""")
    x = np.arange(4)
    np.testing.assert_array_equal(relax.build(function, check=True)(x).numpy(), (x + 4) * 2)


def test_in_python():
    x = relax.Var("x", R.Tensor((3, 4), "float32"))
    assert str(relax.op.take(x, relax.PrimValue(2), axis=0).struct_info) == str(
        relax.op.take(x, relax.const(2), axis=0).struct_info
    )
