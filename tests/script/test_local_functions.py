"""Local functions in dataflow blocks: scripts, passes and results."""

import numpy as np
import pytest

from xrelax import relax
from xrelax.script import from_source

MODULE = """
@I.ir_module
class M:
    @R.function
    def main(x: R.Tensor(("n",), "float32"), y: R.Tensor(("n",), "float32")):
        n = T.int64()
        with R.dataflow():
            z = R.add(x, y)
            @R.function
            def inner(a: R.Tensor((n,), "float32")) -> R.Tensor((n,), "float32"):
                R.func_attr({"kind": "own"})
                with R.dataflow():
                    b = R.multiply(a, z)
                    R.output(b)
                return b
            w = inner(x)
            v = inner(w)
            R.output(v)
        return v
"""

PASSES = """LambdaLift CanonicalizeBindings EliminateCommonSubexpr DeadCodeElimination
ConvertToDataflow FoldConstant LegalizeOps TopologicalSort""".split()


def test_a_script_is_parsed_back():
    mod = from_source(MODULE)
    assert 'R.func_attr({"kind": "own"})' in mod.script()
    assert from_source(mod.script()).script() == mod.script()


@pytest.mark.parametrize("name", PASSES)
def test_passes_keep_the_result(name):
    mod = getattr(relax.transform, name)()(from_source(MODULE))
    x, y = np.random.default_rng(0).standard_normal((2, 5)).astype("float32")
    result = relax.build(mod, check=True)["main"](x, y).numpy()
    np.testing.assert_allclose(result, x * (x + y) ** 2, rtol=1e-5)


def test_a_lifted_function_has_the_attributes():
    mod = relax.transform.LambdaLift()(from_source(MODULE))
    assert mod["main_inner"].attrs == {"kind": "own"}
