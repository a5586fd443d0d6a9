"""Programs that a `BlockBuilder` makes: bindings, blocks, names, and what can be seen of them."""

import numpy as np
import pytest
from built import lines, random, run, te_matmul, te_relu, var

import xrelax as tvm
from xrelax import relax
from xrelax.script import from_source
from xrelax.script import relax as R


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
