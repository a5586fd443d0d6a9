"""Local functions in dataflow blocks: scripts, passes and results."""

import numpy as np
import pytest

import xrelax as tvm
from xrelax import relax
from xrelax.script import ScriptError, from_source

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


LOOP = """
@R.function
def main(x: R.Tensor(("n",), "float32"), step: R.Tensor((), "int32")):
    n = T.int64()
    @R.function
    def loop(i: R.Tensor((), "int32"), m: R.Prim("int64"), s: R.Tensor(["m"], "float32")) -> \\
            R.Tensor(["m"], "float32"):
        if i < R.const(6):
            j = R.add(i, step)
            t = R.add(s, R.mean(x))
            r = loop(j, m, t)
        else:
            r = R.multiply(s, s)
        return r
    y = loop(R.const(0), n, x)
    return y
"""


def test_a_function_calls_itself():
    func = from_source(LOOP)
    again = from_source(func.script())
    assert again.script() == func.script() and " = loop(j, m_1, t)" in func.script()
    (local,) = [
        b.value for b in func.body.blocks[0].bindings if isinstance(b.value, relax.Function)
    ]
    assert local.body is not None and "loop(j, m, t)" in local.script(show_all_struct_info=False)
    assert "loop(j, m, t)" in tvm.IRModule({"loop": local}).script().replace("cls.", "")
    mod = tvm.IRModule({"main": func})
    lifted = relax.transform.LambdaLift()(mod).script()
    assert "main_loop(j, m, t, step, x)" in lifted.replace("cls.", "")
    x = np.arange(4, dtype="float32")
    main = relax.build(mod, check=True)["main"]
    for step, mean in ((1, 9), (4, 3)):
        np.testing.assert_allclose(main(x, np.int32(step)).numpy(), (x + mean) ** 2)


NESTED = """
@R.function
def main(x: R.Tensor((), "int32")) -> R.Tensor((), "int32"):
    @R.function
    def outer(a: R.Tensor((), "int32")) -> R.Tensor((), "int32"):
        @R.function
        def inner(b: R.Tensor((), "int32")) -> R.Tensor((), "int32"):
            return R.add(outer(R.subtract(b, R.const(1))), x)
        if a < R.const(1):
            z = a
        else:
            z = inner(a)
        return z
    return outer(x)
"""


def test_a_nested_function_calls_the_one_around():
    main = relax.build(from_source(NESTED))["main"]
    assert [int(main(np.int32(n)).numpy()) for n in (0, 3)] == [0, 9]


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('-> \\\n            R.Tensor(["m"], "float32")', "", "'loop', which calls itself"),
        ("loop(j, m, t)", "loop(j, t)", "expected 3 arguments, got 2"),
        ("return r", "return (r,)", "expected 'loop' to return"),
    ],
)
def test_wrong_functions_that_call_themselves(old, new, message):
    assert old in LOOP
    with pytest.raises(ScriptError, match=message):
        from_source(LOOP.replace(old, new))


def test_a_lifted_function_has_the_attributes():
    mod = relax.transform.LambdaLift()(from_source(MODULE))
    assert mod["main_inner"].attrs == {"kind": "own"}
