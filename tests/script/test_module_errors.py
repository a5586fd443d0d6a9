"""Wrong modules: calls, dataflow blocks, annotations, decorators."""

import pytest

from xrelax.runtime import XRelaxWarning
from xrelax.script import ScriptError, from_source

MODULE = """
@I.ir_module
class Module:
    @T.prim_func
    def scale(X: T.Buffer((4, 6), "float32"), Y: T.Buffer((4, 6), "float32")):
        for i, j in T.grid(4, 6):
            Y[i, j] = X[i, j] * T.float32(2)

    @R.function
    def main(
        x: R.Tensor((4, 6), "float32"), w: R.Tensor((6, 3), "float32")
    ) -> R.Tensor((4, 3), "float32"):
        with R.dataflow():
            lv = R.call_tir(cls.scale, (x,), out_sinfo=R.Tensor((4, 6), "float32"))
            gv = R.matmul(lv, w)
            R.output(gv)
        return gv
"""

MODULES = [
    (
        "cls.scale, (x,)",
        "cls.scala, (x,)",
        "expected call_tir of a PrimFunc of the module (scale), got 'scala'",
        "R.call_tir",
    ),
    (
        "cls.scale, (x,)",
        "scala, (x,)",
        "expected call_tir of a PrimFunc of the module (scale), got 'scala'",
        "R.call_tir",
    ),
    (
        "cls.scale, (x,)",
        "other.scale, (x,)",
        "expected a function of the module or a string, got 'other.scale'",
        "other.scale",
    ),
    (
        "cls.scale, (x,)",
        "cls.scale, (x, w)",
        "'scale' expects 2 arguments (X, Y), got 2 inputs and 1 output",
        None,
    ),
    ("cls.scale, (x,)", "cls.scale, (w,)", "call of 'scale'", "R.call_tir"),
    (
        'R.Tensor((4, 6), "float32"))\n',
        'R.Tensor((4, 5), "float32"))\n',
        "expected shapes of 'relax.matmul' to be compatible, got (4, 5) and (6, 3)",
        "R.matmul",
    ),
    (
        'R.Tensor((4, 6), "float32"))\n',
        'R.Tensor((4, 6), "int32"))\n            lv = x\n',
        "call of 'scale'",
        "R.call_tir",
    ),
    (
        ', out_sinfo=R.Tensor((4, 6), "float32"))\n',
        ")\n",
        "expected the type of the result, such as R.Tensor((1, n)",
        "R.call_tir",
    ),
    ("out_sinfo=R.Tensor((4, 6)", "outsinfo=R.Tensor((4, 6)", "got outsinfo", "R.call_tir"),
    (
        "R.matmul(lv, w)",
        "R.matmull(lv, w)",
        "got 'R.matmull', did you mean 'R.matmul'?",
        "R.matmull",
    ),
    (
        "R.matmul(lv, w)",
        "R.matmul(lv)",
        "expected lhs, rhs of 'relax.matmul', got no rhs",
        "R.matmul",
    ),
    (
        "R.matmul(lv, w)",
        "R.matmul(lv, w, 'float32', False, w)",
        "expected at most 4 arguments of 'relax.matmul', got 5",
        "R.matmul",
    ),
    (
        "R.matmul(lv, w)",
        "R.matmul(lv, rsh=w)",
        "expected arguments lhs, rhs, out_dtype, transpose_rhs of 'relax.matmul', got 'rsh'",
        "w)",
    ),
    (
        "R.matmul(lv, w)",
        "R.matmul(w, w)",
        "expected shapes of 'relax.matmul' to be compatible, got (6, 3) and (6, 3)",
        "R.matmul",
    ),
    (
        "R.matmul(lv, w)",
        "R.matmul(lv, 2.0)",
        "expected a value of the graph, got 2.0: use R.const(2.0",
        "2.0",
    ),
    (
        "R.matmul(lv, w)",
        "missing(lv, w)",
        "expected an operator or function of Relax, got 'missing'",
        "missing",
    ),
    ("R.matmul(lv, w)", "cls.main(lv)", "'main' expects 2 arguments, got 1", "cls.main"),
    ("R.matmul(lv, w)", "lv @ T", "expected a value of the graph, got 'T'", "T"),
    ("R.matmul(lv, w)", "lv[0]", None, "lv[0]"),
    (
        "R.matmul(lv, w)",
        'metadata["relax.expr.Constant"][0]',
        "expected one of 0 constants of the metadata, got 0",
        "metadata",
    ),
    (
        "R.matmul(lv, w)",
        'R.const([1, 2.5], "int32")',
        "expected numbers of int32, got [1, 2.5]",
        "R.const",
    ),
    ("R.matmul(lv, w)", "R.const()", "expected R.const(value, dtype), got 'R.const()'", "R.const"),
    (
        "R.matmul(lv, w)",
        'R.call_packed("env.f", lv, sinfo_args=(R.Tensor((4, 3), "float32"),))',
        "relax.call_packed",
        None,
    ),
    ("R.matmul(lv, w)", 'R.alloc_tensor((4, 3), dtype="float32")', "relax.alloc_tensor", None),
    (
        "        return gv",
        "        return lv",
        "expected a variable that its dataflow block outputs, got 'lv': add it to R.output(…)",
        "lv",
    ),
    ("        return gv", "        return g", "name 'g' is not defined, did you mean 'gv'?", "g"),
    (
        "        return gv",
        "        return gv\n        x = gv",
        "expected nothing after 'return'",
        "x = gv",
    ),
    ("        return gv", "        pass", "expected 'main' to return a value", "def main"),
    (
        "        return gv",
        "        while gv:\n            pass",
        "expected a statement of Relax, got 'while'",
        "while",
    ),
    (
        "        return gv",
        "        R.output(gv)\n        return gv",
        "expected R.output inside a dataflow block",
        "R.output",
    ),
    ("        return gv", "        a, b = gv\n        return a", "expected 1 names, got 2", "a, b"),
    (
        "        return gv",
        '        a: R.Tensor((3, 4), "float32") = gv\n        return a',
        "expected 'a' to be",
        "a: R.Tensor",
    ),
    (
        "            R.output(gv)",
        "            pass",
        "expected the dataflow block to end with R.output(…)",
        "with R.dataflow",
    ),
    (
        "            R.output(gv)",
        "            return gv",
        "expected nothing after 'return'",
        "return",
    ),
    (
        "            R.output(gv)",
        "            R.output(gv)\n            gv = x",
        "expected R.output to be last in its dataflow block",
        "gv = x",
    ),
    (
        "            R.output(gv)",
        "            R.output(x + x)",
        "expected the name of a variable of the dataflow block",
        "x + x",
    ),
    (
        "            R.output(gv)",
        "            with R.dataflow():\n                R.output(gv)",
        "not nested",
        "with R.dataflow",
    ),
    (
        '-> R.Tensor((4, 3), "float32")',
        "-> T.handle",
        'expected an annotation such as R.Tensor((1, "n"), "float32"), got \'T.handle\'',
        "T.handle",
    ),
    ('x: R.Tensor((4, 6), "float32")', 'x: R.Tensor((4, 6), "float3")', "got 'float3'", '"float3"'),
    (
        'x: R.Tensor((4, 6), "float32")',
        'x: R.Tensor((4, "n +"), "float32")',
        "expected an expression, got 'n +'",
        '"n +"',
    ),
    (
        'x: R.Tensor((4, 6), "float32")',
        'x: R.Tensor((4, "f(n)"), "float32")',
        "name 'f' is not defined",
        '"f(n)"',
    ),
    (
        'x: R.Tensor((4, 6), "float32")',
        'x: R.Tensor((4, "n * 2"), "float32")',
        "symbol 'n' is not determined by the parameters of 'main'",
        None,
    ),
    (
        'x: R.Tensor((4, 6), "float32")',
        'x: R.Tensor((4, -6), "float32")',
        "expected a dim of at least 0, got -6",
        "-6",
    ),
    (
        'x: R.Tensor((4, 6), "float32")',
        'x: R.Tensor((4, 6.5), "float32")',
        "expected a dim to be a number, a symbol or a string, got '6.5'",
        "6.5",
    ),
    (
        'x: R.Tensor((4, 6), "float32")',
        'x: R.Tensor((4, 6), "float32", "llvm", 2)',
        "expected shape, dtype and ndim of R.Tensor, got 4 arguments",
        "R.Tensor",
    ),
    (
        'x: R.Tensor((4, 6), "float32")',
        'x: R.Tensor((4, 6), "float32", ndim=3)',
        "expected a shape of 3 dims, got 2",
        "(4, 6)",
    ),
    (
        'x: R.Tensor((4, 6), "float32")',
        'x: R.Tensr((4, 6), "float32")',
        "got 'R.Tensr((4, 6), 'float32')'",
        "R.Tensr",
    ),
    (
        'x: R.Tensor((4, 6), "float32")',
        "x",
        "expected an annotation for parameter 'x', such as T.handle or R.Tensor",
        "x, w",
    ),
    (
        "w: R.Tensor",
        "x: R.Tensor",
        "expected distinct parameter names, got 'x' twice",
        "x: R.Tensor((6",
    ),
    (
        "    @R.function\n",
        "",
        "expected a function decorated with T.prim_func or R.function",
        "def main",
    ),
    (
        "    @R.function\n",
        "    size = 3\n    @R.function\n",
        "expected functions or I.module_attrs(…), got 'size = 3'",
        "size = 3",
    ),
    ("def main", "def scale", "expected distinct function names, got 'scale' twice", "def scale"),
    (
        "@I.ir_module",
        "",
        "expected a class decorated with I.ir_module or a decorated function",
        "class Module",
    ),
    ("class Module:", "class Module", "expected ':'", ""),
]


@pytest.mark.parametrize(("old", "new", "message", "at"), MODULES)
def test_modules(refused, old, new, message, at):
    assert old in MODULE
    refused(MODULE.replace(old, new, 1), message, at)


def test_a_wrong_result_type_is_ignored():
    message = (
        r":3:43: expected 'main' to return !relax.tensor<\[3\], f32>, got .*; this is ignored$"
    )
    with pytest.warns(XRelaxWarning, match=message):
        function = from_source("""
@R.function
def main(x: R.Tensor((2,), "float32")) -> R.Tensor((3,), "float32"):
    return x
""")
    assert tuple(function.ret_struct_info.shape) == (2,)


def test_columns_count_characters():
    text = MODULE.replace("gv = R", '"äöü"; gv = gw + R')
    with pytest.raises(ScriptError, match=r":15:25: error: name 'gw'"):
        from_source(text)


def test_metadata_that_is_none():
    with pytest.raises(ScriptError, match=r"<script>:1:1: error: .*\nmetadata = "):
        from_source('metadata = {"relax.expr.Constant": [{"dtype": "float32"}]}\n' + MODULE)
