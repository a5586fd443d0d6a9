"""`BlockBuilder`: scopes, parameters, outputs, kernels from tensor expressions, and its errors."""

import numpy as np
import pytest

import xrelax as tvm
from xrelax import relax, te, topi
from xrelax.script import from_source
from xrelax.script import relax as R


def var(name="x", shape=(2, 3), dtype="float32"):
    return relax.Var(name, relax.TensorStructInfo(shape, dtype))


def random(*shape):
    return np.random.default_rng(0).standard_normal(shape).astype("float32")


def run(mod, *args, name="main"):
    return relax.build(mod)[name](*args).numpy()


def lines(mod, name="main"):
    text = mod[name].script().splitlines()
    start = next(i for i, line in enumerate(text) if line.startswith("def "))
    return [line.strip() for line in text[start + 1 :]]


def te_matmul(A: te.Tensor, B: te.Tensor) -> te.Tensor:
    k = te.reduce_axis((0, A.shape[1]), name="k")
    shape = (A.shape[0], B.shape[1])
    return te.compute(shape, lambda i, j: te.sum(A[i, k] * B[k, j], axis=k), name="matmul")


def te_relu(A: te.Tensor) -> te.Tensor:
    return te.compute(A.shape, lambda *i: te.max(A(*i), 0), name="relu")


@pytest.mark.parametrize("at", ["start", "end", "end, positional"])
def test_parameters_are_given_at_the_start_or_at_the_end(at):
    a, b = var("A", (4, 5)), var("B", (5, 6))
    bb = relax.BlockBuilder()
    with bb.function("main", params=[a, b] if at == "start" else None):
        with bb.dataflow():
            c = bb.emit_te(te_matmul, a, b)
            d = bb.emit_te(te_relu, c)
            out = bb.emit_output(d)
        if at == "start":
            gv = bb.emit_func_output(out)
        elif at == "end":
            gv = bb.emit_func_output(out, params=[a, b])
        else:
            gv = bb.emit_func_output(out, [a, b])
    mod = bb.get()
    assert gv == mod.get_global_var("main")
    assert mod["main"].script().count("A: R.Tensor((4, 5)") == 1
    assert [p.name_hint for p in mod["main"].params] == ["A", "B"]
    x, y = random(4, 5), random(5, 6)
    np.testing.assert_allclose(run(mod, x, y), np.maximum(x @ y, 0), rtol=1e-5, atol=1e-5)
    assert type(c) is relax.DataflowVar and isinstance(c, relax.Var)
    assert type(out) is relax.Var


def test_the_same_variable_is_a_parameter_of_two_functions():
    x = var()
    bb = relax.BlockBuilder()
    for name, operator in (("double", relax.op.add), ("square", relax.op.multiply)):
        with bb.function(name, [x]):
            bb.emit_func_output(bb.emit(operator(x, x)))
    mod = bb.finalize()
    data = random(2, 3)
    np.testing.assert_array_equal(run(mod, data, name="double"), data + data)
    np.testing.assert_array_equal(run(mod, data, name="square"), data * data)
    assert x.name_hint == "x" and x.struct_info.shape == (2, 3)


def test_nested_calls_become_bindings():
    x, w = var("x", (1, 3)), random(4, 3)
    bb = relax.BlockBuilder()
    with bb.function("main", x):
        with bb.dataflow():
            out = bb.emit_output(relax.op.matmul(x, relax.op.permute_dims(relax.const(w))))
        bb.emit_func_output(out)
    mod = bb.get()
    assert lines(mod)[1:3] == [
        'lv = R.permute_dims(metadata["relax.expr.Constant"][0])',
        "gv = R.matmul(x, lv)",
    ]
    data = random(1, 3)
    np.testing.assert_allclose(run(mod, data), data @ w.T, rtol=1e-5)


