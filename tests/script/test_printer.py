"""What programs look like as TVMScript, and that the text parses back to the same program."""

import ast

import numpy as np
import pytest
from xdsl.parser import Parser

from xrelax.dialects import get_context
from xrelax.dialects.relax import ConstantOp, sidecar
from xrelax.ir.structural_equal import assert_structural_equal
from xrelax.script.parser.module import parse_text
from xrelax.script.printer import print_function, print_module
from xrelax.script.printer.metadata import read_constants
from xrelax.script.printer.names import Names

LINEAR = """
tir.prim_func @linear(%X: !tir.buffer<[1, m], f32>, %W: !tir.buffer<[n, m], f32>,
    %B: !tir.buffer<[n], f32>, %Z: !tir.buffer<[1, n], f32>) params ("x", "w", "b", "z") {
  %Y = tir.alloc_buffer : !tir.buffer<[1, n], f32>
  tir.for %i in (0, 1) { tir.for %j in (0, n) { tir.for %k in (0, m) {
    tir.block "Y" (%vi: spatial (0, 1) = %i, %vj: spatial (0, n) = %j, %vk: reduce (0, m) = %k)
        reads (%X[%vi, %vk], %W[%vj, %vk]) writes (%Y[%vi, %vj]) {
      tir.init {
        %zero = arith.constant 0.0 : f32
        tir.store %zero, %Y[%vi, %vj] : !tir.buffer<[1, n], f32>
      }
      %y = tir.load %Y[%vi, %vj] : !tir.buffer<[1, n], f32>
      %x = tir.load %X[%vi, %vk] : !tir.buffer<[1, m], f32>
      %w = tir.load %W[%vj, %vk] : !tir.buffer<[n, m], f32>
      %p = arith.mulf %x, %w : f32
      %q = arith.addf %y, %p : f32
      tir.store %q, %Y[%vi, %vj] : !tir.buffer<[1, n], f32>
    }
  } } }
  tir.for %i in (0, 1) { tir.for %j in (0, n) {
    tir.block "Z" (%vi: spatial (0, 1) = %i, %vj: spatial (0, n) = %j)
        reads (%Y[%vi, %vj], %B[%vj]) writes (%Z[%vi, %vj]) {
      %y = tir.load %Y[%vi, %vj] : !tir.buffer<[1, n], f32>
      %b = tir.load %B[%vj] : !tir.buffer<[n], f32>
      %q = arith.addf %y, %b : f32
      tir.store %q, %Z[%vi, %vj] : !tir.buffer<[1, n], f32>
    }
  } }
}
"""
RELU = """
tir.prim_func @relu(%X: !tir.buffer<[1, n], f32>, %Y: !tir.buffer<[1, n], f32>) params ("x", "y") {
  tir.for %i in (0, 1) { tir.for %j in (0, n) {
    tir.block "Y" (%vi: spatial (0, 1) = %i, %vj: spatial (0, n) = %j)
        reads (%X[%vi, %vj]) writes (%Y[%vi, %vj]) {
      %x = tir.load %X[%vi, %vj] : !tir.buffer<[1, n], f32>
      %zero = arith.constant 0.0 : f32
      %m = arith.maximumf %x, %zero : f32
      tir.store %m, %Y[%vi, %vj] : !tir.buffer<[1, n], f32>
    }
  } }
}
"""
MLP = """
relax.func @main(%x: !relax.tensor<[1, m], f32>, %w: !relax.tensor<[n, m], f32>,
    %b: !relax.tensor<[n], f32>) -> !relax.tensor<[1, n], f32> {
  %out = relax.dataflow -> !relax.tensor<[1, n], f32> {
    %lv0 = relax.call_dps_packed "linear"(%x, %w, %b)
      : (!relax.tensor<[1, m], f32>, !relax.tensor<[n, m], f32>, !relax.tensor<[n], f32>)
      -> !relax.tensor<[1, n], f32>
    %out = relax.call_dps_packed "relu"(%lv0)
      : (!relax.tensor<[1, n], f32>) -> !relax.tensor<[1, n], f32>
    relax.output %out : !relax.tensor<[1, n], f32>
  }
  relax.return %out : !relax.tensor<[1, n], f32>
}
"""
GOLDEN = """\
# from xrelax.script import ir as I
# from xrelax.script import tir as T
# from xrelax.script import relax as R

@I.ir_module
class Module:
    @T.prim_func
    def linear(x: T.handle, w: T.handle, b: T.handle, z: T.handle):
        m = T.int64()
        X = T.match_buffer(x, (1, m))
        n = T.int64()
        W = T.match_buffer(w, (n, m))
        B = T.match_buffer(b, (n,))
        Z = T.match_buffer(z, (1, n))
        # with T.block("root"):
        Y = T.alloc_buffer((1, n))
        for i, j, k in T.grid(1, n, m):
            with T.block("Y"):
                vi, vj, vk = T.axis.remap("SSR", [i, j, k])
                T.reads(X[vi, vk], W[vj, vk])
                T.writes(Y[vi, vj])
                with T.init():
                    Y[vi, vj] = T.float32(0)
                Y[vi, vj] = Y[vi, vj] + X[vi, vk] * W[vj, vk]
        for i, j in T.grid(1, n):
            with T.block("Z"):
                vi, vj = T.axis.remap("SS", [i, j])
                T.reads(Y[vi, vj], B[vj])
                T.writes(Z[vi, vj])
                Z[vi, vj] = Y[vi, vj] + B[vj]

    @T.prim_func
    def relu(x: T.handle, y: T.handle):
        n = T.int64()
        X = T.match_buffer(x, (1, n))
        Y = T.match_buffer(y, (1, n))
        # with T.block("root"):
        for i, j in T.grid(1, n):
            with T.block("Y"):
                vi, vj = T.axis.remap("SS", [i, j])
                T.reads(X[vi, vj])
                T.writes(Y[vi, vj])
                Y[vi, vj] = T.max(X[vi, vj], T.float32(0))

    @R.function
    def main(x: R.Tensor((1, "m"), dtype="float32"), w: R.Tensor(("n", "m"), dtype="float32"), b: R.Tensor(("n",), dtype="float32")) -> R.Tensor((1, "n"), dtype="float32"):
        m = T.int64()
        n = T.int64()
        with R.dataflow():
            lv0 = R.call_dps_packed("linear", (x, w, b), out_sinfo=R.Tensor((1, n), dtype="float32"))
            out = R.call_dps_packed("relu", (lv0,), out_sinfo=R.Tensor((1, n), dtype="float32"))
            R.output(out)
        return out"""  # noqa: E501


