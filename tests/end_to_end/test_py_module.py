"""`relax.BasePyModule`: Python functions, kernels and graphs of one module call each other."""

import gc

import pytest

import xrelax as tvm
from xrelax import relax
from xrelax.script import ScriptError, from_source
from xrelax.script import ir as I
from xrelax.script import relax as R
from xrelax.script import tir as T

torch = pytest.importorskip("torch")


@I.ir_module
class Model(relax.BasePyModule):
    @T.prim_func
    def double(x: T.handle, y: T.handle):
        n = T.int64()
        X = T.match_buffer(x, (n,), "float32")
        Y = T.match_buffer(y, (n,), "float32")
        for i in range(n):
            Y[i] = X[i] * 2.0

    @I.pyfunc
    def forward(self, x):
        doubled = self.call_tir(self.double, [x], R.Tensor((x.shape[0],), "float32"))
        assert isinstance(doubled, torch.Tensor)
        return self.swish(doubled) + self.call_py_func("swish", [doubled])

    @I.pyfunc
    def swish(x):
        return torch.sigmoid(x) * x

    @R.function
    def main(x: R.Tensor(("n",), "float32")) -> R.Tensor(("n",), "float32"):
        n = T.int64()
        with R.dataflow():
            y = R.call_py_func("swish", (x,), out_ty=R.Tensor((n,), "float32"))
            z = R.add(y, y)
            R.output(z)
        return z


X = torch.tensor([1.0, -2.0, 0.5])


@pytest.fixture(scope="module")
def model():
    return Model(tvm.cpu(), target="llvm")


def test_python_calls_kernels(model):
    for x in (X, torch.ones(7)):
        torch.testing.assert_close(model.forward(x), 2 * torch.nn.functional.silu(2 * x))


def test_graphs_call_python(model):
    for x in (X, torch.ones(7)):
        torch.testing.assert_close(model.main(x), 2 * torch.nn.functional.silu(x))


def test_types_with_symbols_take_the_sizes_of_the_kernel(model):
    result = model.call_tir("double", [X], relax.TensorType((T.int64(),), "float32"))
    torch.testing.assert_close(result, 2 * X)
    with pytest.raises(ValueError, match="expected a result of 1 dims, got"):
        model.call_tir("double", [X], R.Tensor((3, 1), "float32"))
    with pytest.raises(ValueError, match="'double' expects 2 tensors, got 2 inputs and 1 results"):
        model.call_tir("double", [X, X], R.Tensor((3,), "float32"))
    with pytest.raises(ValueError, match=r"expected a kernel of the module \(.*\), got 'triple'"):
        model.call_tir("triple", [X], R.Tensor((3,), "float32"))


def test_registered_functions_write_their_results(model):
    @tvm.register_global_func("py_module.scale", override=True)
    def scale(x, factor, out):
        out[:] = x.numpy() * factor

    result = model.call_dps_packed("py_module.scale", [X, 3], R.Tensor((3,), "float32"))
    torch.testing.assert_close(result, 3 * X)
    torch.testing.assert_close(model.call_dps_packed("swish", [X], None), model.swish(X))
    with pytest.raises(ValueError, match=r"function 'py_module\.none' is not registered"):
        model.call_dps_packed("py_module.none", [X], R.Tensor((3,), "float32"))
    result = model.call_dps_packed("py_module.scale", [X, 3], R.Tensor(("n",), "float32"))
    torch.testing.assert_close(result, 3 * X)
    with pytest.raises(ValueError, match=r"Cannot infer concrete output shape: no argument has"):
        model.call_dps_packed("py_module.scale", [X, 3], R.Tensor(("n", "m"), "float32"))


def test_two_objects_have_functions_of_their_own():
    other = Model.clone()
    other.pyfuncs["swish"] = torch.relu
    changed = other(tvm.cpu())
    torch.testing.assert_close(changed.main(X), 2 * torch.relu(X))
    torch.testing.assert_close(Model(tvm.cpu()).main(X), 2 * torch.nn.functional.silu(X))


def test_names_leave_with_the_object():
    before = set(tvm.runtime.list_global_func_names())
    model = Model(tvm.cpu())
    assert len(set(tvm.runtime.list_global_func_names()) - before) == 2
    del model
    gc.collect()
    assert set(tvm.runtime.list_global_func_names()) <= before


def test_what_is_in_it(model, capsys):
    assert model.list_functions() == {
        "python": ["forward", "swish"],
        "tir": ["double"],
        "relax": ["main"],
    }
    assert list(Model.pyfuncs) == ["forward", "swish"]
    model.show()
    assert (
        "def double" in capsys.readouterr().out and 'R.call_pure_packed("swish"' in model.script()
    )
    with pytest.raises(ValueError, match=r"expected a Python function \(forward, swish\), got 'a'"):
        model.call_py_func("a", [X])
    with pytest.raises(ValueError, match="expected types of tensors with a shape as out_ty"):
        model.call_tir("double", [X], R.Tensor("float32", ndim=1))


def test_only_classes_with_a_base_make_objects():
    @I.ir_module
    class Plain:
        @I.pyfunc
        def f(x):
            return x

    assert Plain.pyfuncs["f"](3) == 3
    with pytest.raises(TypeError, match="expected 'Plain' to be a class with a base"):
        Plain()


def test_calls_of_python_functions_have_a_type():
    text = "@R.function\ndef f(x: R.Tensor((4,))):\n    return R.call_py_func('g', (x,))"
    with pytest.raises(ScriptError, match="expected the type of the result"):
        from_source(text)


def test_the_builder_calls_python_functions():
    bb = relax.BlockBuilder()
    x = relax.Var("x", R.Tensor((3,), "float32"))
    with bb.function("main", [x]):
        y = bb.emit(relax.op.call_py_func("swish", [x], out_ty=R.Tensor((3,), "float32")))
        bb.emit_func_output(y)
    module = bb.get()
    module.pyfuncs["swish"] = torch.tanh
    result = relax.BasePyModule(module, tvm.cpu()).main(X)
    torch.testing.assert_close(result, torch.tanh(X))


def test_graphs_become_python_functions():
    @I.ir_module
    class Dense:
        @R.function
        def main(x: R.Tensor(("n", 3), "float32"), w: R.Tensor((3, 2), "float32")):
            return R.nn.relu(R.matmul(x, w)), x

    x, w = torch.randn(4, 3), torch.randn(3, 2)
    for module in (Dense, relax.get_pipeline("zero")(Dense)):
        converted = relax.RelaxToPyFuncConverter(module).convert(["main"])
        result, same = converted.pyfuncs["main"](x, w)
        torch.testing.assert_close(result, torch.relu(x @ w))
        torch.testing.assert_close(same, x)
    kernel = next(
        v.name_hint for v, f in module.functions_items() if isinstance(f, tvm.tir.PrimFunc)
    )
    with pytest.raises(ValueError, match=f"expected a graph function, got the PrimFunc '{kernel}'"):
        relax.RelaxToPyFuncConverter(module).convert(kernel)
