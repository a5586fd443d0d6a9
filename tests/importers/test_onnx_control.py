"""Conditionals of ONNX: branches run in place, or as operations."""

import numpy as np
import pytest
from onnx_models import body_graph as graph
from onnx_models import by_onnxruntime, compare, floats, model, node, operations

from xrelax.importers.onnx.compiled_model import compile_onnx


def on_data(then, other, outputs="y", opset=17, shapes=None, constants=None):
    """A model that chooses a branch by whether the sum of x is positive."""
    nodes = [
        node("ReduceSum", "x", "s", keepdims=0),
        node("Greater", "s zero", "c"),
        node("If", "c", outputs, then_branch=then, else_branch=other),
    ]
    inputs = {n: ("float32", s) for n, s in (shapes or {"x": ["n", 4]}).items()}
    constants = {"zero": np.float32(0), "two": np.float32(2), **(constants or {})}
    return model(nodes, inputs, outputs.split(), opset, constants)


def check_both(made, **others):
    compiled = compile_onnx(made)
    for sign in (1, -1):
        feeds = {"x": sign * np.abs(floats(3, 4)), **others}
        compare(compiled.run(None, feeds), by_onnxruntime(made, feeds), 1e-5)
    return compiled


def test_if_on_data():
    weight = floats(4, 4)
    then = graph([node("MatMul", "x w", "a"), node("Relu", "a", "p")], [], ["p"])
    other = graph([node("MatMul", "x w", "b"), node("Mul", "b two", "q")], [], ["q"])
    compiled = check_both(on_data(then, other, constants={"w": weight}))
    assert operations(compiled).count("relax.if") == 1


def test_if_with_several_results_and_constants():
    names = [["p", "q"], ["r", "t"]]
    bodies = [
        graph([node("Mul", "x k", a), node("Identity", "k", b)], [], [a, b], {"k": np.float32(i)})
        for i, (a, b) in enumerate(names)
    ]
    check_both(on_data(*bodies, outputs="y z"))


def test_nested_if():
    inner = [
        graph([node(operator, "x", name)], [], [name])
        for operator, name in (("Exp", "e"), ("Neg", "f"))
    ]
    nodes = [
        node("ReduceMax", "x", "m", keepdims=0), node("Less", "m two", "d"),
        node("If", "d", "p", then_branch=inner[0], else_branch=inner[1]),
    ]  # fmt: skip
    compiled = check_both(
        on_data(graph(nodes, [], ["p"]), graph([node("Tanh", "x", "q")], [], ["q"]))
    )
    assert operations(compiled).count("relax.if") == 2


def test_dims_of_branches_are_checked_on_calls():
    then, other = (
        graph([node("Identity", name, out)], [], [out]) for name, out in (("x", "p"), ("z", "q"))
    )
    made = on_data(then, other, shapes={"x": ["n", 4], "z": ["m", 4]})
    compiled = check_both(made, z=floats(3, 4))
    with pytest.raises(ValueError, match="expected dim 0 to be 3, got 5"):
        compiled.run(None, {"x": -np.abs(floats(3, 4)), "z": floats(5, 4)})


def test_branches_of_different_shapes():
    then = graph([node("Flatten", "x", "p", axis=0)], [], ["p"])
    other = graph([node("ReduceSum", "x", "q", keepdims=0)], [], ["q"])
    with pytest.raises(
        ValueError, match=r"branches of shapes \(1, n \* 4\) and \(\) that depends on"
    ):
        compile_onnx(on_data(then, other))


@pytest.mark.parametrize("dim", [1, 5, "m"])
def test_if_on_a_known_condition(dim):
    """Exporters test whether a dim is 1 before they remove it."""
    nodes = [
        node("Shape", "x", "s"), node("Gather", "s last", "d"), node("Equal", "d one", "c"),
        node(
            "If", "c", "y",
            then_branch=graph([node("Squeeze", "x axes", "p")], [], ["p"]),
            else_branch=graph([node("Identity", "x", "q")], [], ["q"]),
        ),
    ]  # fmt: skip
    constants = {"last": np.array(1), "one": np.array(1), "axes": np.array([1])}
    made = model(nodes, {"x": ("float32", ["n", dim])}, ["y"], 13, constants)
    compiled = compile_onnx(made)
    for size in (1, 5) if dim == "m" else (dim,):
        x = floats(3, size)
        compare(compiled.run(None, {"x": x}), [x[:, 0] if size == 1 else x])
    assert "relax.if" not in operations(compiled)
    assert compiled.constant_sizes == (("m",) if dim == "m" else ())


def test_problems_of_branches_are_reported():
    then = graph([node("Bernoulli", "x", "p")], [], ["p"])
    other = graph([node("Relu", "x", "q")], [], ["q"])
    with pytest.raises(ValueError, match=r"Bernoulli \('p'\) at the model, node 4"):
        compile_onnx(on_data(then, other))