def parse_ir(text):
    module = Parser(get_context(), text).parse_module()
    module.verify()
    return module


def script(text, **options):
    """The text of a module in the IR's own syntax; checks that it is Python and reads back as the module."""
    module = parse_ir(text)
    printed = print_module(module, **options)
    ast.parse(printed)
    assert "\t" not in printed and not printed.endswith("\n")
    if "# Metadata omitted" not in printed:
        names = {"T": None, "R": None, "I": None}
        again = parse_text(with_imports(printed), names)
        assert_structural_equal(module, again)
    return printed


def with_imports(printed):
    return "\n".join(
        line.removeprefix("# ") if line.startswith("# from") else line for line in printed.splitlines()
    )


def body_of(text, buffers="%X: !tir.buffer<[16], f32>, %Y: !tir.buffer<[16], f32>"):
    """The lines of a PrimFunc's body, without what declares buffers."""
    printed = script(f"tir.prim_func @f({buffers}) {{ {text} }}")
    lines = printed.splitlines()
    start = next(i for i, line in enumerate(lines) if line.lstrip().startswith("def "))
    return [line[8:] for line in lines[start + 1 :]]


def stored(text, dtype="f32"):
    """The expression that a body computes in ``%r`` from two loads, as it is printed."""
    buffer = f"!tir.buffer<[4], {dtype}>"
    head = (
        f"tir.for %i in (0, 4) {{ %a = tir.load %A[%i] : {buffer} %b = tir.load %B[%i] : {buffer} "
    )
    tail = f" tir.store %r, %C[%i] : {buffer} }}"
    lines = body_of(head + text + tail, ", ".join(f"%{n}: {buffer}" for n in "ABC"))
    return lines[-1].strip().removeprefix("C[i] = ")


def test_published_form():
    assert script(MLP + RELU + LINEAR) == GOLDEN


def test_order_of_functions_and_the_name_of_the_class_do_not_depend_on_the_module():
    printed = script(RELU + MLP + LINEAR, name="Other")
    assert printed == GOLDEN.replace("class Module", "class Other")


