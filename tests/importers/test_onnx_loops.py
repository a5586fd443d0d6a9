"""Loops and scans of ONNX: unrolled, and as operations."""

import numpy as np
import pytest
from onnx import TensorProto
from onnx_models import body_graph as graph
from onnx_models import by_onnxruntime, check, compare, floats, model, node, operations, value

from xrelax.importers.onnx.compiled_model import compile_onnx

INT, FLOAT, BOOL = TensorProto.INT64, TensorProto.FLOAT, TensorProto.BOOL


def loop(body, inputs, outputs="y"):
    return node("Loop", inputs, outputs, body=body)


def with_blanks(made, *names):
    """A node whose inputs of these names are left out."""
    made.input[:] = ["" if name in names else name for name in made.input]
    return made


COUNTING = [value("i", INT, []), value("c", BOOL, [])]


def sum_body(*more):
    """Adds w times the number of the iteration, and puts out the sum."""
    nodes = [
        node("Identity", "c", "c2"), node("Cast", "i", "f", to=FLOAT), node("Mul", "w f", "g"),
        node("Add", "h g", "h2"), node("Identity", "h2", "o"), *more,
    ]  # fmt: skip
    return graph(nodes, [*COUNTING, "h"], [value("c2", BOOL, []), "h2", "o"])


def loop_model(body, inputs, outputs, given, constants, blanks=(), opset=17):
    made = with_blanks(loop(body, inputs, outputs), *blanks)
    return model(made, given, outputs.split(), opset, constants)


STATES = {"h": ("float32", ["n", 3]), "w": ("float32", ["n", 3])}


@pytest.mark.parametrize("trips", [1, 4, 300])
def test_loop_of_a_known_number(trips):
    made = loop_model(
        sum_body(), "m c h", "y o", STATES, {"m": np.array(trips), "c": np.array(True)}
    )
    compiled = check(made, {"h": floats(2, 3), "w": floats(2, 3)}, tolerance=1e-4)
    assert ("relax.loop" in operations(compiled)) == (trips == 300)


@pytest.mark.parametrize("shape", [["k"], [0]])
def test_loop_of_no_iterations(shape):
    nodes = [node("Shape", "x", "s"), node("Squeeze", "s", "m")]
    nodes.append(with_blanks(loop(sum_body(), "m c h", "y o"), "c"))
    made = model(nodes, {**STATES, "x": ("float32", shape)}, ["y", "o"], 13)
    feeds = {"x": floats(0), "h": floats(2, 3), "w": floats(2, 3)}
    compare(compile_onnx(made).run(None, feeds), [feeds["h"], np.empty((0, 2, 3), np.float32)])


def test_loop_of_a_symbolic_number():
    body = sum_body()
    nodes = [
        node("Shape", "x", "s"),
        node("Squeeze", "s", "m"),
        with_blanks(loop(body, "m c h", "y o"), "c"),
    ]
    made = model(nodes, {**STATES, "x": ("float32", ["k"])}, ["y", "o"], 13)
    compiled = compile_onnx(made)
    for k in (1, 5):
        feeds = {"x": floats(k), "h": floats(2, 3), "w": floats(2, 3)}
        compare(compiled.run(None, feeds), by_onnxruntime(made, feeds))
    assert "relax.loop" in operations(compiled)


def test_loop_of_a_number_that_calls_give():
    made = loop_model(sum_body(), "m c h", "y z", {"m": ("int64", []), **STATES}, {}, ["c"])
    for trips in (2, 3):
        feeds = {"m": np.array(trips), "h": floats(2, 3), "w": floats(2, 3)}
        compiled = check(made, feeds)
    assert compiled.constant_inputs == ("m",)
    del made.graph.output[1]
    compiled = check(made, {"m": np.array(3), "h": floats(2, 3), "w": floats(2, 3)})
    assert compiled.constant_inputs == ()  # without outputs of each iteration the loop counts


@pytest.mark.parametrize("bound", [None, 3])
def test_loop_until_a_condition(bound):
    nodes = [
        node("Mul", "h two", "h2"), node("ReduceMax", "h2", "most", keepdims=0),
        node("Less", "most limit", "c2"),
    ]  # fmt: skip
    body = graph(nodes, [*COUNTING, "h"], [value("c2", BOOL, []), "h2"])
    constants = {
        "c": np.array(True), "two": np.float32(2), "limit": np.float32(100),
        "m": np.array(bound or 0),
    }  # fmt: skip
    made = loop_model(
        body, "m c h", "y", {"h": ("float32", ["n", 3])}, constants, [] if bound else ["m"]
    )
    compiled = compile_onnx(made)
    for scale in (1, 200):
        feeds = {"h": np.abs(floats(2, 3)) * np.float32(scale)}
        compare(compiled.run(None, feeds), by_onnxruntime(made, feeds))
    assert "relax.loop" in operations(compiled)


