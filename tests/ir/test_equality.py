"""Which differences between two programs count, what is said of them, what the hash keeps."""

import re

import numpy as np
import pytest
from xdsl.parser import Parser

from xrelax import relax, tir
from xrelax.dialects import get_context
from xrelax.dialects.relax import TensorData, sidecar
from xrelax.ir.equality import (
    assert_structural_equal,
    structural_equal,
    structural_hash,
)

KERNEL = """
tir.prim_func @f(%X: !tir.buffer<[n * m, n], f32>, %Y: !tir.buffer<[n], f32>,
    %Z: !tir.buffer<[m], f32>) params ("x", "y", "z") attributes {"tir.noalias" = true} {
  %S = tir.alloc_buffer : !tir.buffer<[n * m + m], f32>
  tir.for %i in (0, n) { tir.for %j in (0, m) parallel {
    tir.block "B" (%vi: spatial (0, n) = %i, %vj: spatial (0, m) = %j)
        reads (%X[%vi * m + %vj, %vi]) writes (%S[%vi * m + %vj]) {
      %c = arith.constant 2.0 : f32
      %v = tir.load %X[%vi * m + %vj, %vi] : !tir.buffer<[n * m, n], f32>
      %w = tir.load %Y[%vi] : !tir.buffer<[n], f32>
      %s = arith.addf %v, %w : f32
      %p = arith.mulf %s, %c : f32
      tir.store %p, %S[%vi * m + %vj] : !tir.buffer<[n * m + m], f32>
    }
  } }
}
""".replace("reads (%X[%vi * m + %vj, %vi])", "reads (%X[%vi * m + %vj, %vi], %Y[%vi])")
GRAPH = """
relax.func @main(%x: !relax.tensor<[n, m], f32>) -> !relax.tensor<[n, m], f32> {
  %out = relax.dataflow -> !relax.tensor<[n, m], f32> {
    %c = relax.constant <float32, [1], [1.5]> : !relax.tensor<[1], f32>
    %a = relax.add %x, %c : !relax.tensor<[n, m], f32>, !relax.tensor<[1], f32>
      -> !relax.tensor<[n, m], f32>
    %b = relax.nn.relu %a : !relax.tensor<[n, m], f32> -> !relax.tensor<[n, m], f32>
    relax.output %b : !relax.tensor<[n, m], f32>
  }
  relax.return %out : !relax.tensor<[n, m], f32>
}
"""
LOOP = """
relax.func @main(%c: !relax.tensor<[], i1>, %g: !relax.tensor<[], i1>, %x: !relax.tensor<[n], f32>)
    -> tuple<!relax.tensor<[], i1>> {
  %a = relax.loop @step to n carried (%c) scanned (%x) given () : (!relax.tensor<[], i1>)
    (!relax.tensor<[n], f32>) () -> tuple<!relax.tensor<[], i1>>
  %b = relax.loop @step while to n carried (%c) scanned () given (%g, %c) :
    (!relax.tensor<[], i1>) () (!relax.tensor<[], i1>, !relax.tensor<[], i1>)
    -> tuple<!relax.tensor<[], i1>>
  relax.return %b : tuple<!relax.tensor<[], i1>>
}
"""


def parse(text):
    module = Parser(get_context(), text).parse_module()
    module.verify()
    return module


def rename(text, **names):
    """The text with whole words replaced."""
    return re.sub(r"\b(\w+)\b", lambda m: names.get(m[1], m[1]), text)


def check_equal(a, b):
    a, b = parse(a), parse(b)
    assert structural_equal(a, b) and structural_equal(b, a)
    assert structural_hash(a) == structural_hash(b)
    assert_structural_equal(a, b)


def check_different(a, b, message):
    a, b = parse(a), parse(b)
    assert not structural_equal(a, b) and not structural_equal(b, a)
    assert structural_hash(a) != structural_hash(b)
    with pytest.raises(ValueError, match=message) as caught:
        assert_structural_equal(a, b)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("text", [KERNEL, GRAPH, KERNEL + GRAPH])
