"""Wrong scripts: every error says where, shows the line with a caret, what was expected, what came."""

import re

import pytest

from xrelax.script import ScriptError, from_source

KERNEL = """
@T.prim_func
def kernel(x: T.handle, y: T.handle):
    n = T.int64()
    X = T.match_buffer(x, (n, 8), "float32")
    Y = T.match_buffer(y, (n,), "float32")
    for i, k in T.grid(n, 8):
        with T.block("Y"):
            vi, vk = T.axis.remap("SR", [i, k])
            with T.init():
                Y[vi] = T.float32(0)
            Y[vi] = Y[vi] + X[vi, vk]
"""
MODULE = """
@I.ir_module
class Module:
    @T.prim_func
    def scale(X: T.Buffer((4, 6), "float32"), Y: T.Buffer((4, 6), "float32")):
        for i, j in T.grid(4, 6):
            Y[i, j] = X[i, j] * T.float32(2)

    @R.function
    def main(x: R.Tensor((4, 6), "float32"), w: R.Tensor((6, 3), "float32")) -> R.Tensor((4, 3), "float32"):
        with R.dataflow():
            lv = R.call_tir(cls.scale, (x,), out_sinfo=R.Tensor((4, 6), "float32"))
            gv = R.matmul(lv, w)
            R.output(gv)
        return gv
"""