def test_single_functions_have_only_the_headers_they_need():
    relu, main = parse_ir(RELU + MLP).ops
    assert print_function(relu).splitlines()[:3] == [
        "# from xrelax.script import tir as T",
        "",
        "@T.prim_func",
    ]
    assert print_function(main).splitlines()[:2] == [
        "# from xrelax.script import tir as T",
        "# from xrelax.script import relax as R",
    ]


def test_an_empty_module_is_a_class_that_passes():
    assert script("builtin.module {}").splitlines()[-2:] == ["class Module:", "    pass"]


CONSTANTS = """
relax.func @main(%x: !relax.tensor<[1, 2], f32>) -> !relax.tensor<[1, 2], f32> {
  %out = relax.dataflow -> !relax.tensor<[1, 2], f32> {
    %c0 = relax.constant <float32, [2], [1.0, 2.0]> : !relax.tensor<[2], f32>
    %c1 = relax.constant <float32, [2], [1.0, 2.0]> : !relax.tensor<[2], f32>
    %one = relax.constant <float32, [], [0.1]> : !relax.tensor<[], f32>
    %lv0 = relax.add %x, %c1 : !relax.tensor<[1, 2], f32>, !relax.tensor<[2], f32>
      -> !relax.tensor<[1, 2], f32>
    %lv1 = relax.add %lv0, %c0 : !relax.tensor<[1, 2], f32>, !relax.tensor<[2], f32>
      -> !relax.tensor<[1, 2], f32>
    %lv2 = relax.multiply %lv1, %c1 : !relax.tensor<[1, 2], f32>, !relax.tensor<[2], f32>
      -> !relax.tensor<[1, 2], f32>
    %out = relax.add %lv2, %one : !relax.tensor<[1, 2], f32>, !relax.tensor<[], f32>
      -> !relax.tensor<[1, 2], f32>
    relax.output %out : !relax.tensor<[1, 2], f32>
  }
  relax.return %out : !relax.tensor<[1, 2], f32>
}
"""


def test_constants_are_numbered_by_first_appearance_and_end_with_the_published_line():
    printed = script(CONSTANTS)
    assert 'lv0 = R.add(x, metadata["relax.expr.Constant"][0])' in printed
    assert 'lv1 = R.add(lv0, metadata["relax.expr.Constant"][1])' in printed
    assert 'lv2 = R.multiply(lv1, metadata["relax.expr.Constant"][0])' in printed
    assert 'out = R.add(lv2, R.const(0.1, "float32"))' in printed
    omitted = "# Metadata omitted. Use show_meta=True in script() method to show it."
    assert printed.splitlines()[-2:] == ["", omitted]


def test_metadata_is_a_literal_that_gives_the_constants_back():
    printed = script(CONSTANTS, show_meta=True)
    assert "omitted" not in printed
    assign = ast.parse(printed).body[0]
    assert isinstance(assign, ast.Assign) and ast.unparse(assign.targets[0]) == "metadata"
    first, second = read_constants(ast.literal_eval(assign.value))
    assert first == second and first.values.tolist() == [1.0, 2.0]


@pytest.mark.parametrize(
    ("ir", "dtype", "shape"),
    [
        ("bf16", "bfloat16", (2, 3)),
        ("f16", "float16", (3,)),
        ("f64", "float64", (0, 4)),
        ("i1", "bool", (5,)),
        ("ui8", "uint8", (2, 1, 2)),
        ("i64", "int64", (40,)),
    ],
)
def test_metadata_of_every_kind_of_dtype(ir, dtype, shape):
    storage = {"bfloat16": "uint16"}.get(dtype, dtype)
    array = (np.arange(np.prod(shape)) % 2 + 0.5).reshape(shape).astype(storage)
    dims = list(shape)
    text = (
        f"relax.func @main(%x: !relax.tensor<[2], f32>) -> !relax.tensor<{dims}, {ir}> {{"
        f'%c = relax.constant <{dtype}, {dims}, "weight", ""> : !relax.tensor<{dims}, {ir}>'
        f"relax.return %c : !relax.tensor<{dims}, {ir}> }}"
    )
    from xrelax.dialects.relax import TensorData

    digest = TensorData.of(array, dtype).digest
    with sidecar({"weight": array}):
        module = parse_ir(text.replace('""', f'"{digest}"'))
    printed = print_module(module, show_meta=True)
    (data,) = read_constants(ast.literal_eval(ast.parse(printed).body[0].value))
    (constant,) = [op for op in module.walk() if isinstance(op, ConstantOp)]
    assert data == constant.value.data and data.key == "weight"
    assert_structural_equal(module, parse_text(with_imports(printed), {}))