def test_a_program_is_equal_to_its_copy(text):
    check_equal(text, text)


@pytest.mark.parametrize(
    "names",
    [
        {"vi": "a", "vj": "b", "i": "i0", "j": "i1"},
        {"X": "A", "Y": "B", "x": "p", "y": "q", "S": "T", "v": "u"},
        {"n": "rows", "m": "columns"},
        {"n": "m", "m": "n"},
        {"n": "z9", "m": "a0"},
    ],
)
def test_names_of_values_loops_parameters_and_symbols_do_not_count(names):
    check_equal(KERNEL, rename(KERNEL, **names))


@pytest.mark.parametrize("names", [{"n": "m", "m": "n"}, {"x": "y", "a": "lv", "out": "gv"}])
def test_names_in_graphs_do_not_count(names):
    check_equal(GRAPH, rename(GRAPH, **names))
    check_equal(LOOP, rename(LOOP, **names))


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("@step to n", "@other to n", "'callee' of 'relax.loop' in @main"),
        ("while to n", "while", "'trips' of 'relax.loop' in @main / .* got none"),
        ("while to n", "to n", "'while' of 'relax.loop' in @main / .* got none"),
        ("while to n", "while to n * 2", r"'trips' of 'relax.loop' .* to be n, got n \* 2"),
        ("(%g, %c)", "(%c, %g)", "operands of 'relax.loop' in @main"),
        (
            "scanned (%x) given () : (!relax.tensor<[], i1>)\n    (!relax.tensor<[n], f32>) ()",
            "scanned () given (%x) : (!relax.tensor<[], i1>)\n    () (!relax.tensor<[n], f32>)",
            "'operandSegmentSizes' of 'relax.loop' in @main",
        ),
    ],
)  # fmt: skip
def test_differences_in_loops(old, new, message):
    assert LOOP.count(old) == 1
    check_different(LOOP, LOOP.replace(old, new), message)


def test_symbols_have_to_be_renamed_consistently():
    other = KERNEL.replace("n * m + m]", "n * m + n]")
    place = "result types of 'tir.alloc_buffer' in @f / tir.alloc_buffer"
    check_different(KERNEL, other, rf"{place} to be .*n \* m \+ m.*, got .*n \+ n \* m")


def test_order_of_functions_does_not_count():
    check_equal(KERNEL + GRAPH, GRAPH + KERNEL)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('"B"', '"C"', "expected 'block_name' of 'tir.block' in @f / .* to be \"B\", got \"C\""),
        (" @f(", " @g(", "'sym_name' of 'tir.prim_func' in @f to be \"f\", got \"g\""),
        ("2.0 :", "-2.0 :", "'value' of 'arith.constant' in @f / .* got .*-2.0"),
        ("arith.addf %v, %w", "arith.addf %w, %v", "'tir.load'"),
        ("arith.addf", "arith.subf", "expected 'arith.addf' in @f / .*, got 'arith.subf'"),
        ("m) parallel", "m)", "'kind' of 'tir.for' .* to be \"parallel\", got \"serial\""),
        ("spatial (0, m)", "opaque (0, m)", "'axes' of 'tir.block'"),
        ('"tir.noalias" = true', '"tir.noalias" = false', "'attrs' of 'tir.prim_func'"),
        ("%vj, %vi], %Y[%vi])", "%vj, 0 : n], %Y[%vi])", "'reads' of 'tir.block'"),
        ("%p, %S[%vi * m + %vj]", "%p, %S[%vi * m]", "'indices' of 'tir.store' .*%vi"),
    ],
)  # fmt: skip
def test_differences_in_kernels(old, new, message):
    assert KERNEL.count(old) == 1
    check_different(KERNEL, KERNEL.replace(old, new), message)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("[1.5]", "[1.25]", "'value' of 'relax.constant'"),
        ("relax.output %b", "relax.output %a", "operands of 'relax.output'"),
        ("relu %a", "relu %x", "operands of 'relax.nn.relu' .* to be .*%a.*, got .*%x"),
        ("func @main", "func private @main", "'private' of 'relax.func' in @main to be none"),
        ("relax.add", "relax.multiply", "expected 'relax.add' .*, got 'relax.multiply'"),
    ],
)  # fmt: skip
def test_differences_in_graphs(old, new, message):
    check_different(GRAPH, GRAPH.replace(old, new), message)


