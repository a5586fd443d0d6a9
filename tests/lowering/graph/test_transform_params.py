"""Parameters that are transformed before the inputs are known; orders of matmuls."""

from __future__ import annotations

import numpy as np
import pytest

import xrelax as tvm
from xrelax import relax
from xrelax.script import from_source

MODEL = """
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((2, 3), "float32"), w: R.Tensor((4, "k"), "float32"),
             a: R.Tensor(("k", 3), "float32"), b: R.Tensor((4,), "float32")):
        R.func_attr({"num_input": 1})
        with R.dataflow():
            folded = R.permute_dims(R.matmul(w, a))
            out = R.matmul(x, folded) + b
            R.output(out)
        return out
"""


def arrays():
    rng = np.random.default_rng(0)
    return [rng.standard_normal(s).astype("float32") for s in ((2, 3), (4, 5), (5, 3), (4,))]


def test_lifted_parameters():
    x, *params = arrays()
    mod = from_source(MODEL)
    expected = relax.build(mod)(x, *params).numpy()
    lifted = relax.transform.LiftTransformParams()(mod)
    vm = relax.VirtualMachine(relax.build(lifted), tvm.cpu())
    transformed = vm["main_transform_params"](tuple(params))
    assert [t.shape for t in transformed] == [(4,), (3, 4)]
    np.testing.assert_allclose(vm["main"](x, *transformed).numpy(), expected, rtol=1e-5)
    again = relax.transform.LiftTransformParams()(lifted)
    tvm.ir.assert_structural_equal(again, lifted)
    known = relax.analysis.computable_at_compile_time(mod["main"])
    assert [v.name_hint for v in known][:3] == ["w", "a", "b"]
    assert [v.name_hint for v in known][-1] == "folded"
    assert relax.analysis.computable_at_compile_time(lifted["main"])[0].name_hint == "b"


def test_a_function_of_the_name():
    mod = from_source(MODEL)
    mod["main_transform_params"] = mod["main"]
    with pytest.raises(RuntimeError, match="expected 'main_transform_params' to map a tuple to"):
        relax.transform.LiftTransformParams()(mod)


def test_parameters_of_an_existing_function():
    x, *params = arrays()
    mod = from_source(MODEL)
    expected = relax.build(mod)(x, *params).numpy()
    mod["main_transform_params"] = from_source("""
@R.function
def main(given: R.Tuple(R.Tensor((4, "k"), "float32"), R.Tensor(("k", 3), "float32"),
                        R.Tensor((4,), "float32"))):
    R.func_attr({"num_input": 0})
    return R.negative(given[0]), R.negative(given[1]), R.negative(given[2])
""")
    vm = relax.VirtualMachine(relax.build(relax.transform.LiftTransformParams()(mod)), tvm.cpu())
    transformed = vm["main_transform_params"](tuple(-p for p in params))
    np.testing.assert_allclose(vm["main"](x, *transformed).numpy(), expected, rtol=1e-5)


@pytest.mark.parametrize("bounds", ["", 'R.func_attr({"tir_var_upper_bound": {"n": 4, "r": 4}})'])
def test_matmul_order(bounds):
    mod = from_source(f"""
@R.function
def main(x: R.Tensor(("n", 16), "float32"), a: R.Tensor((16, "r"), "float32"),
         b: R.Tensor(("r", 16), "float32")):
    {bounds or "pass"}
    return R.matmul(x, R.permute_dims(R.matmul(a, b)))
""")
    mod = tvm.IRModule.from_expr(mod)
    after = relax.transform.AdjustMatmulOrder()(mod)
    assert (after.script() != mod.script()) == bool(bounds)
    rng = np.random.default_rng(1)
    x, a, b = (rng.standard_normal(s).astype("float32") for s in ((3, 16), (16, 2), (2, 16)))
    run = relax.build(after, check=True)
    np.testing.assert_allclose(run(x, a, b).numpy(), x @ (a @ b).T, rtol=1e-4, atol=1e-4)


def test_shared_sums_of_sums():
    """Each value is numbered once, however often others are computed from it."""
    sums = "\n".join(f"            w = R.add(w, w)  # {i}" for i in range(40))
    functions = "".join(
        f"""
    @R.function
    def {name}(x: R.Tensor((3,), "float32"), w: R.Tensor((3,), "float32")):
        R.func_attr({{"num_input": 1}})
        with R.dataflow():
{sums}
            out = x + w
            R.output(out)
        return out
"""
        for name in ("first", "second")
    )
    mod = from_source(f"@I.ir_module\nclass Module:{functions}")
    lifted = relax.transform.LiftTransformParams(shared_transform=True)(mod)
    (total,) = relax.build(lifted)["transform_params"]((np.ones(3, "float32"),))
    np.testing.assert_array_equal(total.numpy(), np.full(3, 2.0**40, "float32"))
