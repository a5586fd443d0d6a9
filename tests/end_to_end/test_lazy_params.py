"""Weights that a function asks for one by one, and results that it gives one by one."""

import numpy as np
import pytest

import xrelax as tvm
from xrelax import relax
from xrelax.reference.evaluate import evaluate
from xrelax.runtime.registry import registered_functions
from xrelax.script import from_source

TRANSFORM = """
@R.function
def transform_params(params: R.Tuple(R.Tensor((4,), "float32"), R.Tensor((2, 4), "float32"))):
    b = params[1]
    c = R.multiply(b, R.const(2, "float32"))
    a = params[0]
    d = R.add(c, a)
    return (d, a, d)
"""
WEIGHTS = [np.arange(4, dtype="float32"), np.arange(8, dtype="float32").reshape(2, 4)]
RESULTS = [WEIGHTS[1] * 2 + WEIGHTS[0], WEIGHTS[0], WEIGHTS[1] * 2 + WEIGHTS[0]]


def test_registered_functions_load_and_store():
    order, stored = [], {}

    @tvm.register_func("tests.load", override=True)
    def load(label, index):
        order.append(f"load {label} {index}")
        return WEIGHTS[index]

    @tvm.register_func("tests.store", override=True)
    def store(index, value):
        order.append(f"store {index}")
        stored[index] = value.numpy().copy()

    loader = relax.Var("loader", relax.ObjectStructInfo())
    lazy = relax.transform.LazyTransformParams("tests.load", "tests.store", [loader])
    module = lazy(tvm.IRModule.from_expr(from_source(TRANSFORM)))
    assert tvm.ir.structural_equal(module, from_source(module.script()))
    assert relax.build(module)["transform_params"]("of") == ()
    assert order == ["load of 1", "load of 0", "store 1", "store 0", "store 2"]
    for index, expected in enumerate(RESULTS):
        np.testing.assert_array_equal(stored[index], expected)


def test_inputs_that_are_only_returned():
    function = from_source("""
@R.function
def transform_params(x: R.Tensor((4,), "float32"), a: R.Tensor((4,), "float32")):
    R.func_attr({"num_input": 1})
    return (a, x)
""")
    module = relax.transform.LazyTransformParams()(tvm.IRModule.from_expr(function))
    stores = [line.split(" = ")[1] for line in module.script().splitlines() if "set_item" in line]
    assert stores == ['R.call_packed("set_item", gv, x)', 'R.call_packed("set_item", gv3, a)']


def test_functions_of_the_caller():
    function = from_source("""
@R.function
def transform_params(a: R.Tensor((4,), "float32"), b: R.Tensor((2, 4), "float32")):
    d = R.add(R.multiply(b, R.const(2, "float32")), a)
    return (d, a, d)
""")
    passes = (relax.transform.LazyGetInput(), relax.transform.LazySetOutput())
    module = tvm.transform.Sequential(passes)(tvm.IRModule.from_expr(function))
    stored = {}

    def store(index, value):
        stored[index] = np.array(value.numpy() if hasattr(value, "numpy") else value)

    def load(index, name):
        assert name == "ab"[index]
        return WEIGHTS[index]

    assert module["transform_params"].attrs["num_input"] == 2

    runs = (
        lambda: relax.build(module)["transform_params"](load, store),
        lambda: evaluate(
            module.op, "transform_params", [load, store], registry=registered_functions()
        ),
    )
    for run in runs:
        stored.clear()
        run()
        for index, expected in enumerate(RESULTS):
            np.testing.assert_array_equal(stored[index], expected)
    with pytest.raises(TypeError, match="expected a function to call, got int"):
        relax.build(module)["transform_params"](3, store)
    message = "^expected match_cast of 'b' in 'transform_params' to return float32 of shape "
    with pytest.raises(ValueError, match=message):
        relax.build(module)["transform_params"](lambda index, name: WEIGHTS[0], store)


def lazily(text):
    function = from_source(f"""
@R.function
def transform_params(params: R.Tuple(R.Tensor(("n",), "float32"))):
    return {text}""")
    lazy = relax.transform.LazyTransformParams("tests.load", None)
    return relax.build(lazy(tvm.IRModule.from_expr(function)))


def test_weights_of_unknown_dims():
    weight = np.float32([1, 2, 3])
    tvm.register_func("tests.load", lambda index: weight, override=True)
    (result,) = lazily("(R.add(params[0], params[0]),)")["transform_params"]()
    np.testing.assert_array_equal(result.numpy(), weight * 2)


def test_what_cannot_be_lazy():
    with pytest.raises(RuntimeError, match="expected fields alone of the tuple of weights"):
        lazily("params")
