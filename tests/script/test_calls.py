"""Calls of kernels: C functions, addresses of elements, intrinsics of LLVM and of TVM."""

import numpy as np
import pytest

import xrelax as tvm
from xrelax.ir.equality import assert_structural_equal
from xrelax.script import ScriptError, from_source

F8 = 'X: T.Buffer((8,), "float32"), Y: T.Buffer((8,), "float32")'
X8 = np.linspace(0, 4, 8, dtype="float32")


def test_intrinsics_of_llvm(kernel, call, round_trip):
    """In the reference evaluator, and in machine code."""
    program = kernel(
        F8,
        """
for i in range(8):
    root: T.let[T.float32] = T.call_llvm_pure_intrin("float32", "llvm.sqrt", T.uint32(1), X[i])
    name = T.llvm_lookup_intrinsic_id("llvm.fma.f32")
    Y[i] = T.call_llvm_intrin(name, X[i], root, T.float32(1), dtype="float32")
""",
    )
    round_trip(program)
    x, y = tvm.nd.array(X8), tvm.nd.empty((8,))
    tvm.build(program)(x, y)
    for found in (y.numpy(), call(program, X8, np.zeros(8, "float32"))[-1]):
        np.testing.assert_allclose(found, X8 * np.sqrt(X8) + 1, rtol=1e-6)


def test_the_address_of_an_element(kernel, round_trip):
    program = kernel(
        F8,
        """
for i in range(8):
    with T.block("Y"):
        vi = T.axis.spatial(8, i)
        T.reads(X[0:8])
        T.writes(Y[vi])
        Y[vi] = 0
        source: T.let[T.handle("float32")] = T.address_of(X[7 - vi], dtype="handle")
        T.evaluate(T.call_extern("void", "bcopy", source, T.address_of(Y[vi]), T.int64(4)))
T.evaluate(T.address_of(X))
""",
    )
    text = round_trip(program)
    assert '"bcopy", T.address_of(X[-vi + 7]), T.address_of(Y[vi]), T.int64(4)' in text
    assert "T.evaluate(T.address_of(X[0]))" in text
    x, y = tvm.nd.array(X8), tvm.nd.empty((8,))
    tvm.build(program)(x, y)
    np.testing.assert_array_equal(y.numpy(), X8[::-1])


REFUSED = [
    ('T.tvm_storage_sync("warp")', 'T.evaluate(T.tvm_storage_sync("warp"))', "tvm_storage_sync"),
    (
        "Y[0] = T.tvm_warp_shuffle(T.tvm_warp_activemask(), X[0], 1, 32, 32)",
        "T.tvm_warp_shuffle(T.tvm_warp_activemask(), X[0], T.int32(1)",
        "tvm_warp_activemask",
    ),
    (
        'a: T.let[T.handle("float32")] = T.tvm_struct_get(X.data, 1, 2, dtype="handle")\n'
        '    B = T.decl_buffer((8,), "float32", data=a)\n    Y[0] = B[0]',
        'a: T.handle("float32") = T.tvm_struct_get(X.data, T.int32(1), T.int32(2), dtype="handle")',
        "tvm_struct_get",
    ),
    (
        'a: T.let[T.handle("float32")] = T.tvm_struct_get(X.data, 1, 2, dtype="handle")',
        'a: T.handle("float32") = T.tvm_struct_get(X.data, T.int32(1), T.int32(2), dtype="handle")',
        "tvm_struct_get",
    ),
]


@pytest.mark.parametrize(("statement", "printed", "name"), REFUSED)
def test_intrinsics_that_cpus_lack(statement, printed, name):
    func = from_source(f"@T.prim_func\ndef f({F8}):\n    {statement}")
    assert printed in func.script()
    assert_structural_equal(from_source(func.script()), func)
    with pytest.raises(Exception, match=rf"expected calls that CPU code has, got T\.{name}$"):
        tvm.build(func)


def test_calls_without_a_result_are_no_values():
    with pytest.raises(ScriptError, match="expected a call with a result, got 'f' of void"):
        from_source(f'@T.prim_func\ndef f({F8}):\n    X[0] = T.call_extern("void", "f")')


def test_pointers_as_parameters():
    text = """
@T.prim_func
def f(x: T.handle("float32"), Y: T.Buffer((8,), "float32"){}):
    X = T.decl_buffer((8,), data=x)
    for i in range(8):
        Y[i] = X[i]
"""
    x, y = tvm.nd.array(X8), tvm.nd.empty((8,))
    tvm.build(from_source(text.format("")))(x, y)
    np.testing.assert_array_equal(y.numpy(), X8)
    func = from_source(text.format(', p: T.handle("void", "shared"), q: T.handle("int8", "local")'))
    printed = func.script()
    assert 'p: T.handle(storage_scope="shared"), q: T.handle("int8", "local")' in printed
    assert_structural_equal(from_source(printed), func)
    with pytest.raises(Exception, match=r"'@f': expected T\.match_buffer for 'p'"):
        tvm.build(func)


def test_the_memory_of_an_alias(kernel, round_trip):
    text = round_trip(
        kernel(
            F8,
            """
Z = T.decl_buffer((4, 2), "float32", data=X.data)
W = T.decl_buffer((2, 2), "float32", data=X.data, elem_offset=4)
T.evaluate(T.call_extern("void", "f", Z.data, W.data))
""",
        )
    )
    assert '"f", X.data, T.address_of(X[4])' in text