def test_loop_with_a_condition_that_ends_while_it_is_known():
    nodes = [node("Add", "h one", "h2"), node("Less", "i two", "c2")]
    body = graph(nodes, [*COUNTING, "h"], [value("c2", BOOL, []), "h2"])
    constants = {"c": np.array(True), "one": np.float32(1), "two": np.array(2), "m": np.array(9)}
    made = loop_model(body, "m c h", "y", {"h": ("float32", [3])}, constants)
    compiled = check(made, {"h": floats(3)})
    assert "relax.loop" not in operations(compiled)


def test_outputs_of_unknown_number():
    nodes = [node("ReduceMax", "h", "most", keepdims=0), node("Less", "most limit", "c2"),
             node("Identity", "h", "h2"), node("Identity", "h", "o")]  # fmt: skip
    body = graph(nodes, [*COUNTING, "h"], [value("c2", BOOL, []), "h2", "o"])
    constants = {"c": np.array(True), "limit": np.float32(1), "m": np.array(4)}
    made = loop_model(body, "m c h", "y o", {"h": ("float32", [3])}, constants)
    with pytest.raises(ValueError, match="outputs of a loop whose number of iterations depends on"):
        compile_onnx(made)


def test_loop_whose_tensor_grows():
    nodes = [node("Identity", "c", "c2"), node("Concat", "h h", "h2", axis=0)]
    body = graph(nodes, [*COUNTING, "h"], [value("c2", BOOL, []), "h2"])
    given = {"h": ("float32", ["n", 2])}
    made = loop_model(body, "m c h", "y", given, {"m": np.array(3), "c": np.array(True)})
    check(made, {"h": floats(2, 2)})
    given = {"h": ("float32", [2, 2])}
    made = loop_model(body, "m c h", "y", given, {"m": np.array(300), "c": np.array(True)})
    with pytest.raises(ValueError, match="a tensor that changes its shape in each iteration"):
        compile_onnx(made)


def test_sequence_that_a_loop_changes():
    """Scripts of PyTorch collect results in a list."""
    nodes = [
        node("Identity", "c", "c2"), node("Gather", "x i", "r"), node("Add", "h r", "h2"),
        node("SequenceInsert", "q h2", "q2"),
    ]  # fmt: skip
    states = ["h", value("q")]
    body = graph(nodes, [*COUNTING, *states], [value("c2", BOOL, []), "h2", value("q2")])
    made = model(
        [
            node("Shape", "x", "s"), node("Gather", "s zero", "m"), node("SequenceEmpty", "", "e"),
            with_blanks(loop(body, "m c h e", "last all"), "c"),
            node("ConcatFromSequence", "all", "y", axis=0, new_axis=1),
        ],
        {"x": ("float32", ["t", 2]), "h": ("float32", [2])}, ["y"], 13, {"zero": np.array(0)},
    )  # fmt: skip
    compiled = compile_onnx(made)
    for t in (3, 5):
        x, h = floats(t, 2), floats(2)
        compare(compiled.run(None, {"x": x, "h": h}), [h + np.cumsum(x, 0)])
    assert compiled.constant_sizes == ("t",)


def test_numbers_that_depend_on_the_iteration():
    nodes = [
        node("Identity", "c", "c2"), node("Unsqueeze", "i zero", "e"),
        node("ConstantOfShape", "e", "z"), node("ReduceSum", "z", "s", keepdims=0),
        node("Add", "h s", "h2"), node("Squeeze", "z", "o"),
    ]  # fmt: skip
    body = graph(nodes, [*COUNTING, "h"], [value("c2", BOOL, []), "h2", "o"])
    constants = {"m": np.array(300), "c": np.array(True), "zero": np.array([0])}
    made = loop_model(body, "m c h", "y z2", {"h": ("float32", [3])}, constants)
    with pytest.raises(
        ValueError, match=r"Squeeze \('o'\) .* which dims are 1 that depends on the it"
    ):
        compile_onnx(made)


def test_loop_in_a_loop_with_a_branch():
    inner = graph(
        [
            node("Identity", "c", "c2"), node("Cast", "i", "fi", to=FLOAT),
            node("Add", "g fi", "g1"), node("Add", "g1 fj", "g2"),
        ],
        [*COUNTING, "g"], [value("c2", BOOL, []), "g2"],
    )  # fmt: skip
    outer = graph(
        [
            node("Identity", "d", "d2"), node("Cast", "j", "fj", to=FLOAT),
            loop(inner, "k d h", "h2"), node("ReduceSum", "h2", "s", keepdims=0),
            node("Greater", "s limit", "b"),
            node(
                "If", "b", "h3",
                then_branch=graph([node("Neg", "h2", "p")], [], ["p"]),
                else_branch=graph([node("Mul", "h2 w", "q")], [], ["q"]),
            ),
        ],
        [value("j", INT, []), value("d", BOOL, []), "h"], [value("d2", BOOL, []), "h3"],
    )  # fmt: skip
    for counts in ((2, 3), (40, 60)):
        constants = {
            "m": np.array(counts[0]), "k": np.array(counts[1]), "c": np.array(True),
            "limit": np.float32(50),
        }  # fmt: skip
        check(
            loop_model(outer, "m c h", "y", STATES, constants),
            {"h": floats(2, 3), "w": floats(2, 3)},
        )


