"""Graphs that contradict ONNX: names, opsets, types, inputs, attributes, nesting, functions."""

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper
from onnx_messages import message, node, small
from onnx_models import model

from xrelax.importers.onnx.compiled_model import compile_onnx
from xrelax.importers.onnx.frontend import from_onnx


@pytest.mark.parametrize("version", [0, -1, 29, 1 << 40])
def test_unknown_opsets(version):
    made = small()
    made.opset_import[0].version = version
    assert message(made) == f"expected an opset from 1 to 28, got {version}"
    assert message(small(), opset=version) == f"expected an opset from 1 to 28, got {version}"


def test_opsets_that_contradict():
    made = small()
    made.opset_import.append(helper.make_opsetid("ai.onnx", 12))
    assert message(made) == "expected one opset of domain '', got 17 and 12"
    made.opset_import[0].domain = "other"
    made.opset_import[1].domain = "another"
    assert "expected the opset of ONNX among those of the model, got none" in message(made)


def test_an_unknown_domain_and_operator():
    assert "com.acme.Add ('y') at the model, node 1" in message(node("Add", domain="com.acme"))
    assert "Addd ('y') at the model, node 1" in message(node("Addd"))
    assert " ('y') at the model, node 1" in message(node(""))


def test_an_empty_graph():
    made = small()
    del made.graph.node[:]
    assert "output ('y'): expected a value 'y' of an earlier node, got none" in message(made)
    del made.graph.output[:]
    assert message(made) == "expected outputs of 'the model', got none"


def test_nodes_in_the_wrong_order_and_cycles():
    made = small()
    first, second = (onnx.NodeProto() for _ in range(2))
    first.CopyFrom(made.graph.node[1])
    second.CopyFrom(made.graph.node[0])
    del made.graph.node[:]
    made.graph.node.extend([first, second])
    assert "expected a value 'sum' of an earlier node, got none" in message(made)
    second.input[0] = "y"
    del made.graph.node[:]
    made.graph.node.extend([second, first])
    assert "expected a value 'y' of an earlier node, got none" in message(made)


def test_names_that_are_not_unique():
    made = small()
    made.graph.node[1].output[0] = "sum"
    made.graph.output[0].name = "sum"
    expected = "expected results with names of their own, got 'sum' twice"
    assert message(made) == expected
    assert message(node("Split", outputs=("y", "y"), axis=1)).endswith("got 'y' twice")
    made = small()
    made.graph.input.append(made.graph.input[0])
    assert message(made) == "expected inputs with names of their own, got 'x' twice"
    made = small()
    made.graph.initializer.append(made.graph.initializer[0])
    assert message(made) == "expected initializers with names of their own, got 'w' twice"
    made = small()
    made.graph.node[0].output[0] = "x"
    assert message(made) == "expected results of other names than inputs, got 'x'"


def test_attributes_that_repeat():
    made = node("Elu", alpha=1.0)
    made.graph.node[0].attribute.append(made.graph.node[0].attribute[0])
    expected = "expected attributes of Elu with names of their own, got 'alpha' twice"
    assert message(made) == expected


def test_names_that_are_no_text():
    content = small().SerializeToString().replace(b"sum", b"s\xffm")
    assert message(content) == r"expected names in UTF-8, got b's\xffm'"
    content = small().SerializeToString().replace(b"sum", b"s\nm")
    assert message(content) == r"expected names of one line, got 's\nm'"


def test_inputs_that_are_missing():
    made = small()
    del made.graph.input[:]
    assert "Add ('plus') at the model, node 1: expected a value 'x'" in message(made)
    made = small()
    del made.graph.initializer[:]
    assert "Add ('plus') at the model, node 1: expected a value 'w'" in message(made)


def test_the_number_of_inputs_and_results():
    assert "expected at least 2 inputs, got 1" in message(node("Add"))
    assert "expected at most 1 inputs, got 2" in message(node("Relu", ["x", "x"]))
    assert "expected input 'x' to be a tensor, got none" in message(node("Relu", [""]))
    assert "expected at least 1 inputs, got 0" in message(node("Relu", []))
    assert "Relu ('y') at the model, node 1: result 'z'" in message(
        node("Relu", outputs=["y", "z"])
    )


