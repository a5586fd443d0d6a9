"""Sequences and optionals of ONNX, which are lists during the import."""

import numpy as np
import pytest
from onnx import TensorProto, helper
from onnx_models import check, check_all, floats, model, node

from xrelax.importers.onnx.compiled_model import compile_onnx

PLACES = {"zero": np.array(0), "one": np.array(1), "last": np.array(-1)}


def test_construction_and_positions():
    nodes = [
        node("SequenceConstruct", "x z", "s"), node("SequenceInsert", "s x one", "s1"),
        node("SequenceInsert", "s1 z", "s2"), node("SequenceErase", "s2 zero", "s3"),
        node("SequenceErase", "s3", "s4"), node("SequenceAt", "s4 last", "a"),
        node("SequenceAt", "s4 zero", "b"), node("Sub", "a b"),
    ]  # fmt: skip
    feeds = [{"x": floats(n, 3), "z": floats(n, 3) * 2} for n in (1, 4)]
    check_all(nodes, {"x": ["n", 3], "z": ["n", 3]}, feeds, constants=PLACES)


@pytest.mark.parametrize("new_axis", [0, 1])
def test_length_and_concatenation(new_axis):
    nodes = [
        node("SequenceEmpty", "", "e", dtype=TensorProto.FLOAT), node("SequenceInsert", "e x", "s"),
        node("SequenceInsert", "s z zero", "t"), node("SequenceLength", "t", "n"),
        node("ConcatFromSequence", "t", "c", axis=-1, new_axis=new_axis),
        node("Cast", "n", "f", to=TensorProto.FLOAT), node("Mul", "c f"),
    ]  # fmt: skip
    feeds = [{"x": floats(2, 3), "z": floats(2, 3)}]
    check_all(nodes, {"x": ["n", 3], "z": ["n", 3]}, feeds, constants=PLACES)


@pytest.mark.parametrize(
    ("split", "attributes"),
    [(None, {"keepdims": 0}), (None, {"axis": 1}), (2, {"axis": 1}), ([1, 4], {"axis": -1})],
)
def test_split(split, attributes):
    nodes = [
        node("SplitToSequence", "x" if split is None else "x split", "s", **attributes),
        node("SequenceAt", "s zero", "a"), node("SequenceAt", "s last", "b"),
        node("ReduceSum", "a", "t", keepdims=0), node("Mul", "b t"),
    ]  # fmt: skip
    constants = {**PLACES, "split": np.array(split or 0)}
    shape = [3, "m"] if not attributes.get("axis") else ["n", 5]
    check_all(nodes, {"x": shape}, [{"x": floats(3, 5)}], constants=constants)


def test_sequence_of_symbolic_length():
    nodes = [node("SplitToSequence", "x", "s"), node("SequenceLength", "s")]
    made = model(nodes, {"x": ("float32", ["n", 3])}, ["y"], 13)
    compiled = compile_onnx(made)
    for n in (2, 5):
        assert compiled.run(None, {"x": floats(n, 3)})[0] == n
    assert compiled.constant_sizes == ("n",)


def test_map():
    body = helper.make_graph(
        [node("Add", "p q", "r"), node("Shape", "p", "s")], "body",
        [helper.make_tensor_value_info(n, TensorProto.FLOAT, None) for n in ("p", "q")],
        [
            helper.make_tensor_value_info("r", TensorProto.FLOAT, None),
            helper.make_tensor_value_info("s", TensorProto.INT64, None),
        ],
    )  # fmt: skip
    nodes = [
        node("SequenceConstruct", "x z", "s0"), node("SequenceMap", "s0 z", "m k", body=body),
        node("SequenceMap", "s0 m", "w j", body=body),
        node("ConcatFromSequence", "w", "y", axis=0), node("ConcatFromSequence", "j", "i", axis=0),
    ]  # fmt: skip
    inputs = {"x": ("float32", ["n", 3]), "z": ("float32", [1, 3])}
    made = model(nodes, inputs, ["y", "i"], 17)
    check(made, {"x": floats(4, 3), "z": floats(1, 3)}, "reference")


@pytest.mark.parametrize("is_there", [True, False])
def test_optional(is_there):
    body = [
        helper.make_graph(nodes, "body", [], [helper.make_empty_tensor_value_info("r")])
        for nodes in ([node("OptionalGetElement", "o", "r")], [node("Neg", "x", "r")])
    ]
    kind = helper.make_optional_type_proto(helper.make_tensor_type_proto(TensorProto.FLOAT, [3]))
    nodes = [
        node("Optional", "x", "o") if is_there else node("Optional", "", "o", type=kind),
        node("OptionalHasElement", "o", "h"),
        node("If", "h", then_branch=body[0], else_branch=body[1]),
    ]
    made = model(nodes, {"x": ("float32", [3])}, ["y"], 18)
    x = floats(3)
    found = compile_onnx(made).run(None, {"x": x})
    np.testing.assert_array_equal(found[0], x if is_there else -x)


def test_sequence_of_a_branch():
    body = [
        helper.make_graph([
            node(operator, "x", "a"), node("SequenceConstruct", "a x", "t"),
        ], "body", [], [helper.make_empty_tensor_value_info("t")])
        for operator in ("Exp", "Neg")
    ]  # fmt: skip
    nodes = [
        node("ReduceSum", "x", "m", keepdims=0), node("Greater", "m limit", "c"),
        node("If", "c", "s", then_branch=body[0], else_branch=body[1]),
        node("ConcatFromSequence", "s", axis=0),
    ]  # fmt: skip
    made = model(nodes, {"x": ("float32", [3])}, ["y"], 13, {"limit": np.float32(0)})
    compiled = compile_onnx(made)
    for x in (np.ones(3, np.float32), -np.ones(3, np.float32)):
        wanted = np.concatenate([np.exp(x) if x[0] > 0 else -x, x])
        np.testing.assert_allclose(compiled.run(None, {"x": x})[0], wanted, rtol=1e-6)


@pytest.mark.parametrize(
    ("nodes", "message"),
    [
        ([node("SequenceAt", "x one")], "expected a sequence, got a tensor"),
        (
            [node("SequenceConstruct", "x", "s"), node("SequenceAt", "s one")],
            "expected a position in a sequence of 1, got 1",
        ),
        (
            [node("SequenceEmpty", "", "s"), node("SequenceErase", "s", "y")],
            "expected a sequence of at least 1 tensor, got none",
        ),
        (
            [node("SplitToSequence", "x split", "s", axis=1), node("SequenceLength", "s")],
            "expected lengths of 3 elements, got 4",
        ),
        ([node("SequenceConstruct", "x", "y")], "expected a tensor, got a sequence"),
    ],
)
def test_invalid_models(nodes, message):
    constants = {**PLACES, "split": np.array([2, 2])}
    with pytest.raises(ValueError, match=message):
        compile_onnx(model(nodes, {"x": ("float32", ["n", 3])}, ["y"], 13, constants))
