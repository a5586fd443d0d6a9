"""What graph functions look like as TVMScript: calls, operators, outputs, tuples, annotations."""

from printed_programs import RELU, parse_ir, script, with_imports

from xrelax.script.parser.module import parse_text
from xrelax.script.printer import print_function, print_module


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
