"""Scalars of unknown value: parameters, results and operands of operators."""

import numpy as np
import pytest

import xrelax as tvm
from xrelax import relax
from xrelax.script import from_source

PROGRAM = """
@I.ir_module
class Module:
    @R.function
    def scaled(x: R.Tensor(("n",), "float32"), a: R.Prim("float32"), k: R.Prim("int64")):
        return (R.multiply(x, a), a * a + a, R.take(x, k), a < a, 2 * k - 1)

    @R.function
    def chosen(c: R.Tensor((), "bool"), n: R.Prim("int64")):
        if c:
            out = R.prim_value(5)
        else:
            out = n
        return out

    @R.function
    def even(x: R.Tensor(("n",), "float32")):
        n = T.int64()
        if R.prim_value(n % 2 == 0):
            y = R.exp(x)
        else:
            y = R.negative(x)
        return y
"""


def test_scalars():
    module = from_source(PROGRAM)
    assert from_source(module.script()).script() == module.script()
    built = relax.build(module, check=True)
    x = np.arange(3, dtype="float32")
    product, total, element, is_less, odd = built["scaled"](x, 1.5, 2)
    np.testing.assert_array_equal(product.numpy(), x * 1.5)
    assert (total, element.numpy(), is_less, odd) == (3.75, 2, False, 3)
    assert isinstance(total, float) and isinstance(odd, int)
    assert [built["chosen"](np.array(c), 3) for c in (True, False)] == [5, 3]
    np.testing.assert_array_equal(built["even"](x).numpy(), -x)
    with pytest.raises(TypeError, match="expected argument 'a' to be a number, got str"):
        built["scaled"](x, "1", 2)


INTEGERS = """
@I.ir_module
class Module:
    @R.function(pure=False)
    def main(k: R.Prim("int64"), j: R.Prim("int8")):
        R.print(k, j, format="{} {}")
        return (2 * k - 1, -k, -j, Module.twice(k), Module.twice(R.prim_value(-4)), k < 0)

    @R.function(private=True)
    def twice(k: R.Prim("int64")):
        return k + k
"""


def test_integers_may_be_negative(capsys):
    main = relax.build(from_source(INTEGERS), check=True)["main"]
    assert main(-3, -128) == (-7, 3, -128, -6, -8, True)
    assert capsys.readouterr().out == "-3 -128\n"
    with pytest.raises(TypeError, match="expected argument 'k' to be an integer, got float"):
        main(1.5, 0)
    with pytest.raises(ValueError, match=r"'j' to be of int8, in \[-128, 127\], got 128"):
        main(0, 128)


def test_types_of_operators():
    x, y = (relax.Var(n, relax.PrimStructInfo("float32")) for n in "xy")
    assert str(relax.op.add(x, y).struct_info) == 'R.Prim("float32")'
    assert str(relax.op.less(x, y).struct_info) == str((x < 2).struct_info) == 'R.Prim("bool")'
    assert str(relax.op.multiply(x, 2).struct_info) == str((-x).struct_info) == 'R.Prim("float32")'
    t = relax.Var("t", relax.TensorStructInfo((2, 3), "float32"))
    assert str(relax.op.add(t, y).struct_info) == 'R.Tensor((2, 3), dtype="float32")'
    assert relax.op.add(t, y).args[1].op == tvm.ir.Op.get("relax.prim_to_tensor")