def test_metadata_without_data_fails_with_the_name_of_the_constant():
    text = (
        "relax.func @main(%x: !relax.tensor<[2], f32>) -> !relax.tensor<[2], f32> {"
        '%c = relax.constant <float32, [2], "w0", "00"> : !relax.tensor<[2], f32>'
        "relax.return %c : !relax.tensor<[2], f32> }"
    )
    with pytest.raises(ValueError, match="constant 'w0'"):
        print_module(parse_ir(text), show_meta=True)


def test_buffer_parameters():
    printed = script(
        'tir.prim_func @f(%A: !tir.buffer<[4], i32>, %B: !tir.buffer<[4], f32>, %n: index, '
        "%C: !tir.buffer<[n], f32>, %D: !tir.buffer<[4, 4], f16, strides = [8, 1], offset = 2>, "
        '%E: !tir.buffer<[4], f32, "shared">, %a: f32) params ("A", "b", "n", "C", "D", "E", "a")'
        ' attributes {"tir.noalias" = true, "global_symbol" = "g"} {}'
    )
    assert '    def f(A: T.Buffer((4,), "int32"), b: T.handle, n: T.int64, var_C: T.handle' in printed
    for line in (
        'T.func_attr({"global_symbol": "g", "tir.noalias": True})',
        "B = T.match_buffer(b, (4,))",
        "C = T.match_buffer(var_C, (n,))",
        'D = T.match_buffer(var_D, (4, 4), "float16", strides=(8, 1), elem_offset=2)',
        'E = T.match_buffer(var_E, (4,), scope="shared")',
    ):
        assert f"        {line}\n" in printed + "\n"


def test_names_are_python_identifiers_that_nothing_else_uses():
    names = Names(["Module"])
    assert [names.fresh(n) for n in ("T", "for", "x.y", "0", "Module", "x", "x")] == [
        "T_1",
        "for_1",
        "x_y",
        "v0",
        "Module_1",
        "x",
        "x_1",
    ]
    with names.scope():
        assert names.fresh("i") == "i" and names.fresh("i") == "i_1"
    assert names.fresh("i") == "i"
    assert [names.numbered("lv") for _ in range(3)] == ["lv", "lv1", "lv2"]


def test_loop_variables_do_not_hide_symbols_or_buffers():
    lines = body_of(
        "tir.for %n in (0, n) { tir.for %X in (0, 16) {"
        "%v = tir.load %X_0[%X] : !tir.buffer<[n], f32> tir.store %v, %X_0[%n] : !tir.buffer<[n], f32> } }",
        "%X_0: !tir.buffer<[n], f32>",
    )
    assert lines[-2:] == ["for n_1, X in T.grid(n, 16):", "    X_0[n_1] = X_0[X]"]


def test_kinds_of_loops():
    load = "%v = tir.load %X[%i] : !tir.buffer<[16], f32> tir.store %v, %Y[%i] : !tir.buffer<[16], f32>"
    heads = {
        "(0, 16)": "range(16)",
        "(2, 8)": "range(2, 10)",
        "(0, 16) parallel": "T.parallel(16)",
        "(4, 4) vectorized": "T.vectorized(4, 8)",
        "(0, 16) unrolled": "T.unroll(16)",
        '(0, 16) thread_binding "threadIdx.x"': 'T.thread_binding(16, thread="threadIdx.x")',
        '(0, 16) annotations {"pragma" = 1 : i64}': 'T.serial(16, annotations={"pragma": 1})',
    }
    for head, printed in heads.items():
        lines = body_of(f"tir.for %i in {head} {{ {load} }}")
        assert lines == [f"for i in {printed}:", "    Y[i] = X[i]"]


def test_a_grid_ends_where_an_inner_bound_depends_on_an_outer_loop():
    lines = body_of(
        "tir.for %i in (0, 4) { tir.for %j in (0, 4) { tir.for %k in (0, %j) {"
        "%v = tir.load %X[%i] : !tir.buffer<[16], f32>"
        "tir.store %v, %Y[%i * 4 + %k] : !tir.buffer<[16], f32> } } }"
    )
    assert lines == [
        "for i, j in T.grid(4, 4):",
        "    for k in range(j):",
        "        Y[i * 4 + k] = X[i]",
    ]