def test_ranks_that_an_operator_does_not_have():
    made = node("RNN", ["x", "x", "x"], hidden_size=4)
    expected = "expected inputs of other ranks, got (1, 4), (1, 4), (1, 4)"
    found = message(made, shape_dict={"x": [1, 4]})
    assert f"RNN ('y') at the model, node 1: {expected}" in found


@pytest.mark.parametrize(
    ("value", "got"),
    [
        ([1.0], "floats"),
        ("one", "a string"),
        (helper.make_tensor("t", 1, [], [1]), "a tensor"),
        (helper.make_graph([], "g", [], []), "a graph or a type"),
    ],
)
def test_attributes_of_another_type(value, got):
    expected = f"expected attribute 'alpha' to be a float, got {got}"
    assert expected in message(node("LeakyRelu", alpha=value))


def test_bodies_that_are_no_graphs():
    expected = "expected attribute 'body' to be a graph, got a string"
    assert expected in message(node("Loop", ["", "", "x"], body="x"))


def test_attributes_without_a_type_unknown_ones_and_missing_ones():
    made = node("LeakyRelu", alpha=1.0)
    made.graph.node[0].attribute[0].type = 0
    assert "LeakyRelu ('y') at the model, node 1: attribute 'alpha'" in message(made)
    assert "attribute 'beta'" in message(node("LeakyRelu", beta=1.0))
    assert "expected attribute 'to', got none" in message(node("Cast"))


def test_dtypes_that_do_not_fit():
    made = small()
    made.graph.input[0].type.tensor_type.elem_type = TensorProto.INT32
    assert "to have one dtype, got int32 and float32" in message(made)
    made.graph.input[0].type.tensor_type.elem_type = TensorProto.FLOAT8E5M2
    assert "input ('x'): tensors of type FLOAT8E5M2" in message(made)
    made.graph.input[0].type.tensor_type.elem_type = 999
    assert "input ('x'): tensors of type 999" in message(made)
    made.graph.input[0].type.tensor_type.elem_type = 0
    assert "input ('x'): tensors of type UNDEFINED" in message(made)


def test_inputs_that_are_no_tensors():
    made = small()
    made.graph.input[0].ClearField("type")
    assert "input ('x'): expected a tensor, got a value" in message(made)
    made = small()
    element = made.graph.input[0].type.tensor_type
    made.graph.input[0].type.sequence_type.elem_type.tensor_type.CopyFrom(element)
    assert "input ('x'): expected a tensor, got a sequence" in message(made)
    made = small()
    made.graph.input[0].type.tensor_type.ClearField("shape")
    assert "input ('x'): an input of unknown rank" in message(made)


@pytest.mark.parametrize("dims", [[1 << 62, 4], [1 << 40, 1 << 40], [(1 << 63) - 1]])
def test_huge_inputs(dims):
    made = model(helper.make_node("Add", ["x", "x"], ["y"]), {"x": ("float32", dims)}, ["y"])
    compiled = compile_onnx(made)
    with pytest.raises(ValueError, match="expected"):
        compiled(np.zeros((1, 4), "float32"))


def test_negative_dims_are_symbols():
    made = small()
    made.graph.input[0].type.tensor_type.shape.dim[0].dim_value = -1
    assert compile_onnx(made)(np.zeros((3, 4), "float32")).shape == (3, 4)


def test_graphs_that_are_nested_too_deep():
    made = node("Relu")
    graph = made.graph
    for _ in range(300):
        loop = graph.node.add(op_type="Loop", input=["", "", "x"], output=["y"])
        graph = loop.attribute.add(name="body", type=onnx.AttributeProto.GRAPH).g
        graph.output.add(name="y")
        del made.graph.node[:-1]
    assert message(made) == "expected graphs nested at most 32 deep, got more"


def calling(*functions, domain="own"):
    """A model that calls its first function; each is a name with the operators that it calls."""
    made = node(functions[0][0], domain=domain)
    opsets = [helper.make_opsetid("", 17), helper.make_opsetid(domain, 1)]
    del made.opset_import[:]
    made.opset_import.extend(opsets)
    known = [name for name, _ in functions]
    for name, called in functions:
        names = ["a", *(f"t{i}" for i in range(len(called) - 1)), "b"]
        body = [
            helper.make_node(o, [names[i]], [names[i + 1]], domain=domain if o in known else "")
            for i, o in enumerate(called)
        ]
        made.functions.append(helper.make_function(domain, name, ["a"], ["b"], body, opsets))
    return made


