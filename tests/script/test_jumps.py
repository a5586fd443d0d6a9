"""Jumps, results, calls of kernels and attributes of statements."""

import numpy as np
import pytest

import xrelax as tvm
from xrelax.ir.equality import assert_structural_equal
from xrelax.script import ScriptError, from_source

A4 = 'A: T.Buffer((4,), "int32")'
FORMS = [
    ("return A[0] * 2", "return A[0] * T.int32(2)", "writes its results to buffers, got 'return'"),
    ("T.evaluate(T.ret(T.uint8(3)))", " -> T.uint8:\n    return T.uint8(3)", "got 'return'"),
    (
        'T.attr(A.data, "storage_alignment", 128)\n    A[0] = 1',
        'with T.attr(A.data, "storage_alignment", T.int32(128)):\n        A[0] = T.int32(1)',
        "attributes of statements that CPU code has, got 'storage_alignment'",
    ),
    (
        'with T.attr(T.comm_reducer(lambda x, y: x + y, [0]), "reduce_scope", "x"):\n'
        "        A[0] = 1",
        'with T.attr(T.comm_reducer(lambda x, y: x + y, [0]), "reduce_scope", "x"):',
        "got 'reduce_scope'",
    ),
    (
        'B = T.decl_buffer((2, 2), "int32", data=A.data)\n'
        '    T.attr(B.data, "storage_alignment", 128)\n    B[1, 0] = 1',
        'with T.attr(A.data, "storage_alignment", T.int32(128)):\n        A[2] = T.int32(1)',
        "got 'storage_alignment'",
    ),
    (
        'for i in range(4):\n        with T.attr(i, "reduce_scope", "x"):\n            A[i] = 1',
        'with T.attr(T.Cast("int32", i), "reduce_scope", "x"):',
        "got 'reduce_scope'",
    ),
]


@pytest.mark.parametrize(("statements", "printed", "message"), FORMS)
def test_forms_that_are_refused_at_the_conversion(statements, printed, message):
    func = from_source(f"@T.prim_func\ndef f({A4}):\n    {statements}")
    assert printed in func.script()
    assert_structural_equal(from_source(func.script()), func)
    with pytest.raises(Exception, match=message):
        tvm.build(func)


def test_the_status_at_the_end_and_pragmas():
    func = from_source(f"""
@T.prim_func
def f({A4}) -> T.int32:
    with T.attr(0, "pragma_auto_unroll_max_step", 16):
        A[1] = 7
    return 0
""")
    a = tvm.nd.empty((4,), "int32")
    tvm.build(func)(a)
    assert a.numpy()[1] == 7


MODULE = """
@I.ir_module
class Mod:
    @T.prim_func
    def main(A: T.Buffer((4,), "float32")):
        Mod.fill(A.data, T.int32(4))
        Mod.square(A[0]) + Mod.square(A[1])
        A[2] = Mod.square(A[3])
        while Mod.square(A[2]) > A[1]:
            A[2] = 0

    @T.prim_func
    def fill(A: T.handle("float32"), n: T.int32):
        T.evaluate(0)

    @T.prim_func
    def square(x: T.float32) -> T.float32:
        return x * x
"""


def test_calls_of_kernels():
    module = from_source(MODULE)
    text = module.script()
    assert "T.evaluate(Module.fill(A.data, T.int32(4)))" in text
    assert "A[2] = Module.square(A[3])" in text
    assert_structural_equal(from_source(text), module)
    with pytest.raises(ScriptError, match="expected a kernel of the module, got 'cube'"):
        from_source(MODULE.replace("Mod.square(A[3])", "Mod.cube(A[3])"))
    with pytest.raises(ScriptError, match="expected 1 arguments of 'square', got 2"):
        from_source(MODULE.replace("Mod.square(A[3])", "Mod.square(A[3], A[2])"))
    with pytest.raises(Exception, match="a kernel without calls of others, got one of 'square'"):
        tvm.build(from_source(MODULE.replace("Mod.fill(A.data, T.int32(4))", "pass")))


JUMPS = [
    (
        """
for i in range(8):
    if X[i] < 0:
        continue
    Y[i] = X[i]
    if X[i] > 4:
        break
    Y[i] += 10
""",
        [0, 0, 0, 10, 11, 5, 0, 0],
    ),
    (
        """
for i in range(8):
    for j in range(8):
        if j == i:
            T.evaluate(T.break_loop())
        Y[i] += 1
    if i % 2 == 0:
        continue
    Y[i] = -Y[i]
""",
        [0, -1, 2, -3, 4, -5, 6, -7],
    ),
    (
        """
n = T.alloc_buffer((1,), "int32")
n[0] = 0
while X[n[0]] < 100:
    n[0] = n[0] + 1
    if n[0] == 8:
        break
    if n[0] % 2 == 0:
        continue
    Y[n[0]] = n[0]
""",
        [0, 1, 0, 3, 0, 5, 0, 7],
    ),
    (
        """
for i in T.parallel(8):
    with T.block("Y"):
        vi = T.axis.spatial(8, i)
        for j in range(8):
            if X[j] > X[vi]:
                break
            Y[vi] = j
            if j > 3:
                continue
            Y[vi] = Y[vi] + 1
            break
            Y[vi] = 100
""",
        [1, 1, 1, 1, 1, 1, 1, 1],
    ),
]


@pytest.mark.parametrize(("statements", "expected"), JUMPS)
def test_jumps(kernel, call, round_trip, statements, expected):
    """In the reference evaluator, and in machine code."""
    x = np.array([-7, -2, -1, 0, 1, 5, 8, 50], "int32")
    program = kernel('X: T.Buffer((8,), "int32"), Y: T.Buffer((8,), "int32")', statements)
    round_trip(program)
    np.testing.assert_array_equal(call(program, x, np.zeros(8, "int32"))[-1], expected)
    y = tvm.nd.array(np.zeros(8, "int32"))
    tvm.build(program)(tvm.nd.array(x), y)
    np.testing.assert_array_equal(y.numpy(), expected)


def test_kernels_with_jumps_keep_their_loops():
    func = from_source(f"@T.prim_func\ndef f({A4}):\n    for i in range(4):\n        break")
    assert "        break" in func.script()
    with pytest.raises(tvm.tir.ScheduleError, match="without 'break' and 'continue'"):
        tvm.tir.Schedule(func)