def test_axes_that_do_not_follow_a_loop_are_written_alone():
    lines = body_of(
        "tir.for %i in (0, 4) { tir.for %j in (0, 4) { tir.for %k in (0, 8) {"
        'tir.block "b" (%a: spatial (0, 4) = %i, %b: spatial (0, 4) = %j, '
        "%c: spatial (0, 14) = %i * 4 + %j, %d: reduce (0, 8) = %k, %e: opaque (0, 8) = %k) "
        'where (%i * 4 + %j < 14) reads (%X[%c]) writes (%Y[%a * 4 : 4]) annotations {"x" = "y"} {'
        "%v = tir.load %X[%c] : !tir.buffer<[16], f32>"
        "tir.store %v, %Y[%a * 4 + %b] : !tir.buffer<[16], f32> } } } }"
    )
    assert lines == [
        '# with T.block("root"):',
        "for i, j, k in T.grid(4, 4, 8):",
        '    with T.block("b"):',
        '        a, b = T.axis.remap("SS", [i, j])',
        "        c = T.axis.spatial(14, i * 4 + j)",
        "        d = T.axis.reduce(8, k)",
        "        e = T.axis.opaque(8, k)",
        "        T.where(i * 4 + j < 14)",
        "        T.reads(X[c])",
        "        T.writes(Y[a * 4:a * 4 + 4])",
        '        T.block_attr({"x": "y"})',
        "        Y[a * 4 + b] = X[c]",
    ]


def test_views_of_buffers():
    lines = body_of(
        'tir.for %i in (0, 4) { tir.block "b" (%a: spatial (0, 4) = %i)'
        " reads (%X[%a, 0 : 8]) writes (%X[%a, 0 : 8]) {"
        "%V = tir.match_buffer %X[%a, 0] : !tir.buffer<[4, 8], f32> to !tir.buffer<[8], f32, strides = [1]>"
        "%v = tir.load %V[0] : !tir.buffer<[8], f32, strides = [1]>"
        "tir.store %v, %V[1] : !tir.buffer<[8], f32, strides = [1]> } }",
        "%X: !tir.buffer<[4, 8], f32>",
    )
    assert lines[-2:] == ["        V = T.match_buffer(X[a, 0:8], (8,))", "        V[1] = V[0]"]


@pytest.mark.parametrize(
    ("ir", "printed"),
    [
        ("%s = arith.addf %a, %b : f32 %r = arith.mulf %s, %b2 : f32", "(A[i] + B[i]) * B[i]"),
        ("%s = arith.mulf %a, %b : f32 %r = arith.subf %s, %b2 : f32", "A[i] * B[i] - B[i]"),
        ("%s = arith.subf %a, %b : f32 %r = arith.subf %b2, %s : f32", "B[i] - (A[i] - B[i])"),
        ("%s = arith.divf %a, %b : f32 %r = arith.negf %s : f32", "-(A[i] / B[i])"),
        ("%s = math.exp %a : f32 %r = arith.minimumf %s, %b : f32", "T.min(T.exp(A[i]), B[i])"),
        ("%c = arith.cmpf olt, %a, %b : f32 %r = arith.select %c, %a2, %b2 : f32",
         "T.Select(A[i] < B[i], A[i], B[i])"),
        ("%c = arith.constant 0x7F800000 : f32 %r = arith.addf %a, %c : f32", 'A[i] + T.float32("inf")'),
        ("%c = arith.constant 1.5 : f32 %r = math.powf %a, %c : f32", "T.pow(A[i], T.float32(1.5))"),
        ("%c = arith.constant 0.1 : f32 %r = arith.mulf %c, %a : f32", "T.float32(0.1) * A[i]"),
        ("%h = arith.truncf %a : f32 to f16 %r = arith.extf %h : f16 to f32",
         'T.Cast("float32", T.Cast("float16", A[i]))'),
    ],
)  # fmt: skip
def test_float_expressions(ir, printed):
    again = (
        "%a2 = tir.load %A[%i] : !tir.buffer<[4], f32> %b2 = tir.load %B[%i] : !tir.buffer<[4], f32> "
    )
    assert stored(again + ir) == printed