KERNELS = [
    ("X[vi, vk]", "Q[vi, vk]", "name 'Q' is not defined", "Q"),
    ("+ X[vi, vk]", "+ Xs[vi, vk]", "name 'Xs' is not defined, did you mean 'X'?", "Xs"),
    ("X[vi, vk]", "X[vi]", "expected 2 indices for 'X', got 1", "X[vi]"),
    ("X[vi, vk]", "X[vi, vk, vk]", "expected 2 indices for 'X', got 3", "X[vi, vk, vk]"),
    ("X[vi, vk]", "X[vi, 0.5]", "expected an integer index, got float32", "vi, 0.5"),
    ("X[vi, vk]", "X", "expected a scalar, got buffer 'X' of 2 dims", "X"),
    ("X[vi, vk]", "X[vi, vk + 1]", "indices of dim 1 of 'X' take values in [1, 9), outside [0, 8)", "Y[vi] ="),
    ("X[vi, vk]", "T.expp(X[vi, vk])", "expected a function of TensorIR, got 'T.expp', did you mean 'exp'?", "T.expp"),
    ("X[vi, vk]", "T.exp()", "'exp' expects 1 arguments, got 0", "T.exp()"),
    ("X[vi, vk]", "T.max(1)", "expected T.max(a, b), got 1 arguments", "T.max(1)"),
    ("X[vi, vk]", "R.exp(1)", "expected a function of TensorIR, got 'R.exp'", "R.exp"),
    ("X[vi, vk]", "X[vi, vk] << 1", "expected integers for 'shift_left', got float32", "Y[vi] + X[vi, vk] << 1"),
    ("X[vi, vk]", "vi / vk", "expected floats on both sides of '/', got int64 (use '//' or T.truncdiv)", "vi / vk"),
    ("X[vi, vk]", "(lambda: 1)", "expected an expression, got a lambda", "lambda"),
    ("X[vi, vk]", "[1 for q in X]", "expected an expression, got a comprehension", "[1 for"),
    ("X[vi, vk]", "T.float33(1)", "expected a function of TensorIR, got 'T.float33', did you mean 'float32'?", "T.float33"),
    ("T.float32(0)", "T.float32()", "expected T.float32(value), got 0 arguments", "T.float32()"),
    ("T.float32(0)", "T.float32('big')", "expected a number for T.float32, got 'big'", "T.float32"),
    ("T.float32(0)", "T.int8(300)", "expected a number of int8 in [-128, 127], got 300", "T.int8"),
    ("T.float32(0)", "T.int32(0.5)", "expected an integer for T.int32, got 0.5", "T.int32"),
    ("T.float32(0)", '"zero"', "expected a scalar expression, got the string 'zero'", '"zero"'),
    ("T.float32(0)", "None", "expected a scalar expression, got None", "None"),
    ('"SR", [i, k]', '"S", [i, k]', "expected as many kinds as axes and loop variables, got 1, 2 and 2", "T.axis.remap"),
    ('"SR", [i, k]', '"SR", [i]', "expected as many kinds as axes and loop variables, got 2, 2 and 1", "T.axis.remap"),
    ('"SR", [i, k]', '"SX", [i, k]', "expected kinds S and R, got 'X'", '"SX"'),
    ('"SR", [i, k]', '"SR", [i, k + 1]', "expected a loop variable", "k + 1"),
    ('vi, vk = T.axis.remap("SR", [i, k])', "vi, vk = T.axis.spatial(n, i), T.axis.reduce(4, k)",
     "binding of axis 'vk' takes values in [0, 8), outside its range [0, 4)", "with T.block"),
    ("X[vi, vk]", "X[vi, i]", None, None),
    ("            vi, vk = T.axis.remap", "            vj = T.axis.spatial(16, k)\n            vi, vk = T.axis.remap",
     "axis 'vj' does not cover its range [0, 16): its binding takes values in [0, 8)", "with T.block"),
    ("            vi, vk = T.axis.remap", "            vj = T.axis.spatial(4, k)\n            vi, vk = T.axis.remap",
     "binding of axis 'vj' takes values in [0, 8), outside its range [0, 4)", "with T.block"),
    ("            Y[vi] = Y[vi] +", "            Y[vk] = Y[vi] +", "reduction axis 'vk' of block 'Y' indexes its write to 'Y'", "with T.block"),
    ("            Y[vi] = Y[vi] +", "            Z[vi] = Y[vi] +", "name 'Z' is not defined", "Z"),
    ("            Y[vi] = Y[vi] +", "            Y = Y[vi] +", None, None),
    ("            Y[vi] = Y[vi] +", "            Y[0:2] = Y[vi] +", "expected an element of a buffer", "Y[0:2]"),
    ("            Y[vi] = Y[vi] +", "            return Y[vi] +", "expected a function that writes its outputs, got 'return'", "return"),
    ("            Y[vi] = Y[vi] +", "            import os; Y[vi] = Y[vi] +", "expected a statement of TensorIR, got 'import'", "import"),
    ("            Y[vi] = Y[vi] +", "            vi.x = Y[vi] +", "expected a name", "vi.x"),
    ("            Y[vi] = Y[vi] +", "            T.reads(X[vi, vk])\n            T.where()\n            Y[vi] = Y[vi] +",
     "expected T.where(…), got 0 arguments", "T.where()"),
    ("            Y[vi] = Y[vi] +", "            Y[vi] = 0\n            T.where(i < 2)\n            Y[vi] = Y[vi] +",
     "expected T.where at the start of a block", "T.where"),
    ("            with T.init():", "            T.where(vi < 2 or vk < 3)\n            with T.init():",
     "expected comparisons of integer expressions, joined by 'and'", "vi < 2 or"),
    ("            with T.init():", "            T.reads(Y[vi], Y[0:8:2])\n            with T.init():", "expected a slice without a step", "0:8:2"),
    ("            with T.init():", "            T.reads(vi)\n            with T.init():", "expected a buffer, got an integer expression", "vi)"),
    ("            with T.init():", "            with T.initt():", "expected T.block(…) or T.init(), got 'T.initt'", "T.initt"),
    ("            with T.init():", "            Y[vi] = 0\n            with T.init():",
     "expected T.init() first in a block, after its axes and regions", "with T.init"),
    ('with T.block("Y"):', "with T.block(7):", "expected a string, got a value of type int", "7"),
    ('with T.block("Y"):', 'with open("Y"):', "expected T.block(…) or T.init(), got 'open'", "open"),
    ("T.grid(n, 8)", "T.gird(n, 8)", "got 'T.gird', did you mean 'T.grid'?", "T.gird"),
    ("T.grid(n, 8)", "T.grid(n)", "expected 1 loop variables, got 2", "i, k in"),
    ("T.grid(n, 8)", "T.grid(n, 8.5)", "expected an integer index, got float32", "for i, k"),
    ("T.grid(n, 8)", "T.grid(n, -8)", "expected a loop extent of at least 0, got -8", "for i, k"),
    ("T.grid(n, 8)", "range(1, 2, 3)", "expected one or two bounds, got 3", "range(1"),
    ("T.grid(n, 8)", "T.grid(n, 8, step=2)", "expected loop options annotations or thread, got step", "T.grid"),
    ("T.grid(n, 8)", "T.grid(n, 8, annotations=3)", "expected a dict of attributes, got int", "for i, k"),
    ("T.grid(n, 8)", "zip(X, Y)", "got 'zip'", "zip(X"),
    ("i, k in", "i, X.k in", "expected a name for the loop variable", "X.k"),
    ("X = T.match_buffer(x, (n, 8)", "X = T.match_buffer(x, (q, 8)", "name 'q' is not defined", "q, 8"),
    ("X = T.match_buffer(x, (n, 8)", "X = T.match_buffer(x, (n * 2, 8)", None, None),
    ("X = T.match_buffer(x, (n, 8)", "X = T.match_buffer(x, (n, -8)", "expected buffer dims of at least 0, got -8", "X = T.match"),
    ("X = T.match_buffer(x, (n, 8)", "X = T.match_buffer(z, (n, 8)", "expected T.match_buffer for handle 'x'", "x: T.handle"),
    ('8), "float32")', '8), "float33")', "got 'float33'", '"float33"'),
    ('8), "float32")', '8), dtyp="float32")', "of a buffer, got dtyp", "T.match_buffer"),
    ("    Y = T.match_buffer", "    Y = T.alloc_buffer((8,)); Q = T.match_buffer", None, None),
    ('    Y = T.match_buffer(y, (n,), "float32")', "    pass", "expected T.match_buffer for handle 'y'", "y: T.handle"),
    ("x: T.handle", "x", "expected an annotation for parameter 'x', such as T.handle or R.Tensor", "x, y"),
    ("x: T.handle", "x: T.handel", "expected T.handle, T.Buffer(…) or a scalar type, got 'T.handel'", "T.handel"),
    ("x: T.handle", "x: 'T.handle('", "expected an expression, got 'T.handle('", "'T.handle('"),
    ("x: T.handle", "x: int", "expected T.handle, T.Buffer(…) or a scalar type, got 'int'", "int"),
    ("y: T.handle", "*y", "expected parameters 'name: annotation', without default or '*'", "y):"),
    ("y: T.handle", "y: T.handle = None", "expected parameters 'name: annotation', without default or '*'", "None"),
    ("@T.prim_func", "@T.prim_func(privat=True)", "expected options private, pure, check_well_formed, s_tir, got 'privat'", "True"),
]  # fmt: skip