def test_loop_that_reads_sizes_and_constants_around_it():
    nodes = [
        node("Identity", "c", "c2"), node("Gather", "x i", "r"), node("Add", "h r", "a"),
        node("MatMul", "a w", "b"), node("Reshape", "b s", "h2"),
    ]  # fmt: skip
    body = graph(nodes, [*COUNTING, "h"], [value("c2", BOOL, []), "h2"])
    given = {"h": ("float32", ["n", 3]), "x": ("float32", ["t", 3])}
    made = model(
        [node("Shape", "h", "s"), node("Shape", "x", "e"), node("Gather", "e zero", "m"),
         with_blanks(loop(body, "m c h", "y"), "c")],
        given, ["y"], 13, {"w": floats(3, 3) / np.float32(2), "zero": np.array(0)},
    )  # fmt: skip
    check(made, {"h": floats(2, 3), "x": floats(5, 3)})


def test_numbers_that_a_body_needs():
    """A parameter outside of the loop may be one; what the loop changes may not."""
    nodes = [
        node("Identity", "c", "c2"), node("Slice", "w z e", "a"),
        node("ReduceSum", "a", "s", keepdims=0), node("Add", "h s", "h2"),
    ]  # fmt: skip
    body = graph(nodes, [*COUNTING, "h"], [value("c2", BOOL, []), "h2"])
    given = {**STATES, "e": ("int64", [1])}
    constants = {"m": np.array(300), "c": np.array(True), "z": np.array([0])}
    made = loop_model(body, "m c h", "y", given, constants)
    for end in (1, 2):
        feeds = {"h": floats(2, 3), "w": floats(2, 3), "e": np.array([end])}
        compiled = check(made, feeds, tolerance=1e-4)
    assert compiled.constant_inputs == ("e",) and "relax.loop" in operations(compiled)
    nodes = [node("Identity", "c", "c2"), node("Add", "e2 z", "e3"), node("Slice", "h z e2", "h2")]
    states = ["h", value("e2", INT, [1])]
    body = graph(nodes, [*COUNTING, *states], [value("c2", BOOL, []), "h2", value("e3", INT, [1])])
    made = loop_model(body, "m c h e", "y t", given, constants)
    with pytest.raises(
        ValueError, match=r"Slice \('h2'\) .* ends that depends on data; give sizes"
    ):
        compile_onnx(made)


SCANS = [
    {},
    {"scan_input_directions": [1], "scan_output_directions": [1]},
    {"scan_input_axes": [1], "scan_output_axes": [-1]},
]


@pytest.mark.parametrize("attributes", SCANS)
@pytest.mark.parametrize("length", [3, "t", 90])
def test_scan(attributes, length):
    nodes = [node("Add", "h x", "a"), node("Tanh", "a", "h2"), node("Mul", "h2 h", "o")]
    body = graph(nodes, ["h", "x"], ["h2", "o"])
    shape = ["n", length] if attributes.get("scan_input_axes") else [length, "n"]
    made = model(
        node("Scan", "h xs", "y o", body=body, num_scan_inputs=1, **attributes),
        {"h": ("float32", ["n"]), "xs": ("float32", shape)}, ["y", "o"], 17,
    )  # fmt: skip
    sizes = [{"n": 2}.get(d, 5 if d == "t" else d) for d in shape]
    compiled = check(made, {"h": floats(2), "xs": floats(*sizes)}, tolerance=1e-4)
    assert ("relax.loop" in operations(compiled)) == (length != 3)


def test_scan_of_a_batch():
    body = graph([node("Add", "h x", "h2"), node("Mul", "h2 x", "o")], ["h", "x"], ["h2", "o"])
    scan = with_blanks(node("Scan", "l h xs", "y o", body=body, num_scan_inputs=1), "l")
    made = model(scan, {"h": ("float32", [2, 3]), "xs": ("float32", [2, 4, 3])}, ["y", "o"], 8)
    h, xs = floats(2, 3), floats(2, 4, 3)
    states = h[:, None] + np.cumsum(xs, 1)
    compare(compile_onnx(made).run(None, {"h": h, "xs": xs}), [states[:, -1], states * xs], 1e-5)


def test_bodies_of_other_inputs():
    body = graph([node("Identity", "c", "c2")], COUNTING, [value("c2", BOOL, [])])
    made = loop_model(body, "m c h", "y", STATES, {"m": np.array(3), "c": np.array(True)})
    with pytest.raises(ValueError, match="expected a body of 3 inputs, got 2 and 1 outputs"):
        compile_onnx(made)
    made = with_blanks(loop(sum_body(), "m c h", "y o"), "m", "c")
    with pytest.raises(
        ValueError, match="expected a number of iterations or a condition, got none"
    ):
        compile_onnx(model(made, STATES, ["y", "o"]))
