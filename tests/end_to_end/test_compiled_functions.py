"""Compiled functions as users call them: threads, callbacks, foreign arrays, checks."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import xrelax as tvm
from xrelax import relax
from xrelax.reference.check import CheckError
from xrelax.script import from_source

MLP = """
@I.ir_module
class Module:
    @T.prim_func
    def linear0(x: T.handle, w: T.handle, b: T.handle, z: T.handle):
        s, m, n = T.int64(), T.int64(), T.int64()
        X = T.match_buffer(x, (s, m), "float32")
        W = T.match_buffer(w, (n, m), "float32")
        B = T.match_buffer(b, (n,), "float32")
        Z = T.match_buffer(z, (s, n), "float32")
        Y = T.alloc_buffer((s, n), "float32")
        for i, j, k in T.grid(s, n, m):
            with T.block("Y"):
                vi, vj, vk = T.axis.remap("SSR", [i, j, k])
                with T.init():
                    Y[vi, vj] = T.float32(0)
                Y[vi, vj] = Y[vi, vj] + X[vi, vk] * W[vj, vk]
        for i, j in T.grid(s, n):
            with T.block("Z"):
                vi, vj = T.axis.remap("SS", [i, j])
                Z[vi, vj] = Y[vi, vj] + B[vj]

    @R.function
    def main(x: R.Tensor(("s", "m"), "float32"),
             w0: R.Tensor(("n", "m"), "float32"), b0: R.Tensor(("n",), "float32"),
             w1: R.Tensor(("k", "n"), "float32"), b1: R.Tensor(("k",), "float32")):
        s, m, n, k = T.int64(), T.int64(), T.int64(), T.int64()
        with R.dataflow():
            lv0 = R.call_dps_packed("linear0", (x, w0, b0), R.Tensor((s, n), "float32"))
            lv1 = R.call_dps_packed("e2e.relu", (lv0,), R.Tensor((s, n), "float32"))
            out = R.call_dps_packed("linear0", (lv1, w1, b1), R.Tensor((s, k), "float32"))
            R.output(out)
        return out
"""


def relu(x, out):
    np.maximum(np.asarray(x), 0, out=np.asarray(out))


def arrays(batch, sizes=(20, 8, 3), seed=0):
    rng = np.random.default_rng(seed)
    m, n, k = sizes
    shapes = ((batch, m), (n, m), (n,), (k, n), (k,))
    return [rng.standard_normal(s, np.float32) for s in shapes]


def expected(x, w0, b0, w1, b1):
    return np.maximum(x @ w0.T + b0, 0) @ w1.T + b1


@pytest.fixture(scope="module")
def main():
    tvm.register_func("e2e.relu", relu, override=True)
    return relax.build(from_source(MLP), check=True)["main"]


@pytest.fixture(autouse=True)
def registered():
    tvm.register_func("e2e.relu", relu, override=True)


def close(result, args):
    np.testing.assert_allclose(result.numpy(), expected(*args), rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("batch", [0, 1, 5, 64])
def test_every_batch_size(main, batch):
    args = arrays(batch)
    close(main(*args), args)


def test_one_kernel_serves_two_widths_and_many_shapes(main):
    for sizes in ((1, 1, 1), (17, 16, 15), (100, 33, 10)):
        args = arrays(3, sizes)
        close(main(*args), args)


def test_the_same_function_from_many_threads(main):
    work = [arrays(1 + i % 5, (40 + i % 7, 9, 4), seed=i) for i in range(64)]
    with ThreadPoolExecutor(8) as pool:
        for result, args in zip(pool.map(lambda a: main(*a), work), work, strict=True):
            close(result, args)


def test_a_callback_that_calls_back(main):
    inner = arrays(2, seed=5)
    depth = []

    def nested(x, out):
        if len(depth) < 3:
            depth.append(len(depth))
            close(main(*inner), inner)
        relu(x, out)

    tvm.register_func("e2e.relu", nested, override=True)
    args = arrays(4)
    close(main(*args), args)
    assert depth == [0, 1, 2]


def test_an_exception_of_a_callback_arrives_unchanged(main):
    error = RuntimeError("not today")

    def failing(x, out):
        raise error

    tvm.register_func("e2e.relu", failing, override=True)
    with pytest.raises(RuntimeError) as caught:
        main(*arrays(1))
    assert caught.value is error
    tvm.register_func("e2e.relu", relu, override=True)
    args = arrays(1)
    close(main(*args), args)


def test_override_takes_effect_at_the_next_call(main):
    tvm.register_func("e2e.relu", lambda x, out: np.asarray(out).fill(0), override=True)
    args = arrays(2)
    np.testing.assert_allclose(main(*args).numpy(), np.tile(args[4], (2, 1)), rtol=1e-6)


def test_strided_arrays(main):
    args = arrays(3)
    wide = np.zeros((6, 40), np.float32)
    wide[::2, ::2] = args[0]
    turned = np.asfortranarray(args[1])
    close(main(wide[::2, ::2], turned, *args[2:]), args)


def test_torch_tensors(main):
    torch = pytest.importorskip("torch")
    args = arrays(3)
    close(main(*(torch.from_numpy(a) for a in args)), args)
    result = torch.from_dlpack(main(*args))
    assert result.shape == (3, 3)


def test_nan_and_infinity_pass_through():
    mod = from_source("""
