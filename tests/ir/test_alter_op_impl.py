"""`relax.transform.AlterOpImpl`: kernels on other layouts compute the same."""

import numpy as np
import pytest

from xrelax import relax
from xrelax.dialects.diagnostics import Diagnostic
from xrelax.script import from_source

MODULE = """
@I.ir_module
class Module:
    @T.prim_func(private=True)
    def both(x: T.Buffer((6,), "float32"), y: T.Buffer((6,), "float32"),
             a: T.Buffer((6,), "float32"), b: T.Buffer((6,), "float32")):
        T.func_attr({"operator_name": "my.both"})
        for i in range(6):
            with T.block("a"):
                vi = T.axis.spatial(6, i)
                a[vi] = x[vi] + y[vi]
                b[vi] = x[vi] - y[vi]

    @R.function
    def main(x: R.Tensor((6,), "float32"), y: R.Tensor((6,), "float32")):
        with R.dataflow():
            z = R.call_tir(cls.both, (x, y), [R.Tensor((6,), "float32")] * 2)
            R.output(z)
        return z
""".replace(
    '[R.Tensor((6,), "float32")] * 2', '[R.Tensor((6,), "float32"), R.Tensor((6,), "float32")]'
)
NEW = """
@T.prim_func
def both_2d(x: T.Buffer((2, 3), "float32"), y: T.Buffer((6,), "float32"),
            a: T.Buffer((2, 3), "float32"), b: T.Buffer((6,), "float32")):
    for i, j in T.grid(2, 3):
        with T.block("a"):
            vi, vj = T.axis.remap("SS", [i, j])
            a[vi, vj] = x[vi, vj] + y[vi * 3 + vj]
            b[vi * 3 + vj] = x[vi, vj] - y[vi * 3 + vj]
"""
LAYOUT = (lambda i: (i // 3, i % 3), None, lambda i: (i // 3, i % 3), None)


def altered(layouts):
    kernels = {"my.both": from_source(NEW)}
    return relax.transform.AlterOpImpl(kernels, {"my.both": layouts})(from_source(MODULE))


def test_inputs_and_outputs_are_transformed():
    module = altered(LAYOUT)
    text = module["main"].script()
    assert text.count("R.layout_transform") == 2
    assert "my_both_replacement" in text
    x, y = np.arange(6, dtype="float32"), np.full(6, 2, "float32")
    first, second = relax.build(module, check=True)["main"](x, y)
    np.testing.assert_array_equal(first.numpy(), x + y)
    np.testing.assert_array_equal(second.numpy(), x - y)


@pytest.mark.parametrize(
    ("layouts", "message"),
    [
        (LAYOUT[:2], "expected 4 maps of indices for 'my.both', got 2"),
        ((lambda i, j: (j, i), None, None, None), "expected a map of 1 ind"),
        ((None, None, None, None), "expected argument 'x' to have rank 2"),
        ((LAYOUT[0], None, lambda i: (i // 4, i % 4), None), "to leave no gaps"),
    ],
)
def test_wrong_layouts(layouts, message):
    with pytest.raises(Diagnostic, match=message):
        altered(layouts)