def test_a_shared_expression_is_emitted_once():
    x = var()
    shared = relax.op.nn.relu(x)
    bb = relax.BlockBuilder()
    with bb.function("main", [x]):
        first = bb.emit(relax.op.add(shared, shared))
        second = bb.emit(relax.op.multiply(first, shared))
        assert bb.emit(shared) == bb.emit(shared) == shared
        bb.emit_func_output(second)
    assert bb.get().script().count("R.nn.relu") == 1


def test_a_long_chain_of_unemitted_expressions():
    x = var()
    expr = x
    for _ in range(1200):
        expr = expr + 1.0
    bb = relax.BlockBuilder()
    with bb.function("main", [x]):
        bb.emit_func_output(bb.emit(expr))
    assert sum(op.name == "relax.add" for op in bb.get().op.walk()) == 1200


def test_names():
    x = var()
    bb = relax.BlockBuilder()
    with bb.function("main", [x]):
        with bb.dataflow():
            a = bb.emit(relax.op.nn.relu(x))
            b = bb.emit(relax.op.add(a, a), name_hint="x")
            c = bb.emit(relax.op.add(b, a), "sum of both")
            d = bb.emit_output(relax.op.add(c, a), "result")
        e = bb.emit(relax.op.add(d, d))
        f = bb.emit(relax.op.add(e, e))
        bb.emit_func_output(f)
    names = [v.name_hint for v in (a, b, c, d, e, f)]
    assert names == ["lv", "x1", "sum_of_both", "result", "gv", "gv1"]


def test_names_that_the_ir_does_not_take():
    x = var("input:0/ä")
    bb = relax.BlockBuilder()
    with bb.function("main", [x, var("1")]):
        bb.emit_func_output(bb.emit(relax.op.nn.relu(x), "2 b"))
    mod = bb.finalize()
    assert [p.name_hint for p in mod["main"].params] == ["input:0/ä", "1"]
    assert lines(mod)[0] == "v2_b = R.nn.relu(input_0_ä)"
    assert from_source(mod.script()).script() == mod.script()


def test_only_outputs_are_seen_outside():
    x = var()
    bb = relax.BlockBuilder()
    with pytest.raises(ValueError, match="expected a variable that its dataflow block outputs"):
        with bb.function("main", [x]):
            with bb.dataflow():
                inner = bb.emit(relax.op.nn.relu(x))
                bb.emit_output(relax.op.add(inner, x))
            bb.emit(relax.op.add(inner, x))


def test_a_nested_expression_that_is_used_later_becomes_an_output():
    x = var()
    shared = relax.op.nn.relu(x)
    bb = relax.BlockBuilder()
    with bb.function("main", [x]):
        with bb.dataflow():
            out = bb.emit_output(shared * 2.0)
        bb.emit_func_output(bb.emit(out + shared))
    assert lines(bb.finalize()) == [
        "with R.dataflow():",
        "lv = R.nn.relu(x)",
        'gv = R.multiply(lv, R.const(2.0, "float32"))',
        "R.output(gv, lv)",
        "gv1 = R.add(gv, lv)",
        "return gv1",
    ]


def test_returning_a_variable_whose_value_is_the_output():
    x = var()
    bb = relax.BlockBuilder()
    with bb.function("main"):
        with bb.dataflow():
            output = bb.emit(relax.op.nn.relu(x))
            bb.emit_output(output)
        bb.emit_func_output(output, [x])
    assert lines(bb.get()) == [
        "with R.dataflow():",
        "gv = R.nn.relu(x)",
        "R.output(gv)",
        "return gv",
    ]


def test_constants_are_used_in_several_functions_and_blocks():
    x, c = var(), relax.const(random(3))
    bb = relax.BlockBuilder()
    for name in ("f", "g"):
        with bb.function(name, [x]):
            with bb.dataflow():
                y = bb.emit_output(relax.op.add(x, c))
            with bb.dataflow():
                z = bb.emit_output(relax.op.multiply(y, c))
            bb.emit_func_output(bb.emit(relax.op.subtract(z, c)))
    mod, data, k = bb.finalize(), random(2, 3), random(3)
    for name in ("f", "g"):
        np.testing.assert_allclose(run(mod, data, name=name), (data + k) * k - k, rtol=1e-5)