@R.function
def main(x: R.Tensor(("n",), "float32"), y: R.Tensor(("n",), "float32")):
    z = R.nn.relu(R.maximum(R.add(x, y), R.multiply(x, y)))
    return z
""")
    special = np.array([np.nan, np.inf, -np.inf, 0, -0.0, 1, -1, 3e38], np.float32)
    x, y = (a.reshape(-1).copy() for a in np.meshgrid(special, special))
    with np.errstate(all="ignore"):
        want = np.maximum(np.maximum(x + y, x * y), np.float32(0))
    np.testing.assert_array_equal(relax.build(mod, check=True)["main"](x, y).numpy(), want)


def test_show_me_each_stage():
    mod = from_source(MLP)
    texts = dict(tvm.stages(mod))
    assert "relax.call_dps_packed" in texts["relax"]
    assert "tir.block" in texts["tir"]
    assert "rt.arena" in texts["rt"] and "rt.dataflow" in texts["rt"]
    assert "loops.for" in texts["loops"] and "tir.block" not in texts["loops"]
    assert "llvm.func" in texts["llvm"] and "loops." not in texts["llvm"]


def test_check_names_the_pass_that_changes_a_result(monkeypatch):
    from xrelax.lowering.loops.unroll_loops import UnrollLoopsPass

    def broken(self, ctx, op):
        for inner in list(op.walk()):
            if inner.name == "arith.addf":
                inner.operands = [inner.operands[0]] * 2

    monkeypatch.setattr(UnrollLoopsPass, "apply", broken)
    with pytest.raises(CheckError, match="unroll-loops"):
        relax.build(from_source(MLP), check=True)


def test_time_evaluator(main):
    executable = relax.build(from_source(MLP))
    vm = relax.VirtualMachine(executable, tvm.cpu())
    timed = vm.time_evaluator("main", tvm.cpu(), number=3, repeat=2)(*arrays(1))
    assert len(timed.results) == 2 and timed.mean > 0


def test_a_prim_func_on_its_own():
    mod = from_source("""
@T.prim_func
def mm(A: T.Buffer((16, 8), "float32"), B: T.Buffer((8, 4), "float32"),
       C: T.Buffer((16, 4), "float32")):
    for i, j, k in T.grid(16, 4, 8):
        with T.block("C"):
            vi, vj, vk = T.axis.remap("SSR", [i, j, k])
            with T.init():
                C[vi, vj] = T.float32(0)
            C[vi, vj] = C[vi, vj] + A[vi, vk] * B[vk, vj]
""")
    rng = np.random.default_rng(0)
    a, b = rng.standard_normal((16, 8), np.float32), rng.standard_normal((8, 4), np.float32)
    out = tvm.nd.empty((16, 4), "float32")
    built = tvm.build(mod, target="llvm")
    built["mm"](tvm.nd.array(a), tvm.nd.array(b), out)
    np.testing.assert_allclose(out.numpy(), a @ b, rtol=1e-5, atol=1e-5)
    assert built.time_evaluator("mm", tvm.cpu(), number=2)(a, b, out).mean > 0


def test_parameters_given_to_build():
    args = arrays(3)
    names = ("w0", "b0", "w1", "b1")
    bound = relax.build(from_source(MLP), params=dict(zip(names, args[1:], strict=True)))["main"]
    close(bound(args[0]), args)


def test_an_unknown_exec_mode_is_refused():
    with pytest.raises(
        ValueError, match="expected exec_mode 'compiled' or 'bytecode', got 'turbo'"
    ):
        relax.build(from_source(MLP), exec_mode="turbo")


def test_deeply_nested_loops():
    lines = ["@T.prim_func", 'def deep(X: T.Buffer((1,), "float32")):']
    lines += [" " * (i + 1) + f"for i{i} in range(1):" for i in range(60)]
    lines += [" " * 61 + "X[0] = X[0] + T.float32(1)"]
    x = np.zeros(1, np.float32)
    relax.build(from_source("\n".join(lines)))["deep"](x)
    assert x[0] == 1