@pytest.mark.parametrize(
    ("dtype", "ir", "printed"),
    [
        ("i32", "%r = arith.floordivsi %a, %b : i32", "A[i] // B[i]"),
        ("i32", "%r = arith.divsi %a, %b : i32", "T.truncdiv(A[i], B[i])"),
        ("ui8", "%r = arith.divui %a, %b : i8", "A[i] // B[i]"),
        ("ui8", "%r = arith.remui %a, %b : i8", "A[i] % B[i]"),
        ("i32", "%c = arith.constant 3 : i32 %r = arith.addi %a, %c : i32", "A[i] + T.int32(3)"),
        ("ui8", "%c = arith.constant -1 : i8 %r = arith.xori %a, %c : i8", "A[i] ^ T.uint8(255)"),
        ("i32", "%s = arith.shli %a, %b : i32 %r = arith.ori %s, %b : i32", None),
        ("i64", "%r = arith.maxsi %a, %b : i64", "T.max(A[i], B[i])"),
        ("i1", "%r = arith.ori %a, %b : i1", "T.Or(A[i], B[i])"),
        ("i1", "%t = arith.constant true %r = arith.xori %a, %t : i1", "not A[i]"),
        ("i32", "%x = arith.index_cast %i : index to i64 %y = arith.trunci %x : i64 to i32 "
         "%r = arith.addi %a, %y : i32", 'A[i] + T.Cast("int32", i)'),
        ("i64", "%x = tir.apply %i + 1 %y = arith.index_cast %x : index to i64 "
         "%r = arith.muli %y, %a : i64", 'T.Cast("int64", i + 1) * A[i]'),
        ("i32", "%w = arith.extsi %a : i32 to i64 %r = arith.trunci %w : i64 to i32",
         'T.Cast("int32", T.Cast("int64", A[i]))'),
    ],
)  # fmt: skip
def test_integer_expressions(dtype, ir, printed):
    text = stored(ir, dtype)
    assert printed in (text, None)


def test_the_remainder_is_recognized():
    lines = body_of(
        "tir.for %i in (0, 4) { %a = tir.load %A[%i] : !tir.buffer<[4], i32> %b = arith.constant 3 : i32 "
        "%q = arith.floordivsi %a, %b : i32 %p = arith.muli %q, %b : i32 %r = arith.subi %a, %p : i32 "
        "tir.store %r, %A[%i] : !tir.buffer<[4], i32> }",
        "%A: !tir.buffer<[4], i32>",
    )
    assert lines[1:] == ["    a: T.int32 = A[i]", "    A[i] = a % T.int32(3)"]


def test_conditions_guard_what_they_choose():
    lines = body_of(
        "tir.for %i in (0, 16) { %l = tir.apply %i %r = tir.apply 12 %c = arith.cmpi slt, %l, %r : index "
        "%v = scf.if %c -> (f32) { %x = tir.load %X[%i + 4] : !tir.buffer<[16], f32> scf.yield %x : f32 }"
        " else { %z = arith.constant 0.0 : f32 scf.yield %z : f32 }"
        "tir.store %v, %Y[%i] : !tir.buffer<[16], f32> }"
    )
    assert lines[1:] == ["    Y[i] = T.if_then_else(i < 12, X[i + 4], T.float32(0))"]


def test_values_used_twice_or_across_a_store_have_a_line_of_their_own():
    lines = body_of(
        "%x = tir.load %X[0] : !tir.buffer<[16], f32> %y = tir.load %Y[0] : !tir.buffer<[16], f32>"
        "%s = arith.addf %y, %y : f32 tir.store %s, %X[0] : !tir.buffer<[16], f32>"
        "tir.store %x, %Y[0] : !tir.buffer<[16], f32>"
    )
    assert lines == ["x: T.float32 = X[0]", "y: T.float32 = Y[0]", "X[0] = y + y", "Y[0] = x"]


def test_indices_that_depend_on_data():
    lines = body_of(
        "tir.for %i in (0, 4) { %k = tir.load %K[%i] : !tir.buffer<[4], i32> %w = arith.extsi %k : i32 to i64 "
        "%j = arith.index_cast %w : i64 to index %v = tir.load %X[%j] : !tir.buffer<[16], f32> "
        "tir.store %v, %X[%i] : !tir.buffer<[16], f32> }",
        "%K: !tir.buffer<[4], i32>, %X: !tir.buffer<[16], f32>",
    )
    assert lines[1:] == ["    X[i] = X[K[i]]"]