SCALARS = [
    ("    total = T.float32(0)\n    for i in range(8):\n        total = total + X[i]\n    Y[0] = total",
     "expected a new name, got 'total' of an enclosing scope: use a buffer for what changes", "total = total + X"),
    ("    total = 0\n    for i in range(8):\n        total += 1\n    Y[0] = total",
     "expected a new name, got 'total' of an enclosing scope", "total += 1"),
    ("    a = X[0]\n    if X[1] > 0:\n        a = X[1]\n    Y[0] = a", "expected a new name, got 'a' of an enclosing", "a = X[1]"),
    ("    a = X[0]\n    while a > 0:\n        a = a - 1.0\n    Y[0] = a", "expected a new name, got 'a' of an enclosing", "a = a - 1.0"),
    ("    for i in range(8):\n        a = X[i]\n    Y[0] = a", "name 'a' is not defined", "a"),
    ("    a: T.int33 = 1\n    Y[0] = a", "expected a scalar type such as T.int32, got 'T.int33'", "T.int33"),
    ("    a: T.int32\n    Y[0] = 1", "expected a value", "a: T.int32"),
    ("    a = b = 1\n    Y[0] = 1", "expected one target of an assignment", "a = b"),
    ("    a, b = 1, 2, 3\n    Y[0] = a", "expected 3 names, got 2", "a, b"),
    ("    Z = T.alloc_buffer()\n    Y[0] = 1", "expected shape, dtype, scope and align of a buffer, got 0 arguments", "T.alloc_buffer"),
    ("    Y[0].dtype = 1", "expected a name", "Y[0].dtype"),
    ("    Y[0] = X.size", "expected data, dtype, name, shape or strides of a buffer, got 'size'", "X.size"),
    ("    Y[0] = X[0].sqrt()", "expected the method astype(dtype) of an expression, got sqrt", "X[0].sqrt()"),
    ("    X[0] + 1.0", "expected a statement of TensorIR, got 'X[0] + 1.0'", "X[0] +"),
    ("    for i in range(8):\n        Y[i] = 1\n    else:\n        Y[0] = 2", "expected a loop without 'else'", "Y[0] = 2"),
    ("    assert X[0] > 0, 3", "expected a string, got a value of type int", "3"),
    ("    V = T.match_buffer(X[0:4], (5,))\n    Y[0] = V[0]", "expected a view of shape (4), got (5)", "T.match_buffer"),
    ("    V = T.match_buffer(X[0:4], (4,), \"int32\")\n    Y[0] = V[0]", "expected a view of dtype float32, got int32", "T.match_buffer"),
    ("    V = T.match_buffer(X[0:4], (4,), strides=[2])\n    Y[0] = V[0]", "expected the stride 1 of the source, got 2", "2"),
    ("    Y[0] = T.reinterpret(\"int64\", X[0])", "expected a value as wide as int64, got float32", "T.reinterpret"),
    ("    Y[0] = T.call_extern(\"float32\")", "expected T.call_extern(dtype, name, …)", "T.call_extern"),
    ("    Y[0] = T.popcount(X[0])", "'popcount' expects an integer, got float32", "T.popcount"),
    ("    Y[0] = X[8]", "indices of dim 0 of 'X' take values in", "Y[0] ="),
    ("    Y[0] = 1 // 0", "integer division or modulo by zero", "1 // 0"),
    ("    for i in range(8):\n        Y[i] = i // (i - i)", "expected a divisor other than 0", "Y[i] ="),
    ("    Y[0] = X[0] @ X[1]", "expected one of the operators + - * / // % ** & | ^ << >>", "X[0] @"),
    ("    Y[0] = X[0] in (1, 2)", "expected one of the comparisons < <= > >= == !=", "X[0] in"),
]  # fmt: skip

