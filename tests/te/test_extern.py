"""Tensors that statements compute: loops, conditions and memory of their own."""

import numpy as np
import pytest

import xrelax as tvm
from xrelax import te, tir
from xrelax.script import tir as T


def test_collatz_steps():
    """Each element takes as many turns of a loop as its data say."""
    n = te.var("n")
    x = te.placeholder((n,), "int64", name="x")

    def steps(ib, inputs, outputs, i):
        (number,), (count,) = inputs, outputs
        state = ib.allocate("int64", (1,), "state")
        ib.store(state, (0,), number(i))
        ib.store(count, (i,), 0)
        with ib.while_loop(state(0) > 1):
            before = ib.let(state(0))
            ib.store(state, (0,), before // 2)
            with ib.if_scope(before % 2 == 1):
                ib.store(state, (0,), 3 * before + 1)
            ib.store(count, (i,), count(i) + 1)

    (count,) = te.statements([(n,)], [x], steps, ["int32"], axes=(n,), name="steps")
    built = tvm.build(te.create_prim_func([x, count], name="collatz"))
    found = np.empty(7, "int32")
    built["collatz"](np.arange(1, 8), found)
    np.testing.assert_array_equal(found, [0, 1, 7, 2, 5, 8, 16])


def test_a_loop_between_bounds_from_data():
    x = te.placeholder((2,), "int64", name="x")

    def sums(ib, inputs, outputs):
        (bounds,), (total, last) = inputs, outputs
        ib.store(total, (0,), 0)
        ib.store(last, (0,), 0)
        with ib.for_range(bounds(0), bounds(1)) as i:
            ib.store(total, (0,), total(0) + i)
            ib.store(last, (0,), i)

    outputs = te.statements([(1,), (1,)], [x], sums, ["int64", "int16"], name="sums")
    built = tvm.build(te.create_prim_func([x, *outputs], name="sums"))
    found = np.empty(1, "int64"), np.empty(1, "int16")
    built["sums"](np.array([3, 7]), *found)
    assert [int(f[0]) for f in found] == [3 + 4 + 5 + 6, 6]


def test_c_functions_compute_tensors():
    x = te.placeholder((4, 3), name="x")
    count = te.const(48, "int64")

    def copy(ins, outs):
        assert tir.is_buffer_var(ins[0]) and outs[0].shape == (4, 3) and outs[0].dtype == "float32"
        return tir.call_extern("void", "memcpy", outs[0].access_ptr("w"), ins[0].data, count)

    y = te.extern((4, 3), [x], copy, name="y")
    z = te.compute(y.shape, lambda i, j: y[i, j] + 1.0, name="z")
    values, found = np.arange(12, dtype="float32").reshape(4, 3), np.empty((4, 3), "float32")
    tvm.build(te.create_prim_func([x, z]))["main"](values, found)
    np.testing.assert_array_equal(found, values + 1)
    pair = te.extern([(4,), (3,)], [], lambda ins, outs: [], dtype=["int32", "int8"], tag="pair")
    assert [(t.shape, t.dtype, t.value_index) for t in pair] == [
        ((4,), "int32", 0),
        ((3,), "int8", 1),
    ]
    assert pair[0].op.tag == "pair"


def test_what_extern_refuses():
    x, y = te.placeholder((4,), name="x"), te.placeholder((4,), "int8", name="y")
    for wrong, kind, message in (
        (lambda: te.extern((4,), [x, y], lambda i, o: []), ValueError, "got float32, int8"),
        (
            lambda: te.extern((4,), [x], lambda i, o: o[0][0] + 1.0),
            TypeError,
            r"expected call_extern\(…\) or call_packed\(…\) as the computation of 'extern', "
            "got Binary",
        ),
        (
            lambda: te.extern((4,), [x], lambda i, o: [], dtype=["int8", "int8"]),
            ValueError,
            "expected 1 dtypes for 'extern', got 2",
        ),
        (
            lambda: te.extern((4,), [x], lambda i, o: tir.call_extern("", "f", o[0].data, y[0])),
            ValueError,
            "expected 'y' among the inputs of 'extern'",
        ),
        (
            lambda: te.extern((4,), x, lambda i, o: tir.call_extern("", "f", o[0].data)),
            TypeError,
            "expected a list of tensors, got the tensor 'x'",
        ),
    ):
        with pytest.raises(kind, match=message):
            wrong()


@T.prim_func
def doubled(A: T.Buffer((4,), "float32"), C: T.Buffer((4,), "float32")):
    for i in range(4):
        with T.block("C"):
            vi = T.axis.spatial(4, i)
            C[vi] = A[vi] * 2.0


def test_prim_funcs_compute_tensors():
    x = te.placeholder((4,), name="x")
    y = te.compute((4,), lambda i: x[i] + 1.0, name="C")
    z = te.extern_primfunc([y], doubled, name="z")
    assert [b.name for b in (*z.op.input_placeholders, *z.op.output_placeholders)] == ["A", "C"]
    values, found = np.arange(4, dtype="float32"), np.empty(4, "float32")
    tvm.build(te.create_prim_func([x, z]))["main"](values, found)
    np.testing.assert_array_equal(found, 2 * (values + 1))
    with pytest.raises(ValueError, match=r"expected 'A' of 'extern' to be !tir.buffer<\[4\], f32>"):
        te.extern_primfunc([te.placeholder((5,))], doubled)
    with pytest.raises(ValueError, match="expected 1 inputs of 'extern', got 2"):
        te.extern_primfunc([x, y], doubled)
    with pytest.raises(TypeError, match="expected a PrimFunc for 'extern', got int"):
        te.extern_primfunc([x], 3)
    with pytest.raises(TypeError, match="expected a list of tensors, got the tensor 'x'"):
        te.extern_primfunc(x, doubled)


def test_a_block_of_statements_needs_no_axis():
    x = te.placeholder((3,), name="x")
    y = te.extern((3,), [x], lambda i, o: tir.call_packed("f", i[0], o[0]), name="y")
    one = te.compute((), lambda: y[0] + 1, name="one")
    text = te.create_prim_func([x, one]).script()
    assert 'with T.block("y"):\n        T.reads()' in text
    assert 'with T.block("one"):\n        vi = T.axis.spatial(1, 0)' in text