def test_control_flow_and_assertions():
    lines = body_of(
        "%x = tir.load %X[0] : !tir.buffer<[16], f32> %z = arith.constant 0.0 : f32 "
        '%c = arith.cmpf oge, %x, %z : f32 tir.assert %c, "say \\"no\\"" '
        "%x1 = tir.load %X[0] : !tir.buffer<[16], f32> %c1 = arith.cmpf ogt, %x1, %z : f32 "
        "scf.if %c1 { tir.store %z, %Y[0] : !tir.buffer<[16], f32> scf.yield }"
        " else { tir.store %z, %Y[1] : !tir.buffer<[16], f32> scf.yield }"
        "scf.while () : () -> () { %w = tir.load %Y[2] : !tir.buffer<[16], f32> "
        "%d = arith.cmpf une, %w, %z : f32 scf.condition(%d) } do {"
        " tir.store %z, %Y[2] : !tir.buffer<[16], f32> scf.yield }"
    )
    assert lines == [
        'assert X[0] >= T.float32(0), "say \\"no\\""',
        "if X[0] > T.float32(0):",
        "    Y[0] = T.float32(0)",
        "else:",
        "    Y[1] = T.float32(0)",
        "while Y[2] != T.float32(0):",
        "    Y[2] = T.float32(0)",
    ]


def test_external_calls():
    lines = body_of(
        "%x = tir.load %X[0] : !tir.buffer<[16], f32> %r = tir.call_extern \"f\"(%x) : (f32) -> f32 "
        'tir.store %r, %Y[0] : !tir.buffer<[16], f32> %u = tir.call_extern "g"() : () -> i32'
    )
    assert lines == [
        'Y[0] = T.call_extern("float32", "f", X[0])',
        'T.evaluate(T.call_extern("int32", "g"))',
    ]


def test_scalars_in_memory():
    lines = body_of(
        "%x = tir.load %A[] : !tir.buffer<[], f32> tir.store %x, %A[] : !tir.buffer<[], f32>",
        "%A: !tir.buffer<[], f32>",
    )
    assert lines == ["A[()] = A[()]"]


def test_an_empty_function_evaluates_a_number():
    assert body_of("") == ["T.evaluate(0)"]


def test_what_script_cannot_say_is_refused_by_name():
    with pytest.raises(ValueError, match=r"got 'math\.cbrt'"):
        stored("%r = math.cbrt %a : f32")
    with pytest.raises(ValueError, match=r"got 'rt\.func'"):
        script("rt.func @f(%x: !tir.buffer<[1], f32>) results 0 {}")


def relax_body(text, signature="%x: !relax.tensor<[n, 4], f32>", result="!relax.tensor<[n, 4], f32>"):
    printed = script(RELU + f"relax.func @main({signature}) -> {result} {{ {text} }}")
    lines = printed.split("    @R.function")[1].splitlines()
    return [line[8:] for line in lines[2:]]


def test_calls_of_functions_of_the_module():
    tensor = "!relax.tensor<[n, 4], f32>"
    lines = relax_body(
        f"%a = relax.call_tir @relu(%x) vars [#sym.expr<n>, #sym.expr<n * 2 + 1>] : ({tensor}) -> {tensor} "
        f"%c = relax.call @main(%a) : ({tensor}) -> {tensor} relax.return %c : {tensor}"
    )
    assert lines == [
        "n = T.int64()",
        "cls = Module",
        'a = R.call_tir(cls.relu, (x,), out_sinfo=R.Tensor((n, 4), dtype="float32"), '
        "tir_vars=R.shape([n, n * 2 + 1]))",
        "c = cls.main(a)",
        "return c",
    ]


def test_a_function_on_its_own_calls_its_siblings_by_bare_name():
    tensor = "!relax.tensor<[4], f32>"
    module = parse_ir(
        f"relax.func @f(%relu: {tensor}) -> {tensor} {{ %y = relax.call_tir @relu(%relu) : ({tensor}) -> {tensor} "
        f"relax.return %y : {tensor} }}"
    )
    (func,) = module.ops
    assert print_function(func).splitlines()[-2:] == [
        '    y = R.call_tir(relu, (relu_1,), out_sinfo=R.Tensor((4,), dtype="float32"))',
        "    return y",
    ]