def test_tuples():
    x, t = var(), relax.Var("t", R.Tuple(R.Tensor((2, 3), "float32"), R.Tensor((3,), "float32")))
    bb = relax.BlockBuilder()
    with bb.function("main", [x, t]):
        total = bb.emit(x + t[0] * t[1])
        bb.emit_func_output((total, [x, t[1]]))
    mod = bb.finalize()
    assert str(mod["main"].ret_struct_info).startswith("R.Tuple(R.Tensor((2, 3)")
    assert lines(mod)[-1].startswith("return (gv")
    assert len(t) == 2 and [str(f) for f in t] == ["t[0]", "t[1]"]


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


def test_match_cast():
    x = relax.Var("x", R.Tensor("float32", ndim=2))
    bb = relax.BlockBuilder()
    with bb.function("main", [x]):
        y = bb.match_cast(x, R.Tensor(("n", "m"), "float32"))
        assert bb.lookup_binding(y) == x
        bb.emit_func_output(bb.emit(relax.op.nn.relu(y)))
    mod = bb.finalize()
    assert 'R.match_cast(x, R.Tensor((n, m), dtype="float32"))' in mod.script()
    assert isinstance(mod["main"].body.blocks[0].bindings[0], relax.MatchCast)


def test_lookup_normalize_and_emit_normalized():
    x = var()
    bb = relax.BlockBuilder()
    with bb.function("main", [x]):
        y = bb.emit(relax.op.nn.relu(x))
        assert bb.lookup_binding(x) is None
        assert bb.lookup_binding(y).op == tvm.ir.Op.get("relax.nn.relu")
        call = bb.normalize(relax.op.add(relax.op.multiply(x, y), y))
        assert call.op.name == "relax.add" and isinstance(call.args[0], relax.Var)
        named = var("named")
        bb.emit_normalized(relax.VarBinding(named, call))
        assert not bb.current_block_is_dataflow()
        bb.emit_func_output(bb.emit(relax.op.nn.relu(named)))
    assert lines(bb.get())[1:4] == [
        "gv1 = R.multiply(x, gv)",
        "named = R.add(gv1, gv)",
        "gv2 = R.nn.relu(named)",
    ]


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


def build(*, params=None, body):
    bb = relax.BlockBuilder()
    x = var()
    with bb.function("main", params):
        body(bb, x)
    return bb


