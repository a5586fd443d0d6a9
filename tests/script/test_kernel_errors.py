"""Wrong kernels: every error says where and shows the line, what was expected and what came."""

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
KERNELS = [
    ("X[vi, vk]", "Q[vi, vk]", "name 'Q' is not defined", "Q"),
    ("+ X[vi, vk]", "+ Xs[vi, vk]", "name 'Xs' is not defined, did you mean 'X'?", "Xs"),
    ("X[vi, vk]", "X[vi]", "expected 2 indices for 'X', got 1", "X[vi]"),
    ("X[vi, vk]", "X[vi, vk, vk]", "expected 2 indices for 'X', got 3", "X[vi, vk, vk]"),
    ("X[vi, vk]", "X[vi, 0.5]", "expected an integer index, got float32", "vi, 0.5"),
    ("X[vi, vk]", "X", "expected a scalar, got buffer 'X' of 2 dims", "X"),
    (
        "X[vi, vk]",
        "X[vi, vk + 1]",
        "indices of dim 1 of 'X' take values in [1, 9), outside [0, 8)",
        "Y[vi] =",
    ),
    (
        "X[vi, vk]",
        "T.expp(X[vi, vk])",
        "expected a function of TensorIR, got 'T.expp', did you mean 'exp'?",
        "T.expp",
    ),
    ("X[vi, vk]", "T.exp()", "'exp' expects 1 arguments, got 0", "T.exp()"),
    ("X[vi, vk]", "T.max(1)", "expected T.max(a, b, more), got 1 arguments", "T.max(1)"),
    ("X[vi, vk]", "R.exp(1)", "expected a function of TensorIR, got 'R.exp'", "R.exp"),
    (
        "X[vi, vk]",
        "X[vi, vk] << 1",
        "expected integers for 'shift_left', got float32",
        "Y[vi] + X[vi, vk] << 1",
    ),
    (
        "X[vi, vk]",
        "vi / vk",
        "expected floats on both sides of '/', got int64 (use '//' or T.truncdiv)",
        "vi / vk",
    ),
    ("X[vi, vk]", "(lambda: 1)", "expected an expression, got a lambda", "lambda"),
    ("X[vi, vk]", "[1 for q in X]", "expected an expression, got a comprehension", "[1 for"),
    (
        "X[vi, vk]",
        "T.float33(1)",
        "expected a function of TensorIR, got 'T.float33', did you mean 'float32'?",
        "T.float33",
    ),
    ("T.float32(0)", "T.float32()", "expected T.float32(value), got 0 arguments", "T.float32()"),
    ("T.float32(0)", "T.float32('big')", "expected a number for T.float32, got 'big'", "T.float32"),
    ("T.float32(0)", "T.int8(300)", "expected a number of int8 in [-128, 127], got 300", "T.int8"),
    ("T.float32(0)", "T.int32(0.5)", "expected an integer for T.int32, got 0.5", "T.int32"),
    ("T.float32(0)", '"zero"', "expected a scalar expression, got the string 'zero'", '"zero"'),
    ("T.float32(0)", "None", "expected a scalar expression, got None", "None"),
    (
        '"SR", [i, k]',
        '"S", [i, k]',
        "expected as many kinds as axes and loop variables, got 1, 2 and 2",
        "T.axis.remap",
    ),
    (
        '"SR", [i, k]',
        '"SR", [i]',
        "expected as many kinds as axes and loop variables, got 2, 2 and 1",
        "T.axis.remap",
    ),
    ('"SR", [i, k]', '"SX", [i, k]', "expected kinds S and R, got 'X'", '"SX"'),
    ('"SR", [i, k]', '"SR", [i, k + 1]', "expected a loop variable", "k + 1"),
    (
        'vi, vk = T.axis.remap("SR", [i, k])',
        "vi, vk = T.axis.spatial(n, i), T.axis.reduce(4, k)",
        "binding of axis 'vk' takes values in [0, 8), outside its range [0, 4)",
        "with T.block",
    ),
    ("X[vi, vk]", "X[vi, i]", None, None),
    (
        "            vi, vk = T.axis.remap",
        "            vj = T.axis.reduce(16, k)\n            vi, vk = T.axis.remap",
        None,
        None,
    ),
    (
        '"SR", [i, k]',
        '"SS", [i, k]',
        "block 'Y' accumulates in 'Y' along spatial axis 'vk'",
        "with T.block",
    ),
    (
        "            vi, vk = T.axis.remap",
        "            vj = T.axis.spatial(4, k)\n            vi, vk = T.axis.remap",
        "binding of axis 'vj' takes values in [0, 8), outside its range [0, 4)",
        "with T.block",
    ),
    (
        "            Y[vi] = Y[vi] +",
        "            Y[vk] = Y[vi] +",
        "reduction axis 'vk' of block 'Y' indexes its write to 'Y'",
        "with T.block",
    ),
    ("            Y[vi] = Y[vi] +", "            Z[vi] = Y[vi] +", "name 'Z' is not defined", "Z"),
    ("            Y[vi] = Y[vi] +", "            Y = Y[vi] +", None, None),
    (
        "            Y[vi] = Y[vi] +",
        "            Y[0:2] = Y[vi] +",
        "expected to read 'Y' only where it is stored to",
        "Y[vi]",
    ),
    (
        "            Y[vi] = Y[vi] +",
        "            return; Y[vi] = Y[vi] +",
        "expected 'return' with a value",
        "return",
    ),
    (
        "            Y[vi] = Y[vi] +",
        "            import os; Y[vi] = Y[vi] +",
        "expected a statement of TensorIR, got 'import'",
        "import",
    ),
    ("            Y[vi] = Y[vi] +", "            vi.x = Y[vi] +", "expected a name", "vi.x"),
    (
        "            Y[vi] = Y[vi] +",
        "            T.reads(X[vi, vk])\n            T.where()\n            Y[vi] = Y[vi] +",
        "expected T.where(…), got 0 arguments",
        "T.where()",
    ),
    (
        "            Y[vi] = Y[vi] +",
        "            Y[vi] = 0\n            T.where(i < 2)\n            Y[vi] = Y[vi] +",
        "expected T.where at the start of a block",
        "T.where",
    ),
    (
        "            with T.init():",
        "            T.where(not vi < 2)\n            with T.init():",
        "expected comparisons of integer expressions, joined by 'and' and 'or'",
        "not vi < 2",
    ),
    (
        "            with T.init():",
        "            T.where(X[i, k] < 0)\n            with T.init():",
        "expected a block whose predicate reads buffers to have no T.init",
        'with T.block("Y"):',
    ),
    (
        "            Y[vi] = Y[vi] +",
        "            v = X[vi, vk]\n            T.where(X[i, k] < 0)\n            Y[vi] = Y[vi] +",
        "expected a block whose predicate reads buffers before its statements",
        "X[i, k] < 0",
    ),
    (
        "            with T.init():",
        "            T.reads(Y[vi], Y[0:8:2])\n            with T.init():",
        "expected a slice without a step",
        "0:8:2",
    ),
    (
        "            with T.init():",
        "            T.reads(vi)\n            with T.init():",
        "expected a buffer, got an integer expression",
        "vi)",
    ),
    (
        "            with T.init():",
        "            with T.initt():",
        "expected T.block(…) or T.init(), got 'T.initt'",
        "T.initt",
    ),
    (
        "            with T.init():",
        "            Y[vi] = 0\n            with T.init():",
        "expected T.init() first in a block, after its axes and regions",
        "with T.init",
    ),
    ('with T.block("Y"):', "with T.block(7):", "expected a string, got a value of type int", "7"),
    (
        'with T.block("Y"):',
        'with open("Y"):',
        "expected T.block(…) or T.init(), got 'open'",
        "open",
    ),
    ("T.grid(n, 8)", "T.gird(n, 8)", "got 'T.gird', did you mean 'T.grid'?", "T.gird"),
    ("T.grid(n, 8)", "T.grid(n)", "expected 1 loop variables, got 2", "i, k in"),
    ("T.grid(n, 8)", "T.grid(n, 8.5)", "expected an integer index, got float32", "for i, k"),
    ("T.grid(n, 8)", "T.grid(n, -8)", "expected a loop extent of at least 0, got -8", "for i, k"),
    ("T.grid(n, 8)", "T.serial(1, 2, 3)", "expected one or two bounds, got 3", "T.serial(1"),
    ("T.grid(n, 8)", "range(1, 9, 0)", "expected a step of at least 1, got 0", "range(1"),
    (
        "T.grid(n, 8)",
        "T.grid(n, 8, step=2)",
        "expected loop options annotations, step or thread, got step",
        "T.grid",
    ),
    (
        "T.grid(n, 8)",
        "T.grid(n, 8, annotations=3)",
        "expected a dict of attributes, got int",
        "for i, k",
    ),
    ("T.grid(n, 8)", "zip(X, Y)", "got 'zip'", "zip(X"),
    ("i, k in", "i, X.k in", "expected a name for the loop variable", "X.k"),
    (
        "X = T.match_buffer(x, (n, 8)",
        "X = T.match_buffer(x, (q, 8)",
        "name 'q' is not defined",
        "q, 8",
    ),
    ("X = T.match_buffer(x, (n, 8)", "X = T.match_buffer(x, (n * 2, 8)", None, None),
    (
        "X = T.match_buffer(x, (n, 8)",
        "X = T.match_buffer(x, (n, -8)",
        "expected buffer dims of at least 0, got -8",
        "X = T.match",
    ),
    (
        "X = T.match_buffer(x, (n, 8)",
        "X = T.match_buffer(z, (n, 8)",
        "name 'z' is not defined",
        "z, (n, 8)",
    ),
    ('8), "float32")', '8), "float33")', "got 'float33'", '"float33"'),
    ('8), "float32")', '8), dtyp="float32")', "of a buffer, got dtyp", "T.match_buffer"),
    ("    Y = T.match_buffer", "    Y = T.alloc_buffer((8,)); Q = T.match_buffer", None, None),
    (
        '    Y = T.match_buffer(y, (n,), "float32")',
        "    pass",
        "name 'Y' is not defined",
        "Y[vi] = T.float32(0)",
    ),
    (
        "x: T.handle",
        "x",
        "expected an annotation for parameter 'x', such as T.handle or R.Tensor",
        "x, y",
    ),
    (
        "x: T.handle",
        "x: T.handel",
        "expected T.handle, T.Buffer(…) or a scalar type, got 'T.handel'",
        "T.handel",
    ),
    ("x: T.handle", "x: 'T.handle('", "expected an expression, got 'T.handle('", "'T.handle('"),
    ("x: T.handle", "x: int", "expected T.handle, T.Buffer(…) or a scalar type, got 'int'", "int"),
    ("y: T.handle", "*y", "expected parameters 'name: annotation', without default or '*'", "y):"),
    (
        "y: T.handle",
        "y: T.handle = None",
        "expected parameters 'name: annotation', without default or '*'",
        "None",
    ),
    (
        "@T.prim_func",
        "@T.prim_func(privat=True)",
        "expected options private, pure, check_well_formed, s_tir, got 'privat'",
        "True",
    ),
]


@pytest.mark.parametrize(("old", "new", "message", "at"), KERNELS)
def test_kernels(refused, old, new, message, at):
    assert old in KERNEL
    refused(KERNEL.replace(old, new, 1), message, at)


def test_an_error_in_a_function_of_the_user_is_at_its_call():
    def broken(value):
        raise RuntimeError("does not work\nat all")

    text = KERNEL.replace("X[vi, vk]", "broken(1)")
    with pytest.raises(ScriptError, match=r":12:29: error: does not work\n") as caught:
        from_source(text, {"broken": broken})
    assert isinstance(caught.value.__cause__, RuntimeError)