def test_operators_show_their_attributes_and_nameless_results_are_numbered():
    tensor = "!relax.tensor<[n, 4], f32>"
    turned = "!relax.tensor<[4, n], f32>"
    lines = relax_body(
        f"%0 = relax.dataflow -> {tensor} {{ "
        f"%1 = relax.permute_dims %x {{axes = array<i64: 1, 0>}} : {tensor} -> {turned} "
        f"%2 = relax.permute_dims %1 : {turned} -> {tensor} "
        f"%3 = relax.nn.relu %2 : {tensor} -> {tensor} relax.output %3 : {tensor} }} "
        f"relax.return %0 : {tensor}"
    )
    assert lines[1:] == [
        "with R.dataflow():",
        "    lv = R.permute_dims(x, axes=[1, 0])",
        "    lv1 = R.permute_dims(lv)",
        "    lv2 = R.nn.relu(lv1)",
        "    R.output(lv2)",
        "return lv2",
    ]


def test_outputs_that_come_from_elsewhere_or_leave_twice_get_names():
    tensor = "!relax.tensor<[n, 4], f32>"
    lines = relax_body(
        f"%0, %1, %2 = relax.dataflow -> {tensor}, {tensor}, {tensor} {{ "
        f"%y = relax.nn.relu %x : {tensor} -> {tensor} "
        f"relax.output %x, %y, %y : {tensor}, {tensor}, {tensor} }} "
        f"%3 = relax.add %0, %2 : {tensor}, {tensor} -> {tensor} relax.return %3 : {tensor}"
    )
    assert lines[1:] == [
        "with R.dataflow():",
        "    y = R.nn.relu(x)",
        "    gv = x",
        "    gv1 = y",
        "    R.output(gv, y, gv1)",
        "gv2 = R.add(gv, gv1)",
        "return gv2",
    ]


TUPLES = """\
# from xrelax.script import ir as I
# from xrelax.script import tir as T
# from xrelax.script import relax as R

@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor(("n",), dtype="float32")) -> R.Tuple(R.Tensor(("n",), dtype="float32"), R.Tensor((2,), dtype="int32")):
        n = T.int64()
        with R.dataflow():
            t = R.call_dps_packed("env.f", (x,), out_sinfo=[R.Tensor((n,), dtype="float32"), R.Tensor((2,), dtype="int32")])
            a = t[0]
            b = t[1]
            pair = (b, a)
            R.output(a, pair)
        c = pair[0]
        return (a, c)"""  # noqa: E501


def test_tuples():
    module = parse_text(with_imports(TUPLES), {})
    assert print_module(module) == TUPLES


def test_effects_attributes_and_unknown_shapes():
    printed = script(
        "relax.func private impure @f(%x: !relax.tensor<rank 2, f32>, %y: !relax.tensor<*, ?>, "
        "%s: !relax.shape<[n * 2, 3]>, %z: !relax.tensor<[n, m], i64>) -> !relax.tensor<[n], f32> "
        'attributes {"Primitive" = 1 : i64} {'
        '%0 = relax.call_packed "log"(%x, %y) : (!relax.tensor<rank 2, f32>, !relax.tensor<*, ?>) '
        "-> !relax.object "
        "%a = relax.alloc_tensor : !relax.tensor<[n], f32> "
        '%b = relax.call_packed "fill"(%a) : (!relax.tensor<[n], f32>) -> !relax.tensor<[n], f32> '
        "relax.return %b : !relax.tensor<[n], f32> }"
    )
    assert printed.splitlines()[6:] == [
        "    @R.function(private=True, pure=False)",
        '    def f(x: R.Tensor(dtype="float32", ndim=2), y: R.Tensor(), s: R.Shape(["n * 2", 3]), '
        'z: R.Tensor(("n", "m"), dtype="int64")) -> R.Tensor(("n",), dtype="float32"):',
        "        m = T.int64()",
        "        n = T.int64()",
        '        R.func_attr({"Primitive": 1})',
        '        _ = R.call_packed("log", x, y)',
        '        a = R.alloc_tensor((n,), dtype="float32")',
        '        b = R.call_packed("fill", a, sinfo_args=(R.Tensor((n,), dtype="float32"),))',
        "        return b",
    ]
