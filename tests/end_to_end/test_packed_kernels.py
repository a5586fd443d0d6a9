"""Kernels that call registered functions, with `T.call_packed`."""

import numpy as np
import pytest

import xrelax as tvm
from xrelax import relax, te, tir
from xrelax.script import from_source
from xrelax.script import ir as I
from xrelax.script import relax as R
from xrelax.script import tir as T

NOTES: list[tuple[object, ...]] = []


@tvm.register_func("test.packed_note", override=True)
def _note(*args: object) -> int:
    NOTES.append(tuple(a if isinstance(a, int | float | str) else a.numpy().copy() for a in args))
    return 7


@tvm.register_func("test.packed_add", override=True)
def _add(buffer: tvm.nd.NDArray, number: int) -> None:
    buffer.copyfrom(buffer.numpy() + number)


@tvm.register_func("test.packed_matmul", override=True)
def _matmul(a: tvm.nd.NDArray, b: tvm.nd.NDArray, c: tvm.nd.NDArray) -> None:
    c.copyfrom(a.numpy() @ b.numpy())


def test_arguments_of_every_kind():
    """Symbols, elements, scratch memory, strings and conditions; the result is an int32."""

    @I.ir_module
    class Module:
        @T.prim_func
        def kernel(a: T.handle, B: T.Buffer((2,), "int32")):
            n = T.int64()
            A = T.match_buffer(a, (n,), "uint8")
            s = T.alloc_buffer((2,), "float32")
            for i in range(2):
                s[i] = T.Cast("float32", i) * 1.5
            for i in range(2):
                B[i] = T.call_packed("test.packed_note", A, i, n, A[i], s, "t", s[i] > 1.0) + i

        @R.function
        def main(x: R.Tensor(("n",), "uint8")) -> R.Tensor((2,), "int32"):
            return R.call_tir(Module.kernel, (x,), R.Tensor((2,), "int32"))

    tvm.ir.assert_structural_equal(from_source(Module.script()), Module)
    vm = relax.VirtualMachine(relax.build(Module, check=True), tvm.cpu())
    NOTES.clear()
    np.testing.assert_array_equal(vm["main"](np.array([4, 250, 1], "uint8")), [7, 8])
    assert [n[1:4] + n[5:] for n in NOTES] == [(0, 3, 4, "t", False), (1, 3, 250, "t", True)]
    for note in NOTES:
        np.testing.assert_array_equal(note[0], [4, 250, 1])
        np.testing.assert_array_equal(note[4], [0, 1.5])


def test_what_a_function_writes_is_read_after_it():
    @T.prim_func
    def count(B: T.Buffer((4,), "float32"), C: T.Buffer((4,), "float32")):
        T.func_attr({"tir.noalias": True})
        for i in range(4):
            T.call_packed("test.packed_add", B, i)
            C[i] = B[0]

    b, c = np.zeros(4, "float32"), np.zeros(4, "float32")
    tvm.build(count)["count"](b, c)
    np.testing.assert_array_equal(c, [0, 1, 3, 6])
    np.testing.assert_array_equal(b, [6, 6, 6, 6])


def test_a_tensor_that_a_function_computes():
    rng = np.random.default_rng(0)
    a, b = te.placeholder((4, 3), name="A"), te.placeholder((3, 2), name="B")
    c = te.extern(
        (4, 2), [a, b], lambda ins, outs: tir.call_packed("test.packed_matmul", *ins, *outs)
    )
    d = te.compute((4, 2), lambda i, j: c[i, j] + 1.0, name="D")
    x, y = rng.random((4, 3), np.float32), rng.random((3, 2), np.float32)
    found = np.empty((4, 2), "float32")
    tvm.build(te.create_prim_func([a, b, d]))["main"](x, y, found)
    np.testing.assert_allclose(found, x @ y + 1)


def test_exceptions_reach_the_caller():
    @T.prim_func
    def kernel(A: T.Buffer((4,), "float32")):
        for i in T.parallel(4):
            T.call_packed("test.packed_add", A, "one")

    with pytest.raises(TypeError, match="ufunc"):
        tvm.build(kernel)["kernel"](np.zeros(4, "float32"))
