"""What a `BlockBuilder` refuses, and what is left of a program then."""

import pytest
from built import lines, te_relu, var

from xrelax import relax
from xrelax.script import relax as R


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
