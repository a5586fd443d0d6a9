"""Graphs that the fuzzer draws: every operator, evaluated by PyTorch, and shrunk."""

from dataclasses import replace

import numpy as np
import pytest

pytest.importorskip("torch")

from fuzzer.batch import Request, run_batch
from fuzzer.cases import LEFT_OUT, case_of, labels
from fuzzer.evaluate import run
from fuzzer.evaluate_graph import expected
from fuzzer.graph import Graph, Input, Node, graph_text
from fuzzer.graphs import GraphProgram
from fuzzer.shrink import shrink
from fuzzer.sources import draw_program
from fuzzer.syntax import Axis, Block, Buffer, Expr, Kernel, number, var
from xdsl.dialects import arith

from xrelax.dialects.relax import OPERATORS
from xrelax.lowering.llvm import convert, floats


def test_every_operator_is_drawn():
    expected = {name for name in OPERATORS if not name.startswith(LEFT_OUT)}
    assert {case_of(label).operator for label in labels()} == expected


def test_programs_depend_on_the_seed_alone():
    def drawn(seed):
        return [program for program, _ in draw_program("graphs", seed)][-1]

    assert drawn(3) == drawn(3) != drawn(4)


def graph(*nodes, outputs, size=4):
    x = Input.of("x", "float32", np.linspace(-1, 1, size, dtype=np.float32))
    return Graph("g", (x,), nodes, outputs)


def node(name, label, *operands, dtype="float32", size=4):
    return Node(name, label, operands, ((dtype, (size,)),), f"relax.{label}")


def test_exact_results_have_no_bound_and_others_a_small_one():
    exact = expected(graph(node("v", "nn.relu", "x"), outputs=("v",)))[0]
    assert exact.error.max() < 1e-40
    inexact = expected(graph(node("v", "exp", "x"), outputs=("v",)))[0]
    np.testing.assert_allclose(inexact.data, np.exp(np.linspace(-1, 1, 4)), rtol=1e-6)
    assert 1e-7 < inexact.error.max() < 1e-4


def test_bits_are_those_of_the_dtype():
    bits = Node("v", "bitcast", ("x",), (("int32", (4,)),), "relax.bitcast", "{'dtype': 'int32'}")
    (found,) = expected(graph(bits, outputs=("v",)))
    wanted = np.linspace(-1, 1, 4, dtype=np.float32).view(np.int32)
    np.testing.assert_array_equal(found.data, wanted)
    assert not found.error.any()


def test_words_are_packed_from_the_bits_of_the_dtype():
    pack = Node("v", "nn.pack_words", ("x",), (("int32", (2,)),), "relax.nn.pack_words",
                "{'axis': -1}")  # fmt: skip
    bits = np.array([0x3F80, 0x4000, 0xBF80, 0x4049], np.uint16)
    (found,) = expected(Graph("g", (Input.of("x", "bfloat16", bits),), (pack,), ("v",)))
    np.testing.assert_array_equal(found.data, bits.view(np.int32))


def test_comparisons_of_rounded_numbers_are_not_compared():
    nodes = [node("a", "exp", "x"), node("b", "greater", "a", "a", dtype="bool")]
    (found,) = expected(graph(*nodes, outputs=("b",)))
    assert not found.data.any() and found.error.max() == 0  # equal whatever is rounded
    nodes[0:1] = [node("a", "exp", "x"), node("c", "exp", "x")]
    nodes[-1] = node("b", "greater", "a", "c", dtype="bool")
    (found,) = expected(graph(*nodes, outputs=("b",)))
    assert np.isinf(found.error).any()


def of_arrays(*nodes, output, **arrays):
    inputs = tuple(Input.of(name, str(a.dtype), a) for name, a in arrays.items())
    return expected(Graph("g", inputs, nodes, (output,)))[0]


def test_results_that_jump_at_a_number_are_not_compared_there():
    halves = np.full(64, 0.5, np.float32)
    nodes = [node("a", "multiply", "x", "y", size=64), node("b", "round", "a", size=64)]
    assert of_arrays(*nodes, output="b", x=halves, y=np.ones_like(halves)).error.min() >= 1


@pytest.mark.parametrize("label", ["nn.relu", "multiply"])
def test_what_is_divided_by_a_zero_of_either_sign_is_not_compared(label):
    zeros = np.zeros(4, np.float32)
    nodes = [node("a", label, *["x"] * (1 + (label == "multiply"))), node("b", "divide", "y", "a")]
    assert np.isinf(of_arrays(*nodes, output="b", x=zeros, y=zeros + 1).error).all()


def test_what_operands_that_may_be_refused_give_is_not_compared():
    hot = "{'depth': 3, 'axis': -1}"
    nodes = [
        node("a", "multiply", "x", "x"),
        replace(node("b", "astype", "a", dtype="int32"), attributes="{'dtype': 'int32'}"),
        Node("c", "one_hot", ("b",), (("int64", (4, 3)),), "relax.one_hot", hot),
    ]
    assert not of_arrays(*nodes, output="c", x=np.full(4, 1.2, np.float32)).error.any()
    x = np.full(4, 3**0.5 - 1e-7, np.float32)
    assert np.isinf(of_arrays(*nodes, output="c", x=x).error).all()


def test_kernels_of_graphs_have_the_bounds_of_kernels():
    x = np.random.default_rng(0).uniform(-2, 2, 1000).astype(np.float16)
    axis = Axis("r", "reduce", number(1000))
    load = Expr("load", "float16", (var("r"),), "X")
    target = Expr("load", "float16", (), "Y")
    block = Block("b", (axis,), (target,), "reduce", (number(0.0, "float16"), load), "add")
    inputs, outputs = Buffer("X", "float16", (number(1000),)), Buffer("Y", "float16", ())
    kernel = Kernel("k", (), (inputs,), (), (outputs,), (block,))
    call = Node("v", "kernel", ("x",), (("float16", ()),), kernel=kernel)
    bound = run(kernel, (), {"X": x})["Y"].bound
    assert bound < of_arrays(call, output="v", x=x).error < 3 * bound


@pytest.fixture
def wrong_products(monkeypatch):
    """A compiler that adds where it should multiply."""
    for table in (convert.LOWERINGS, floats.FLOATS):
        monkeypatch.setitem(table, arith.MulfOp, table[arith.AddfOp])


def test_a_wrong_rule_is_shrunk_to_a_node(wrong_products):
    nodes = [
        node("a", "nn.relu", "x"),
        node("b", "multiply", "a", "x"),
        node("c", "negative", "b"),
        node("d", "maximum", "c", "a"),
    ]
    program = GraphProgram(graph(*nodes, outputs=("c", "d")))
    (result,) = run_batch([Request("graphs", 0, program)])
    assert result.failure.kind == "wrong"
    found = shrink(result, 600).program
    assert [n.label for n in found.graph.nodes] == ["multiply"]
    assert "R.multiply(" in graph_text(found.graph)
