"""The course's chapter on automatic program optimization: its programs as they are."""

import numpy as np

import xrelax as tvm
from xrelax import meta_schedule as ms
from xrelax import relax
from xrelax.script import relax as R
from xrelax.script import tir as T


@tvm.script.ir_module
class MyModuleMixture:
    @T.prim_func
    def linear0(
        X: T.Buffer((1, 784), "float32"),
        W: T.Buffer((128, 784), "float32"),
        B: T.Buffer((128,), "float32"),
        Z: T.Buffer((1, 128), "float32"),
    ):
        T.func_attr({"global_symbol": "linear0", "tir.noalias": True})
        Y = T.alloc_buffer((1, 128), "float32")
        for i, j, k in T.grid(1, 128, 784):
            with T.block("Y"):
                vi, vj, vk = T.axis.remap("SSR", [i, j, k])
                with T.init():
                    Y[vi, vj] = T.float32(0)
                Y[vi, vj] = Y[vi, vj] + X[vi, vk] * W[vj, vk]
        for i, j in T.grid(1, 128):
            with T.block("Z"):
                vi, vj = T.axis.remap("SS", [i, j])
                Z[vi, vj] = Y[vi, vj] + B[vj]

    @R.function
    def main(
        x: R.Tensor((1, 784), "float32"),
        w0: R.Tensor((128, 784), "float32"),
        b0: R.Tensor((128,), "float32"),
    ):
        with R.dataflow():
            lv0 = R.call_tir(
                MyModuleMixture.linear0, (x, w0, b0), R.Tensor((1, 128), dtype="float32")
            )
            R.output(lv0)
        return lv0


def test_a_kernel_of_a_program_is_tuned_and_put_back(tmp_path, workers):
    mixture = MyModuleMixture
    rng = np.random.default_rng(0)
    w0, b0 = rng.random((128, 784), np.float32), rng.random(128, np.float32)
    with_params = relax.transform.BindParams("main", {"w0": w0, "b0": b0})(mixture)

    mod_linear = tvm.IRModule.from_expr(mixture["linear0"].with_attr("global_symbol", "main"))
    database = ms.tune_tir(
        mod=mod_linear,
        target="llvm --num-cores=1",
        max_trials_global=3,
        num_trials_per_iter=64,
        work_dir=str(tmp_path),
        task_name="main",
        **workers,
    )
    sch = ms.tir_integration.compile_tir(database, mod_linear, "llvm --num-cores=1")

    new_func = sch.mod["main"].with_attr("global_symbol", "linear0")
    gv = with_params.get_global_var("linear0")
    with_params.update_func(gv, new_func)
    vm = relax.VirtualMachine(relax.build(with_params, target="llvm"), tvm.cpu())
    x = rng.random((1, 784), np.float32)
    result = vm["main"](tvm.nd.array(x)).numpy()
    np.testing.assert_allclose(result, x @ w0.T + b0, rtol=1e-4)