MODULES = [
    ("cls.scale, (x,)", "cls.scala, (x,)", "the module has no PrimFunc 'scala', it has scale", "R.call_tir"),
    ("cls.scale, (x,)", "scala, (x,)", "the module has no PrimFunc 'scala', it has scale", "R.call_tir"),
    ("cls.scale, (x,)", "other.scale, (x,)", "expected a function of the module or a string, got 'other.scale'", "other.scale"),
    ("cls.scale, (x,)", "cls.scale, (x, w)", "'scale' expects 2 arguments (X, Y), got 2 inputs and 1 output", None),
    ("cls.scale, (x,)", "cls.scale, (w,)", "call of 'scale'", "R.call_tir"),
    ("R.Tensor((4, 6), \"float32\"))\n", "R.Tensor((4, 5), \"float32\"))\n", "expected shapes of 'relax.matmul' to fit, got (4, 5) and (6, 3)", "R.matmul"),
    ("R.Tensor((4, 6), \"float32\"))\n", "R.Tensor((4, 6), \"int32\"))\n            lv = x\n", "call of 'scale'", "R.call_tir"),
    (", out_sinfo=R.Tensor((4, 6), \"float32\"))\n", ")\n", "expected the type of the result, such as R.Tensor((1, n)", "R.call_tir"),
    ("out_sinfo=R.Tensor((4, 6)", "outsinfo=R.Tensor((4, 6)", "got outsinfo", "R.call_tir"),
    ("R.matmul(lv, w)", "R.matmull(lv, w)", "got 'R.matmull', did you mean 'R.matmul'?", "R.matmull"),
    ("R.matmul(lv, w)", "R.matmul(lv)", "expected lhs, rhs of 'relax.matmul', got no rhs", "R.matmul"),
    ("R.matmul(lv, w)", "R.matmul(lv, w, w)", "expected at most 2 arguments of 'relax.matmul', got 3", "R.matmul"),
    ("R.matmul(lv, w)", "R.matmul(lv, rsh=w)", "expected arguments lhs, rhs of 'relax.matmul', got 'rsh'", "w)"),
    ("R.matmul(lv, w)", "R.matmul(w, w)", "expected shapes of 'relax.matmul' to fit, got (6, 3) and (6, 3)", "R.matmul"),
    ("R.matmul(lv, w)", "R.matmul(lv, 2.0)", "expected a value of the graph, got 2.0: use R.const(2.0", "2.0"),
    ("R.matmul(lv, w)", "missing(lv, w)", "expected an operator or function of Relax, got 'missing'", "missing"),
    ("R.matmul(lv, w)", "cls.scale(lv, w)", "expected a graph function of the module, got 'scale'", "cls.scale"),
    ("R.matmul(lv, w)", "cls.main(lv)", "'main' expects 2 arguments, got 1", "cls.main"),
    ("R.matmul(lv, w)", "lv @ T", "expected a value of the graph, got 'T'", "T"),
    ("R.matmul(lv, w)", "lv[0]", None, "lv[0]"),
    ("R.matmul(lv, w)", "metadata[\"relax.expr.Constant\"][0]", "expected one of 0 constants of the metadata, got 0", "metadata"),
    ("R.matmul(lv, w)", "R.const([1, 2.5], \"int32\")", "expected numbers of int32, got [1, 2.5]", "R.const"),
    ("R.matmul(lv, w)", "R.const()", "expected R.const(value, dtype), got 'R.const()'", "R.const"),
    ("R.matmul(lv, w)", "R.call_packed(\"env.f\", lv, sinfo_args=(R.Tensor((4, 3), \"float32\"),))", "relax.call_packed", None),
    ("R.matmul(lv, w)", "R.alloc_tensor((4, 3), dtype=\"float32\")", "relax.alloc_tensor", None),
    ("        return gv", "        return lv", "expected a variable that its dataflow block outputs, got 'lv': add it to R.output(…)", "lv"),
    ("        return gv", "        return g", "name 'g' is not defined, did you mean 'gv'?", "g"),
    ("        return gv", "        return gv\n        x = gv", "expected nothing after 'return'", "x = gv"),
    ("        return gv", "        pass", "expected 'main' to return a value", "def main"),
    ("        return gv", "        while gv:\n            pass", "expected a statement of Relax, got 'while'", "while"),
    ("        return gv", "        R.output(gv)\n        return gv", "expected R.output inside a dataflow block", "R.output"),
    ("        return gv", "        a, b = gv\n        return a", "expected 1 names, got 2", "a, b"),
    ("        return gv", "        a: R.Tensor((3, 4), \"float32\") = gv\n        return a", "expected 'a' to be", "a: R.Tensor"),
    ("            R.output(gv)", "            pass", "expected the dataflow block to end with R.output(…)", "with R.dataflow"),
    ("            R.output(gv)", "            return gv", "expected 'return' with a value, outside of dataflow blocks", "return"),
    ("            R.output(gv)", "            R.output(gv)\n            gv = x", "expected R.output to be last in its dataflow block", "gv = x"),
    ("            R.output(gv)", "            R.output(x + x)", "expected the name of a variable of the dataflow block", "x + x"),
    ("            R.output(gv)", "            with R.dataflow():\n                R.output(gv)", "not nested", "with R.dataflow"),
    ("-> R.Tensor((4, 3)", "-> R.Tensor((4, 4)", "expected 'main' to return !relax.tensor<[4, 4], f32>, got !relax.tensor<[4, 3], f32>", "R.Tensor((4, 4)"),
    ("-> R.Tensor((4, 3), \"float32\")", "-> T.handle", "expected an annotation such as R.Tensor((1, \"n\"), \"float32\"), got 'T.handle'", "T.handle"),
    ("x: R.Tensor((4, 6), \"float32\")", "x: R.Tensor((4, 6), \"float3\")", "got 'float3'", "\"float3\""),
    ("x: R.Tensor((4, 6), \"float32\")", "x: R.Tensor((4, \"n +\"), \"float32\")", "expected an expression, got 'n +'", "\"n +\""),
    ("x: R.Tensor((4, 6), \"float32\")", "x: R.Tensor((4, \"f(n)\"), \"float32\")", "name 'f' is not defined", "\"f(n)\""),
    ("x: R.Tensor((4, 6), \"float32\")", "x: R.Tensor((4, \"n * 2\"), \"float32\")", "symbol 'n' is not determined by the parameters of 'main'", None),
    ("x: R.Tensor((4, 6), \"float32\")", "x: R.Tensor((4, -6), \"float32\")", "expected a dim of at least 0, got -6", "-6"),
    ("x: R.Tensor((4, 6), \"float32\")", "x: R.Tensor((4, 6.5), \"float32\")", "expected a dim to be a number, a symbol or a string, got '6.5'", "6.5"),
    ("x: R.Tensor((4, 6), \"float32\")", "x: R.Tensor((4, 6), \"float32\", 2)", "expected shape, dtype and ndim of R.Tensor, got 3 arguments", "R.Tensor"),
    ("x: R.Tensor((4, 6), \"float32\")", "x: R.Tensr((4, 6), \"float32\")", "got 'R.Tensr((4, 6), 'float32')'", "R.Tensr"),
    ("x: R.Tensor((4, 6), \"float32\")", "x", "expected an annotation for parameter 'x', such as T.handle or R.Tensor", "x, w"),
    ("w: R.Tensor", "x: R.Tensor", "expected distinct parameter names, got 'x' twice", "x: R.Tensor((6"),
    ("    @R.function\n", "", "expected a function decorated with T.prim_func or R.function", "def main"),
    ("    @R.function\n", "    size = 3\n    @R.function\n", "expected functions or I.module_attrs(…), got 'size = 3'", "size = 3"),
    ("def main", "def scale", "expected distinct function names, got 'scale' twice", "def scale"),
    ("@I.ir_module", "", "expected a class decorated with I.ir_module or a decorated function", "class Module"),
    ("class Module:", "class Module", "expected ':'", ""),
]  # fmt: skip


