"""TVM's names of 2026 are the ones that the package has."""

import pytest

import xrelax as tvm
from xrelax import relax, te, tir, tirx
from xrelax.script import ScriptError, from_source
from xrelax.script import relax as R

n = tir.Var("n", "int64")


def x(*args, **kwargs):
    return relax.Var("x", R.Tensor(*args, **kwargs))


def test_tirx_is_tir():
    from xrelax.script import tirx as T
    from xrelax.tirx import PrimFunc, Schedule

    assert tirx is tir and PrimFunc is tir.PrimFunc and Schedule is tir.Schedule

    @T.prim_func
    def double(X: T.Buffer((8,), "float32")):
        for i in range(8):
            X[i] = X[i] * 2.0

    assert isinstance(double, PrimFunc)


def test_tirx_of_a_text():
    text = "from tvm.script import tirx as K\n@K.prim_func\ndef f(X: K.Buffer((4,))):\n  X[0] = 1.0"
    assert from_source(text).name == "f"


def test_scalars():
    assert tir.exp is te.exp
    assert str(tir.floordiv(n + 4, 4)) == str((n + 4) // 4)
    assert tir.all(n > 1, n < 4).dtype == "bool" and tir.max(n, 3).dtype == "int64"
    assert tir.FloatImm("float16", 0.1).value == pytest.approx(0.1, rel=1e-3)
    dim = te.placeholder((4,), name="x").shape[0]
    assert isinstance(dim, tir.IntImm) and not isinstance(dim, tir.FloatImm)
    assert (dim, dim.value, dim.dtype, tir.const(1, "int8").ty.dtype) == (4, 4, "int64", "int8")
    with pytest.raises(ValueError, match="expected an integer or bool dtype of IntImm, got float"):
        tir.IntImm("float32", 1)
    with pytest.raises(ValueError, match=r"expected a number of int8 in \[-128, 127\], got 300"):
        tir.IntImm("int8", 300)
    with pytest.raises(AttributeError, match="no attribute 'expp'"):
        _ = tir.expp


def test_scalars_are_told_from_other_values():
    number = relax.Var("a", relax.PrimStructInfo("float32"))
    for value in (n, tir.Var("y", "float32"), number):
        assert tvm.ir.is_prim_expr(value) and tvm.ir.is_prim_var(value)
    for value in (n + 1, tir.const(1, "int8"), relax.PrimValue(3)):
        assert tvm.ir.is_prim_expr(value) and not tvm.ir.is_prim_var(value)
    for value in (x((2,), "float32"), relax.op.exp(x((2,), "float32")), 3, None):
        assert not tvm.ir.is_prim_expr(value) and not tvm.ir.is_prim_var(value)


def test_a_scalar_variable_has_any_dtype():
    total = tir.Var("x", "float32") + 1
    assert total.dtype == "float32"


def test_annotations():
    device = tvm.ir.VDevice("llvm")
    assert x((2, 3), "float32", device).ty == relax.TensorType((2, 3), "float32", device)
    assert x(None, "float32", ndim=2).ty == relax.TensorType(dtype="float32", ndim=2)
    assert relax.Var("x", R.Any).ty == relax.AnyType()
    assert isinstance(relax.AnyType(), relax.Type)


def test_annotations_of_a_text():
    text = """
@R.function(private=True)
def f(x: R.Tensor(None, "float32", ndim=2), y: R.Any) -> R.Tensor(None, "float32", None, ndim=2):
    return x
"""
    printed = from_source(text).script()
    assert 'x: R.Tensor(dtype="float32", ndim=2), y: R.Object' in printed


@pytest.mark.parametrize("error", [TypeError, ValueError, tvm.error.OpError, tvm.TVMError])
def test_errors_of_operators(error: type[Exception]):
    with pytest.raises(error, match=r"expected shapes of 'relax\.matmul' to be compatible"):
        relax.op.matmul(x((2, 3), "float32"), x((2, 3), "float32"))


def test_errors_of_scripts():
    assert tvm.error.DiagnosticError is ScriptError
    with pytest.raises(tvm.error.InternalError, match="expected an expression"):
        from_source("@T.prim_func\ndef f(X: T.Buffer((4,))):\n    X[0] = lambda: 1")


def test_normalize_outside_of_functions():
    bb = relax.BlockBuilder()
    call = relax.op.add(x((2, 3), "float32"), x((3,), "float32"))
    assert bb.normalize(call).ty == relax.TensorType((2, 3), "float32")
    assert len(bb.get()) == 0


def test_tuples_of_a_list():
    fields = [R.Tensor((4,), "float32"), R.Any]
    assert relax.Var("x", R.Tuple(fields)).ty == relax.TupleType(fields)
    text = "@R.function\ndef f(x: R.Tuple([R.Tensor((4,)), R.Object])):\n    return x[0]"
    assert "x: R.Tuple(R.Tensor((4,)), R.Object)" in from_source(text).script()