def test_a_missing_operation_is_named():
    relu = "    %b = relax.nn.relu %a : !relax.tensor<[n, m], f32> -> !relax.tensor<[n, m], f32>\n"
    dead = relu.replace("%b", "%d")
    check_different(
        GRAPH, GRAPH.replace(relu, dead + relu), "'relax.output' .*, got 'relax.nn.relu'"
    )
    check_different(GRAPH, KERNEL + GRAPH, "expected 'relax.func' in @main, got 'tir.prim_func'")
    check_different(GRAPH, GRAPH + KERNEL.replace("@f", "@z"), "the end of the program")


def test_place_and_number_of_scalar_operations_do_not_count():
    constant = "%c = arith.constant 2.0 : f32"
    moved = KERNEL.replace(constant, "").replace("%p = arith", f"{constant} %p = arith")
    check_equal(KERNEL, moved)
    load = "%v = tir.load %X[%vi * m + %vj, %vi] : !tir.buffer<[n * m, n], f32>"
    dead = load.replace("%v", "%u", 1)
    check_equal(KERNEL, KERNEL.replace(load, f"{dead} {load}"))
    by_value = KERNEL.replace(
        load, "%t = tir.apply %vi * m + %vj " + load.replace("%vi * m + %vj", "%t")
    )
    check_equal(KERNEL, by_value)


def test_a_load_does_not_move_across_a_store():
    head = "tir.prim_func @f(%X: !tir.buffer<[2], f32>) {"
    store = " tir.store %v, %X[1] : !tir.buffer<[2], f32>"
    first = "%v = tir.load %X[0] : !tir.buffer<[2], f32>"
    second = "%w = tir.load %X[1] : !tir.buffer<[2], f32>"
    last = " tir.store %w, %X[0] : !tir.buffer<[2], f32> }"
    check_different(
        head + first + second + store + last,
        head + first + store + second + last,
        "number of statements",
    )


def test_what_a_loop_or_a_branch_holds_counts():
    head = "tir.prim_func @f(%X: !tir.buffer<[2], f32>, %c: i1) {"
    first = "%v = tir.load %X[0] : !tir.buffer<[2], f32>"
    store = " tir.store %v, %X[0] : !tir.buffer<[2], f32>"
    other = " tir.store %v, %X[1] : !tir.buffer<[2], f32>"
    loop, choice = "tir.for %i in (0, 2) {", "scf.if %c {"
    check_different(
        f"{head} {first} {loop} {store} {other} }} }}",
        f"{head} {first} {loop} {store} }} {other} }}",
        "expected 'tir.store' in @f / .*, got 'the end of tir.for'",
    )
    check_different(
        f"{head} {first} {choice} {store} {other} }} }}",
        f"{head} {first} {choice} {store} }} else {{ {other} }} }}",
        "expected 'tir.store' in @f / .*, got ",
    )
    check_different(
        f"{head} {first} {loop} {store} }} }}",
        f"{head} {loop} {first} {store} }} }}",
        "number of statements",
    )


def test_constants_count_by_content():
    digest = "0f" * 16
    text = (
        "relax.func @f(%x: !relax.tensor<[2], f32>) -> !relax.tensor<[20], f32> {"
        '%c = relax.constant <float32, [20], "KEY", "DIGEST"> : !relax.tensor<[20], f32>'
        " relax.return %c : !relax.tensor<[20], f32> }"
    ).replace("DIGEST", digest)
    check_equal(text.replace("KEY", "a"), text.replace("KEY", "b"))
    check_different(text, text.replace(digest, "1e" * 16), "'value' of 'relax.constant'")