def failing(text, message, at):
    if message is None and at is None:  # a program that is right: the table shows where the border is
        from_source(text)
        return
    with pytest.raises(ScriptError) as caught:
        from_source(text)
    shown = str(caught.value)
    head, line, caret = shown.split("\n")
    assert message is None or message in head
    place = re.match(r"<script>:(\d+):(\d+): error: (.+)$", head)
    assert place is not None, head
    assert line == text.split("\n")[int(place[1]) - 1]
    assert caret == " " * (int(place[2]) - 1) + "^"
    if at is not None:
        assert line[int(place[2]) - 1 :].startswith(at), shown


@pytest.mark.parametrize(("old", "new", "message", "at"), KERNELS)
def test_kernels(old, new, message, at):
    assert old in KERNEL
    failing(KERNEL.replace(old, new, 1), message, at)


@pytest.mark.parametrize(("body", "message", "at"), SCALARS)
def test_kernel_bodies(body, message, at):
    params = 'X: T.Buffer((8,), "float32"), Y: T.Buffer((8,), "float32")'
    failing(f"@T.prim_func\ndef kernel({params}):\n{body}\n", message, at)


@pytest.mark.parametrize(("old", "new", "message", "at"), MODULES)
def test_modules(old, new, message, at):
    assert old in MODULE
    failing(MODULE.replace(old, new, 1), message, at)


def test_columns_count_characters():
    text = MODULE.replace("gv = R", '"äöü"; gv = gw + R')
    with pytest.raises(ScriptError, match=r":13:25: error: name 'gw'"):
        from_source(text)


def test_an_error_in_a_function_of_the_user_is_at_its_call():
    def broken(value):
        raise RuntimeError("does not work\nat all")

    text = KERNEL.replace("X[vi, vk]", "broken(1)")
    with pytest.raises(ScriptError, match=r":12:29: error: does not work\n") as caught:
        from_source(text, {"broken": broken})
    assert isinstance(caught.value.__cause__, RuntimeError)


def test_metadata_that_is_none():
    with pytest.raises(ScriptError, match=r"<script>:1:1: error: .*\nmetadata = "):
        from_source('metadata = {"relax.expr.Constant": [{"dtype": "float32"}]}\n' + MODULE)
