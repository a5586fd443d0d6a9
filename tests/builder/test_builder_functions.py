"""Kernels by `emit_te`, and functions that call others, in modules that a `BlockBuilder` makes."""

import numpy as np
from built import lines, random, run, te_matmul, te_relu, var

import xrelax as tvm
from xrelax import relax, te, topi
from xrelax.script import from_source


def test_equal_kernels_are_one_prim_func():
    x, y = var("x", (2, 3)), var("y", (4,))
    bb = relax.BlockBuilder()
    with bb.function("main", [x, y]):
        a = bb.emit_te(topi.nn.relu, x)
        b = bb.emit_te(topi.nn.relu, a)
        c = bb.emit_te(topi.nn.relu, y)
        bb.emit_func_output([b, c])
    mod = bb.get()
    assert [v.name_hint for v in mod.get_global_vars()] == ["relu", "relu1", "main"]
    assert [line.partition(", (")[0] for line in lines(mod)[:3]] == [
        "gv = R.call_tir(relu",
        "gv1 = R.call_tir(relu",
        "gv2 = R.call_tir(relu1",
    ]


def test_kernels_of_symbolic_shapes():
    x, w = var("x", ("n", "m * 2")), var("w", ("m * 2", 4))
    m = relax.Var("s", relax.ShapeStructInfo(("m",)))
    bb = relax.BlockBuilder()
    with bb.function("main", [x, w, m]):
        with bb.dataflow():
            y = bb.emit_te(te_matmul, x, w)
            out = bb.emit_output(bb.emit_te(te_relu, y))
        bb.emit_func_output(out)
    mod = bb.finalize()
    assert str(mod["main"].ret_struct_info) == 'R.Tensor((n, 4), dtype="float32")'
    assert mod.script().count("tir_vars=R.shape([m])") == 1
    a, b = random(5, 6), random(6, 4)
    np.testing.assert_allclose(run(mod, a, b, (3,)), np.maximum(a @ b, 0), rtol=1e-5, atol=1e-5)


def test_arguments_of_kernels():
    def concatenate(tensors, axis, scale=1.0):
        (a, b), n = tensors, tensors[0].shape[axis]
        return te.compute(
            (n + b.shape[0],),
            lambda i: te.if_then_else(i < n, a[te.min(i, n - 1)], b[te.max(i - n, 0)]) * scale,
        )

    x, y = var("x", (3,)), var("y", (2,))
    bb = relax.BlockBuilder()
    with bb.function("main", [x, y]):
        bb.emit_func_output(bb.emit_te(concatenate, [x, y], 0, scale=2.0))
    a, b = random(3), random(2)
    np.testing.assert_allclose(run(bb.get(), a, b), np.concatenate([a, b]) * 2, rtol=1e-6)
    assert "concatenate" in bb.get()


def test_kernels_with_several_and_passed_on_results():
    def both(a):
        return a, te.compute(a.shape, lambda i: a[i] * a[i], name="square")

    x = var("x", (3,))
    bb = relax.BlockBuilder()
    with bb.function("main", [x]):
        result = bb.emit_te(both, x)
        bb.emit_func_output(bb.emit(result[0] + result[1]))
    data = random(3)
    np.testing.assert_allclose(run(bb.get(), data), data + data * data, rtol=1e-6)


def test_a_lambda_is_called_after_its_result():
    x = var("x", (3,))
    bb = relax.BlockBuilder()
    with bb.function("main", [x]):
        bb.emit_func_output(bb.emit_te(lambda a: te.compute((3,), lambda i: a[i] + 1, "plus"), x))
    assert "plus" in bb.get()


def test_call_te_binds_nothing():
    x = var()
    bb = relax.BlockBuilder()
    with bb.function("main", [x]):
        call = bb.call_te(topi.nn.relu, x, primfunc_name_hint="my_relu")
        assert type(call) is relax.Call and call.op == tvm.ir.Op.get("relax.call_tir")
        assert call.args[0].name_hint == "my_relu" and call.args[1].fields == [x]
        bb.emit_func_output(bb.emit(call))
    assert bb.get().script().count("R.call_tir(") == 1


def test_functions_call_functions():
    x = var("x", ("n", 3))
    bb = relax.BlockBuilder()
    with bb.function("half", [x], private=True, attrs={"note": "inner"}):
        half = bb.emit_func_output(bb.emit(x * 0.5))
    y = var("y", (4, 3))
    with bb.function("main", [y]):
        called = bb.emit(relax.Call(half, [y]))
        assert called.struct_info.shape == (4, 3)
        bb.emit_func_output(called)
    mod = bb.finalize()
    assert mod["half"].attrs == {"note": "inner"}
    data = random(4, 3)
    np.testing.assert_array_equal(run(mod, data), data / 2)


def test_function_names_are_unique_and_equal_functions_are_one():
    f = from_source("@R.function\ndef f(x: R.Tensor((2,), 'float32')):\n    return R.nn.relu(x)")
    g = from_source("@R.function\ndef g(x: R.Tensor((3,), 'float32')):\n    return R.nn.relu(x)")
    bb = relax.BlockBuilder()
    assert [bb.add_func(f, "f").name_hint, bb.add_func(f, "h").name_hint] == ["f", "f"]
    assert bb.add_func(g, "f").name_hint == "f1"
    bb.update_func(tvm.ir.GlobalVar("f"), g)
    bb.update_func(tvm.ir.GlobalVar("new"), f)
    assert bb.get()["f"].params[0].struct_info.shape == (3,)
    assert [v.name_hint for v in bb.get().get_global_vars()] == ["f", "f1", "new"]


def test_a_builder_starts_from_a_copy():
    mod = from_source(
        "@I.ir_module\nclass M:\n    @R.function\n    def f(x: R.Tensor((2,), 'float32')):\n"
        "        return R.nn.relu(x)"
    )
    before = mod.script()
    bb = relax.BlockBuilder(mod)
    with bb.function("f", [var()]):
        bb.emit_func_output(relax.const(1.0))
    assert [v.name_hint for v in bb.get().get_global_vars()] == ["f", "f1"]
    assert mod.script() == before


def test_what_was_built_before_stays():
    x = var()
    bb = relax.BlockBuilder()
    with bb.function("f", [x]):
        bb.emit_func_output(bb.emit(relax.op.nn.relu(x)))
    first = bb.get()
    with bb.function("g", [x]):
        bb.emit_func_output(x)
    assert len(first) == 1 and len(bb.get()) == 2


def test_scripts_of_built_modules_parse_back():
    x = var("x", ("n", 3))
    bb = relax.BlockBuilder()
    with bb.function("main", [x]):
        with bb.dataflow():
            y = bb.emit_te(topi.add, x, relax.const(random(3)))
            out = bb.emit_output(relax.op.nn.relu(y) * 2.0)
        bb.emit_func_output(out)
    mod = bb.finalize()
    again = from_source(mod.script(show_meta=True))
    assert again.script(show_meta=True) == mod.script(show_meta=True)