def test_functions_of_the_model():
    compiled = compile_onnx(calling(("F", ["G", "Neg"]), ("G", ["Neg", "Relu"])))
    x = np.array([[1, -2, 3, -4]] * 2, "float32")
    np.testing.assert_array_equal(compiled(x).numpy(), -np.maximum(-x, 0))


def test_functions_that_call_themselves_or_make_too_many_nodes():
    assert message(calling(("F", ["F"]))).endswith("that do not call themselves, got 'F'")
    circle = calling(("F", ["Relu", "G"]), ("G", ["F"]))
    assert "expected functions that do not call themselves, got " in message(circle)
    chain = [(f"F{i}", [f"F{i + 1}"] * 2) for i in range(60)]
    assert message(calling(*chain, ("F60", ["Relu"]))) == (
        f"expected functions of at most 1000000 nodes, got {1 << 60}"
    )


@pytest.mark.parametrize(
    ("shape", "expected"),
    [
        (np.array([2, 3], "int32"), "argument 'shape' to have dtype int64, got int32"),
        (np.array([6]), r"argument 'shape' to have shape \(2,\), got \(1,\)"),
        (np.array([[2, 3]]), r"argument 'shape' to have shape \(2,\), got \(1, 2\)"),
        (np.array([-1, -1]), r"expected one dim to infer, got \(-1, -1\) for \(n\)"),
        (np.array([2, -5]), "expected tensor dims over symbols of at least 0, got -10"),
        (np.array([7, 7]), "expected dim 0 to be 49, got 6"),
    ],
)
def test_values_of_inputs_that_are_compiled_for(shape, expected):
    inputs = {"x": ("float32", ["n"]), "shape": ("int64", [2])}
    compiled = compile_onnx(
        model(helper.make_node("Reshape", ["x", "shape"], ["y"]), inputs, ["y"])
    )
    with pytest.raises(ValueError, match=expected):
        compiled(np.arange(6, dtype="float32"), shape)


@pytest.mark.parametrize("mode", ["nearest", "linear", "cubic"])
def test_images_without_elements(mode):
    crop = {"mode": mode, "coordinate_transformation_mode": "tf_crop_and_resize"}
    made = model(
        helper.make_node("Resize", ["x", "roi", "", "sizes"], ["y"], **crop),
        {"x": ("float32", [2, 1, 4, 4])},
        ["y"],
        initializers={
            "roi": np.array([0, 0, 0.2, 0.2, 1, 1, 0.8, 0.8], "float32"),
            "sizes": np.array([2, 1, 0, 3]),
        },
    )
    compiled = compile_onnx(made, check=True)
    assert compiled(np.ones((2, 1, 4, 4), "float32")).shape == (2, 1, 0, 3)


def test_dims_that_are_expressions_of_others():
    inputs = {
        "x": ("float32", ["A", "B"]),
        "y": ("float32", ["A + B", "A / 2"]),
        "z": ("float32", ["A - n"]),
    }
    nodes = [helper.make_node("Identity", [n], [f"{n}_copy"]) for n in inputs]
    made = model(nodes, inputs, ["x_copy", "y_copy", "z_copy"], 17)
    types = str(from_onnx(made)["main"].struct_info)
    assert "R.Tensor((A + B, A // 2)" in types and "A___n" in types
    compiled = compile_onnx(made)
    x, y, z = (np.ones(shape, np.float32) for shape in ((5, 3), (8, 2), (7,)))
    for found, given in zip(compiled.run(None, {"x": x, "y": y, "z": z}), (x, y, z), strict=True):
        np.testing.assert_array_equal(found, given)
    with pytest.raises(
        ValueError, match=r"argument 'y' to have shape .A \+ B, A // 2. = .8, 2., got .9, 2."
    ):
        compiled.run(None, {"x": x, "y": np.ones((9, 2), np.float32), "z": z})
