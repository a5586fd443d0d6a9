"""Wrong statements of kernels: scalars, buffers, views, calls."""

import pytest

SCALARS = [
    (
        "    total = T.float32(0)\n    for i in range(8):\n        total = total + X[i]\n"
        "    Y[0] = total",
        "expected a new name, got 'total' of an enclosing scope: use a buffer for a value that "
        "changes",
        "total = total + X",
    ),
    (
        "    total = 0\n    for i in range(8):\n        total += 1\n    Y[0] = total",
        "expected a new name, got 'total' of an enclosing scope",
        "total += 1",
    ),
    (
        "    a = X[0]\n    if X[1] > 0:\n        a = X[1]\n    Y[0] = a",
        "expected a new name, got 'a' of an enclosing",
        "a = X[1]",
    ),
    (
        "    a = X[0]\n    while a > 0:\n        a = a - 1.0\n    Y[0] = a",
        "expected a new name, got 'a' of an enclosing",
        "a = a - 1.0",
    ),
    ("    for i in range(8):\n        a = X[i]\n    Y[0] = a", "name 'a' is not defined", "a"),
    (
        "    a: T.int33 = 1\n    Y[0] = a",
        "expected a scalar type such as T.int32, got 'T.int33'",
        "T.int33",
    ),
    ("    a: T.int32\n    Y[0] = 1", "expected a value", "a: T.int32"),
    ("    a = b = 1\n    Y[0] = 1", "expected one target of an assignment", "a = b"),
    ("    a, b = 1, 2, 3\n    Y[0] = a", "expected 3 names, got 2", "a, b"),
    (
        "    Z = T.alloc_buffer((8,))\n    Z = T.alloc_buffer((8,))",
        "expected a new name for the buffer, got 'Z' twice",
        "Z = T.alloc_buffer((8,))",
    ),
    (
        "    Z = T.alloc_buffer((8,))\n    Z = T.decl_buffer((4,), data=X.data)",
        "expected a new name for the buffer, got 'Z' twice",
        "Z = T.decl_buffer",
    ),
    ('    with T.block("b") as b:\n        Y[0] = 1', "expected a block without 'as'", "b:"),
    (
        '    with T.block("b"):\n        T.block_attr({"a": 1})\n        T.block_attr({"a": 2})\n'
        "        Y[0] = 1",
        "expected one value of annotation 'a', got two",
        'T.block_attr({"a": 2})',
    ),
    ("    t = T.launch_thread('x')\n    Y[t] = 1", "expected T.launch_thread(thread, ext", "T.l"),
    (
        '    Y[0] = T.IntImm("float32", 1)',
        "expected an integer or bool dtype of IntImm, got float32",
        "T.IntImm",
    ),
    (
        '    Y[0] = T.FloatImm("float32", X[0])',
        "expected a number for FloatImm, got X[0]",
        "T.FloatImm",
    ),
    ("    Y[1:5] = Y[0:4]", "expected to read 'Y' only where it is stored to", "Y[0:4]"),
    ("    Y[0:4] = X[0:5]", "expected 4 lanes, got 5", "0:5"),
    ("    Y[T.Ramp(0, 0, 4)] = X[0:4]", "expected a stride other than 0", "T.Ramp"),
    ("    Y[0:] = X[0:8]", "expected a slice with both ends, or T.Ramp", "0:]"),
    ("    Y[0] = T.Ramp(0, 1, 4)", "expected 'T.Ramp' in a store of several", "T.Ramp"),
    (
        "    Z = T.decl_buffer((9,), data=X.data)\n    Y[0] = Z[8]",
        "indices of dim 0 of 'X' take values in [8, 9), outside [0, 8)",
        "Y[0]",
    ),
    (
        '    Z = T.decl_buffer((8,), "int32", data=X.data)\n    Y[0] = Z[0]',
        "expected a compact buffer of int32, got 'X' of float32",
        "X.data",
    ),
    (
        "    Z = T.decl_buffer((8,), data=8)\n    Y[0] = Z[0]",
        "expected name = T.decl_buffer(…, data=buffer.data)",
        "T.decl",
    ),
    (
        "    Z = T.decl_buffer((8,), data=X.data)\n    W = T.match_buffer(Z[0:4], (4,))",
        "expected a region of 'X', whose memory 'Z' has",
        "Z[0:4]",
    ),
    (
        "    Z = T.alloc_buffer()\n    Y[0] = 1",
        "expected shape, dtype, scope, strides and align of a buffer, got 0 arguments",
        "T.alloc_buffer",
    ),
    ("    Y[0].dtype = 1", "expected a name", "Y[0].dtype"),
    (
        "    Y[0] = X.size",
        "expected access_ptr, data, dtype, elem_offset, name, shape or strides of a buffer, "
        "got 'size'",
        "X.size",
    ),
    (
        "    Y[0] = X[0].sqrt()",
        "expected the method astype(dtype) of an expression, got sqrt",
        "X[0].sqrt()",
    ),
    ("    X[0] + 1.0", "expected a statement of TensorIR, got 'X[0] + 1.0'", "X[0] +"),
    (
        "    for i in range(8):\n        Y[i] = 1\n    else:\n        Y[0] = 2",
        "expected a loop without 'else'",
        "Y[0] = 2",
    ),
    ("    assert X[0] > 0, 3", "expected a string, got a value of type int", "3"),
    (
        "    V = T.match_buffer(X[0:4], (5,))\n    Y[0] = V[0]",
        "expected a view of shape (4), got (5)",
        "T.match_buffer",
    ),
    (
        '    V = T.match_buffer(X[0:4], (4,), "int32")\n    Y[0] = V[0]',
        "expected a view of dtype float32, got int32",
        "T.match_buffer",
    ),
    (
        "    V = T.match_buffer(X[0:4], (4,), strides=[2])\n    Y[0] = V[0]",
        "expected the stride 1 of the source, got 2",
        "2",
    ),
    (
        '    Y[0] = T.reinterpret("int64", X[0])',
        "expected a value as wide as int64, got float32",
        "T.reinterpret",
    ),
    (
        '    Y[0] = T.call_extern("float32")',
        "expected T.call_extern(dtype, name, …)",
        "T.call_extern",
    ),
    ("    Y[0] = T.popcount(X[0])", "'popcount' expects an integer, got float32", "T.popcount"),
    ("    Y[0] = X[8]", "indices of dim 0 of 'X' take values in", "Y[0] ="),
    ("    Y[0] = 1 // 0", "integer division or modulo by zero", "1 // 0"),
    (
        "    for i in range(8):\n        Y[i] = i // (i - i)",
        "expected a divisor other than 0",
        "Y[i] =",
    ),
    (
        "    Y[0] = X[0] @ X[1]",
        "expected one of the operators + - * / // % ** & | ^ << >>",
        "X[0] @",
    ),
    ("    Y[0] = X[0] in (1, 2)", "expected one of the comparisons < <= > >= == !=", "X[0] in"),
]


@pytest.mark.parametrize(("body", "message", "at"), SCALARS)
def test_kernel_bodies(refused, body, message, at):
    params = 'X: T.Buffer((8,), "float32"), Y: T.Buffer((8,), "float32")'
    refused(f"@T.prim_func\ndef kernel({params}):\n{body}\n", message, at)


@pytest.mark.parametrize("line", ["A[0:2, 0:2] = 1.0", "A[0, 0:2] = A[0:2, T.Ramp(0, 1, 2)]"])
def test_accesses_have_one_slice(refused, line):
    text = f'@T.prim_func\ndef kernel(A: T.Buffer((4, 4), "float32")):\n    {line}\n'
    refused(text, "expected one slice or ramp, got '0:2, ", None)
