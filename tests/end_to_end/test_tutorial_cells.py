"""What programs of TVM's tutorials are made of: pipelines, targets around builds, layers, texts."""

import numpy as np
import pytest

import xrelax as tvm
from xrelax import relax, te, topi
from xrelax.relax.frontend import nn
from xrelax.script import from_source
from xrelax.script import ir as I
from xrelax.script import relax as R
from xrelax.script import tirx as T


@I.ir_module
class Model:
    @R.function
    def main(x: R.Tensor((2, 3), "float32")):
        return R.nn.relu(R.multiply(x, x)), x


X = np.array([[1, -2, 3], [0, 5, -6]], "float32")


def test_the_pipeline_zero_makes_kernels_that_builds_take():
    kernels = relax.get_pipeline("zero")(Model)
    assert any(isinstance(f, tvm.tirx.PrimFunc) for _, f in kernels.functions_items())
    ex = tvm.build(kernels, relax_pipeline="zero")
    np.testing.assert_array_equal(ex["main"](X)[0], X * X)


def test_unknown_and_repeated_pipelines():
    with pytest.raises(ValueError, match="got 'zerro', did you mean 'zero'"):
        relax.get_pipeline("zerro")
    with pytest.raises(ValueError, match="expected a new name of a pipeline, got 'zero'"):
        relax.register_pipeline("zero")(lambda: None)
    with pytest.raises(TypeError, match="expected a pass or a rewrite pattern, got int"):
        tvm.build(Model, relax_pipeline=4)


def test_a_target_around_builds():
    target = tvm.target.Target("llvm -mcpu=x86-64-v2 -mtriple=x86_64-unknown-linux-gnu")
    with tvm.target.Target("llvm"), target:
        assert tvm.target.Target.current() == target
        inside = tvm.build(Model)
    assert "mcpu=x86-64-v2" in inside.attributes["target"]
    assert tvm.target.Target.current() is None
    assert "mcpu=x86-64-v2" not in tvm.build(Model).attributes["target"]


def test_runtime_modules(tmp_path):
    ex = tvm.compile(Model, tvm.target.Target("llvm"))
    ex.export_library(str(tmp_path / "lib.so"), workspace_dir=str(tmp_path))
    loaded = tvm.runtime.load_module(str(tmp_path / "lib.so"))
    assert isinstance(loaded, tvm.runtime.Module) and loaded.mod is loaded
    vm = relax.VirtualMachine(loaded, tvm.cpu())
    assert vm.module is loaded and loaded["stats"]()["functions"] == 1
    assert "main(x: float32 (2, 3))" in loaded["as_text"]()
    result = vm["main"](tvm.tensor(X))
    assert isinstance(result, tvm.ffi.Array)
    assert vm.module.time_evaluator("main", tvm.cpu(), number=1)(tvm.tensor(X)).mean > 0


@T.prim_func
def scaled(x: T.handle, z: T.handle):
    M, N = T.int64(), T.int64()
    A = T.match_buffer(x, (M, N), "float32")
    Z = T.match_buffer(z, (M, N), "float32")
    for i, j in T.grid(M, N):
        Z[i, j] = A[i, j] * 2.0


class Layers(nn.Module):
    def __init__(self):
        self.hidden = nn.Linear(3, 4)

    def forward(self, x):
        n = x.shape[0]
        assert x.ndim == 2 and x.dtype == "float32"
        like = nn.Tensor.placeholder((n, 4), "float32")
        x = nn.extern("tutorial.linear", [x, self.hidden.weight, self.hidden.bias], out=like)
        x = nn.tensor_expr_op(topi.nn.relu, "relu", [x])
        return nn.tensor_ir_op(scaled, "scaled", [x], out=like)


def test_layers_call_kernels_and_registered_functions():
    @tvm.register_global_func("tutorial.linear", override=True)
    def linear(x, weight, bias, out):
        out[:] = x.numpy() @ weight.numpy().T + bias.numpy()

    module, parameters = Layers().export_tvm(
        {"forward": {"x": nn.spec.Tensor(("n", 3), "float32")}}
    )
    assert [name for name, _ in parameters] == ["hidden.weight", "hidden.bias"]
    rng = np.random.default_rng(0)
    weight, bias = (rng.standard_normal(s).astype("float32") for s in ((4, 3), 4))
    result = tvm.build(module)["forward"](X, weight, bias)
    np.testing.assert_allclose(result, 2 * np.maximum(X @ weight.T + bias, 0), rtol=1e-5)
    with pytest.raises(ValueError, match="expected 'relu' to be called in a forward"):
        nn.tensor_expr_op(topi.nn.relu, "relu", [relax.Var("x", R.Tensor((4,), "float32"))])


def test_scalars_outside_of_scripts():
    n, m = T.int64(), T.int64()
    x = relax.Var("x", R.Tensor((n, m, 4), "float32"))
    assert len({str(d) for d in x.shape}) == 3
    assert str(T.max(n, 4) - n) == str(tvm.tirx.max(n, 4) - n)
    assert T.float32(2).value == 2.0 and T.float32().dtype == "float32"
    bb = relax.BlockBuilder()
    with bb.function("main", [x]):
        bb.emit_func_output(bb.emit(relax.op.sum(x, axis=0)))
    tvm.ir.assert_structural_equal(from_source(bb.get().script()), bb.get())


def test_views_have_the_names_of_2026():
    function = Model["main"]
    (x,) = function.params
    assert x.name == x.name_hint == "x" and function.ret_ty == function.ret_struct_info
    assert relax.Var("any").ty == relax.AnyType()
    with pytest.raises(AttributeError, match=r"expected a tensor, got R\.Object"):
        _ = relax.Var("any").shape


def test_functions_bind_symbols():
    n = te.var("n")
    bb = relax.BlockBuilder()
    x = relax.Var("x", R.Tensor((n, 4), "float32"))
    with bb.function("main", [x]):
        bb.emit_func_output(bb.emit(relax.op.exp(x)))
    function = bb.get()["main"]
    bound = function.bind_symbolic_vars({n: 3})
    assert bound.ret_ty == relax.TensorType((3, 4), "float32") and n is not None
    assert str(function.ret_ty) == 'R.Tensor((n, 4), dtype="float32")'
    with pytest.raises(tvm.TVMError, match="m"):
        function.bind_symbolic_vars({"m": 3})
