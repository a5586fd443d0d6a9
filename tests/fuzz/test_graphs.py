"""Graphs that the fuzzer draws: every operator, evaluated by PyTorch, and shrunk."""

import numpy as np
import pytest

pytest.importorskip("torch")

from fuzzer.batch import Request, run_batch
from fuzzer.cases import LEFT_OUT, case_of, labels
from fuzzer.evaluate_graph import expected
from fuzzer.graph import Graph, Input, Node, graph_text
from fuzzer.graphs import GraphProgram
from fuzzer.shrink import shrink
from fuzzer.sources import draw_program
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
    found = shrink(result, 60).program
    assert [n.label for n in found.graph.nodes] == ["multiply"]
    assert "R.multiply(" in graph_text(found.graph)