def test_content_of_equal_arrays_is_equal_whether_given_or_not():
    array = np.arange(20, dtype=np.float32)
    text = (
        "relax.func @f(%x: !relax.tensor<[2], f32>) -> !relax.tensor<[20], f32> {"
        f'%c = relax.constant <float32, [20], "w", "{TensorData.of(array).digest}">'
        " : !relax.tensor<[20], f32>"
        " relax.return %c : !relax.tensor<[20], f32> }"
    )
    with sidecar({"w": array}):
        given = parse(text)
    assert structural_equal(given, parse(text))


def test_not_a_number_is_equal_to_itself_and_zeros_have_signs():
    text = (
        "tir.prim_func @f(%X: !tir.buffer<[2], f32>) { %c = arith.constant VALUE : f32 "
        "tir.store %c, %X[0] : !tir.buffer<[2], f32> }"
    )
    check_equal(text.replace("VALUE", "0x7FC00000"), text.replace("VALUE", "0x7FC00000"))
    check_different(text.replace("VALUE", "0.0"), text.replace("VALUE", "-0.0"), "'value'")


def test_the_own_name_of_a_function_can_be_left_out():
    f, g = parse(KERNEL).ops.first, parse(KERNEL.replace("@f", "@g")).ops.first
    assert not structural_equal(f, g)
    assert structural_equal(f, g, compare_name=False)
    assert structural_hash(f, compare_name=False) == structural_hash(g, compare_name=False)


def test_values_from_outside_are_the_same_ones_or_correspond():
    loop = "tir.for %i in (0, 4) {LOAD}"
    text = f"tir.prim_func @f(%X: !tir.buffer<[4], f32>) {{ {loop} {loop} }}"
    load = (
        "%v = tir.load %X[%i] : !tir.buffer<[4], f32> tir.store %v, %X[%i] : !tir.buffer<[4], f32>"
    )
    (func,) = parse(text.replace("LOAD", load)).ops
    one, two = func.body.block.ops
    (other,) = parse(text.replace("LOAD", load)).ops
    assert structural_equal(one, two)
    assert not structural_equal(one, other.body.block.first_op)
    assert structural_equal(one, other.body.block.first_op, map_free_vars=True)
    assert structural_hash(one) == structural_hash(two)


def test_long_programs_differ_in_their_last_store():
    stores = [
        f"%v{k} = tir.load %X[{k}] : !tir.buffer<[500], f32> "
        f"tir.store %v{k}, %X[{k}] : !tir.buffer<[500], f32> "
        for k in range(500)
    ]
    text = "tir.prim_func @f(%X: !tir.buffer<[500], f32>) { BODY }"
    last = stores[-1].replace(", %X[499]", ", %X[0]")
    program = text.replace("BODY", "".join(stores))
    check_equal(program, program)
    check_different(program, text.replace("BODY", "".join([*stores[:-1], last])), "'indices'")


def test_types_expressions_and_sequences():
    x, y = (relax.Var("x", relax.TensorStructInfo((4,), "float32")) for _ in range(2))
    n = tir.Var("n", "int64")
    assert structural_equal([n + 1, x.ty], [1 + n, y.ty])
    assert not structural_equal([n + 1], [n])
    assert structural_equal({"a": x + x}, {"a": x + x})
    assert not structural_equal(x + x, y + y) and structural_equal(x + x, y + y, True)
    assert not structural_equal(x + x, x - x) and not structural_equal(x.ty, n)
    assert_structural_equal(x.ty, y.ty)
    with pytest.raises(ValueError, match=r"expected R.Tensor\(\(4,\), .*\), got R.Object"):
        assert_structural_equal(x.ty, relax.AnyType())
    with pytest.raises(TypeError, match="expected a module, function or operation, got n"):
        structural_hash(n)
