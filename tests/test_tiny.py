"""The whole product in about a second: a script becomes native code with the right numbers."""

import numpy as np

import xrelax as tvm
from xrelax import relax
from xrelax.script import ir as I
from xrelax.script import relax as R
from xrelax.script import tir as T


@I.ir_module
class Tiny:
    @T.prim_func
    def scale(x: T.handle, y: T.handle):
        n = T.int64()
        X = T.match_buffer(x, (1, n), "float32")
        Y = T.match_buffer(y, (1, n), "float32")
        for i, j in T.grid(1, n):
            with T.block("Y"):
                vi, vj = T.axis.remap("SS", [i, j])
                Y[vi, vj] = X[vi, vj] * T.float32(2)

    @R.function
    def main(
        x: R.Tensor((1, "n"), "float32"),
        w: R.Tensor(("m", "n"), "float32"),
        b: R.Tensor(("m",), "float32"),
    ):
        m, n = T.int64(), T.int64()
        with R.dataflow():
            lv0 = R.call_tir(scale, (x,), R.Tensor((1, n), "float32"))
            lv1 = R.linear(lv0, w, b)
            lv2 = R.call_dps_packed("tests.negate", (lv1,), R.Tensor((1, m), "float32"))
            out = R.nn.relu(lv2)
            R.output(out)
        return out


def expected(x, w, b):
    return np.maximum(-(2 * x @ w.T + b), 0)


def arrays(n, m, seed=0):
    rng = np.random.default_rng(seed)
    return [rng.standard_normal(s, np.float32) for s in ((1, n), (m, n), (m,))]


def negate(x, out):
    np.negative(np.asarray(x), out=np.asarray(out))


def test_script_to_machine_code():
    tvm.register_func("tests.negate", negate, override=True)
    assert "R.linear(lv0, w, b)" in Tiny.script()
    assert [name for name, _ in tvm.stages(Tiny)] == ["relax", "tir", "rt", "loops", "llvm"]
    vm = relax.VirtualMachine(relax.build(Tiny, target="llvm"), tvm.cpu())
    for n, m in ((7, 3), (64, 130)):
        x, w, b = arrays(n, m)
        np.testing.assert_allclose(
            vm["main"](x, w, b).numpy(), expected(x, w, b), rtol=1e-4, atol=1e-4
        )
    x, w, b = arrays(20, 5)
    bound = relax.transform.BindParams("main", {"w": w, "b": b})(Tiny)
    result = relax.build(bound)["main"](x)
    np.testing.assert_allclose(result.numpy(), expected(x, w, b), rtol=1e-4, atol=1e-4)