ERRORS = {
    "no end": (lambda bb, x: None, "expected emit_func_output in function 'main'"),
    "a second end": (
        lambda bb, x: (bb.emit_func_output(x, [x]), bb.emit_func_output(x)),
        "expected nothing after emit_func_output of 'main'",
    ),
    "an emission after the end": (
        lambda bb, x: (bb.emit_func_output(x, [x]), bb.emit(relax.op.nn.relu(x))),
        "expected nothing after emit_func_output of 'main'",
    ),
    "a variable that is no parameter": (
        lambda bb, x: bb.emit_func_output(bb.emit(x + var("y"))),
        "expected 'x' among the parameters of 'main', got none",
    ),
    "one of two that is no parameter": (
        lambda bb, x: bb.emit_func_output(bb.emit(x + var("y")), [x]),
        "expected 'y' among the parameters of 'main', got x",
    ),
    "an open dataflow block": (
        lambda bb, x: (bb._begin_dataflow_block(), bb.emit_func_output(x, [x])),
        "expected the dataflow block of 'main' to be closed first",
    ),
    "nested dataflow blocks": (
        lambda bb, x: (bb._begin_dataflow_block(), bb._begin_dataflow_block()),
        "expected dataflow blocks of 'main' not to be nested",
    ),
    "an output outside": (
        lambda bb, x: bb.emit_output(x),
        "expected emit_output inside a dataflow block of 'main'",
    ),
    "a parameter twice": (
        lambda bb, x: bb.emit_func_output(x, [x, x]),
        "expected distinct parameters of 'main', got 'x' twice",
    ),
    "a parameter that is none": (
        lambda bb, x: bb.emit_func_output(x, [relax.op.nn.relu(x)]),
        r"expected the parameters of 'main' to be variables made by relax.Var, got R.nn.relu\(x\)",
    ),
    "an effect in a pure function": (
        lambda bb, x: (bb.emit(relax.op.call_packed("log", x)), bb.emit_func_output(x, [x])),
        "expected 'main' to be declared impure, as it has 'relax.call_packed'",
    ),
    "a symbol that nothing declares": (
        lambda bb, x: bb.emit_func_output(x, [x, var("y", ("n * 2",))]),
        "symbol 'n' is not determined by the parameters of 'main'",
    ),
    "no expression": (
        lambda bb, x: bb.emit("text"),
        "expected an expression, an array or a number, got str",
    ),
    "no tensors": (
        lambda bb, x: bb.emit_te(lambda a: 3, x),
        "expected the function of emit_te to return tensors, got int",
    ),
    "a kernel of unknown shape": (
        lambda bb, x: bb.emit_te(te_relu, relax.Var("y", R.Tensor("float32", ndim=2))),
        r"expected tensors of known shape and dtype for a kernel, got !relax.tensor<rank 2, f32>",
    ),
}


@pytest.mark.parametrize(("body", "message"), ERRORS.values(), ids=ERRORS)
def test_errors(body, message):
    with pytest.raises(Exception, match=message) as error:
        build(body=body)
    assert "\n" not in str(error.value)


def test_effects():
    x = var()
    bb = relax.BlockBuilder()
    with bb.function("main", [x], pure=False):
        bb.emit(relax.op.call_packed("log", x))
        bb.emit_func_output(x)
    assert not bb.finalize()["main"].is_pure
    with pytest.raises(Exception, match="expected pure operations in a dataflow block, got"):
        with bb.function("other", [x], pure=False):
            with bb.dataflow():
                bb.emit(relax.op.call_packed("log", x))
            bb.emit_func_output(x)


def test_parameters_twice():
    x = var()
    bb = relax.BlockBuilder()
    with pytest.raises(ValueError, match="expected the parameters of 'main' once, got them twice"):
        with bb.function("main", [x]):
            bb.emit_func_output(x, [x])


def test_a_dataflow_block_that_failed_is_left_out():
    x = var()
    bb = relax.BlockBuilder()
    with bb.function("main", [x]):
        with pytest.raises(ValueError, match="to broadcast"):
            with bb.dataflow():
                bb.emit(relax.op.nn.relu(x))
                bb.emit(relax.op.add(x, var("y", (7,))))
        bb.emit_func_output(x)
    assert lines(bb.finalize()) == ["return x"]


def test_values_of_another_function():
    x = var()
    bb = relax.BlockBuilder()
    with bb.function("first", [x]):
        y = bb.emit(relax.op.nn.relu(x))
        bb.emit_func_output(y)
    with pytest.raises(ValueError, match="expected a value of 'second', got 'gv' of 'first'"):
        with bb.function("second", [x]):
            bb.emit(y + 1.0)
    assert [v.name_hint for v in bb.get().get_global_vars()] == ["first"]


def test_outside_of_functions():
    bb = relax.BlockBuilder()
    for use in (lambda: bb.emit(var()), lambda: bb.emit_func_output(var())):
        with pytest.raises(ValueError, match=r"expected to be inside of 'with bb.function\(…\)'"):
            use()
    with pytest.raises(ValueError, match="expected function 'main' to end before finalize"):
        with bb.function("main"):
            bb.finalize()
