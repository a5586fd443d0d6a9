"""Tensors that statements compute: loops, conditions and memory of their own."""

import numpy as np

import xrelax as tvm
from xrelax import te


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

    (count,) = te.extern([(n,)], [x], steps, ["int32"], axes=(n,), name="steps")
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

    outputs = te.extern([(1,), (1,)], [x], sums, ["int64", "int16"], name="sums")
    built = tvm.build(te.create_prim_func([x, *outputs], name="sums"))
    found = np.empty(1, "int64"), np.empty(1, "int16")
    built["sums"](np.array([3, 7]), *found)
    assert [int(f[0]) for f in found] == [3 + 4 + 5 + 6, 6]
