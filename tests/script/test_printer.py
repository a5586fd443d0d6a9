"""What programs look like as TVMScript, and that the text parses back to the same program."""

import ast

import numpy as np
import pytest
from xdsl.parser import Parser

from xrelax.dialects import get_context
from xrelax.dialects.relax import ConstantOp, TensorData, sidecar
from xrelax.ir.equality import assert_structural_equal
from xrelax.script.parser.module import parse_text
from xrelax.script.printer import print_function, print_module
from xrelax.script.printer.metadata import read_constants

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
    """The text of a module given as IR; checks that it is Python and reads back as the module."""
    module = parse_ir(text)
    printed = print_module(module, **options)
    ast.parse(printed)
    assert "\t" not in printed and not printed.endswith("\n")
    if "# Metadata omitted" not in printed:
        assert_structural_equal(module, parse_text(with_imports(printed), {}))
    return printed


def with_imports(printed):
    return "\n".join(
        line.removeprefix("# ") if line.startswith("# from") else line
        for line in printed.splitlines()
    )


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
    assert ' = R.add(x, metadata["relax.expr.Constant"][0])' in printed
    assert ' = R.add(lv0, metadata["relax.expr.Constant"][1])' in printed
    assert ' = R.multiply(lv1, metadata["relax.expr.Constant"][0])' in printed
    assert ' = R.add(lv2, R.const(0.1, "float32"))' in printed
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


def relax_body(
    text, signature="%x: !relax.tensor<[n, 4], f32>", result="!relax.tensor<[n, 4], f32>"
):
    printed = script(RELU + f"relax.func @main({signature}) -> {result} {{ {text} }}")
    lines = printed.split("    @R.function")[1].rstrip().splitlines()
    return [line[8:] for line in lines[2:]]


def test_calls_of_functions_of_the_module():
    tensor = "!relax.tensor<[n, 4], f32>"
    lines = relax_body(
        f"%a = relax.call_tir @fill(%x) vars [#sym.expr<n>, #sym.expr<n * 2 + 1>] "
        f": ({tensor}) -> {tensor} "
        f"%c = relax.call @other(%a) : ({tensor}) -> {tensor} relax.return %c : {tensor} }} "
        f"relax.func @other(%x: {tensor}) -> {tensor} {{ relax.return %x : {tensor} }} "
        f"tir.prim_func @fill(%X: !tir.buffer<[n, 4], f32>, %Y: !tir.buffer<[n, 4], f32>, "
        f"%k: index, %l: index) {{"
    )
    assert lines == [
        "n = T.int64()",
        "cls = Module",
        'a = R.call_tir(cls.fill, (x,), out_sinfo=R.Tensor((n, 4), dtype="float32"), '
        "tir_vars=R.shape([n, n * 2 + 1]))",
        'c: R.Tensor((n, 4), dtype="float32") = cls.other(a)',
        "return c",
    ]


def test_a_function_on_its_own_calls_its_siblings_by_bare_name():
    tensor = "!relax.tensor<[4], f32>"
    module = parse_ir(
        f"relax.func @f(%relu: {tensor}) -> {tensor} {{ "
        f"%y = relax.call_tir @relu(%relu) : ({tensor}) -> {tensor} "
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
        '    lv: R.Tensor((4, n), dtype="float32") = R.permute_dims(x, axes=[1, 0])',
        '    lv1: R.Tensor((n, 4), dtype="float32") = R.permute_dims(lv)',
        '    lv2: R.Tensor((n, 4), dtype="float32") = R.nn.relu(lv1)',
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
        '    y: R.Tensor((n, 4), dtype="float32") = R.nn.relu(x)',
        '    gv: R.Tensor((n, 4), dtype="float32") = x',
        '    gv1: R.Tensor((n, 4), dtype="float32") = y',
        "    R.output(gv, y, gv1)",
        'gv2: R.Tensor((n, 4), dtype="float32") = R.add(gv, gv1)',
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
            a: R.Tensor((n,), dtype="float32") = t[0]
            b: R.Tensor((2,), dtype="int32") = t[1]
            pair: R.Tuple(R.Tensor((2,), dtype="int32"), R.Tensor((n,), dtype="float32")) = (b, a)
            R.output(a, pair)
        c: R.Tensor((2,), dtype="int32") = pair[0]
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
        '        _: R.Object = R.call_packed("log", x, y)',
        '        a: R.Tensor((n,), dtype="float32") = R.alloc_tensor((n,), dtype="float32")',
        '        b: R.Tensor((n,), dtype="float32") = '
        'R.call_packed("fill", a, sinfo_args=(R.Tensor((n,), dtype="float32"),))',
        "        return b",
    ]


def test_function_names_that_python_refuses_are_refused():
    tensor = "!relax.tensor<[1], f32>"
    for name in ("class", '"main.1"'):
        text = f"relax.func @{name}(%x: {tensor}) -> {tensor} {{ relax.return %x : {tensor} }}"
        with pytest.raises(ValueError, match="expected a function name that Python accepts"):
            print_module(parse_ir(text))
