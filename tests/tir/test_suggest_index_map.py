"""`suggest_index_map`: the layout in which loops access a buffer in the order of memory."""

import itertools

import numpy as np
import pytest

import xrelax as tvm
from xrelax import tir
from xrelax.script import from_source
from xrelax.tir.schedule_analysis import suggest_index_map


def loops(**extents: int):
    return [
        tir.For(tir.Var(name, "int64"), 0, extent, tir.ForKind.SERIAL, tir.Evaluate(0))
        for name, extent in extents.items()
    ]


def variables(*names: str):
    return [tir.Var(name, "int64") for name in names]


def suggested(shape, indices, nest):
    return suggest_index_map(tir.decl_buffer(shape), indices, nest, True)


def test_digits_of_loops_become_dims():
    i, j = variables("i", "j")
    found = suggested([4, 24], [j // 6, i * 6 + j % 6], loops(i=4, j=24))
    assert str(found) == "T.index_map(lambda i0, i1: (i1 // 6, i0, i1 % 6))"
    turned = suggested([3, 5], [j, i], loops(i=5, j=3))
    assert turned.map_indices([2, 4]) == [4, 2]


@pytest.mark.parametrize("split", [(4, 6), (2, 12), (8, 3)])
def test_elements_are_accessed_in_order(split):
    outer, inner = split
    i, j = variables("i", "j")
    indices = [j % inner, i * outer + j // inner]
    found = suggested([inner, 24], indices, loops(i=24 // outer, j=24))
    assert found is not None
    dims = found.map_shape([inner, 24])
    order = []
    for values in itertools.product(range(24 // outer), range(24)):
        row, column = values[1] % inner, values[0] * outer + values[1] // inner
        order.append(np.ravel_multi_index(found.map_indices([row, column]), dims))
    assert order == list(range(24 * inner))


def test_the_suggestion_is_a_layout_of_a_schedule():
    sch = tir.Schedule(
        from_source("""
@T.prim_func
def main(X: T.Buffer((8, 12)), Y: T.Buffer((12, 8))):
    T_ = T.alloc_buffer((8, 12))
    for i, j in T.grid(8, 12):
        with T.block("T"):
            vi, vj = T.axis.remap("SS", [i, j])
            T_[vi, vj] = X[vi, vj] * 2.0
    for i, j in T.grid(12, 8):
        with T.block("Y"):
            vi, vj = T.axis.remap("SS", [i, j])
            Y[vi, vj] = T_[vj, vi]
""")
    )
    nest = [sch.get(loop) for loop in sch.get_loops("Y")]
    i, j = (loop.loop_var for loop in nest)
    found = suggest_index_map(sch.get(sch.get_block("Y")).reads[0].buffer, [j, i], nest)
    sch.transform_layout("T", ("write", 0), found)
    assert "Y[vi, vj] = T_[vi, vj]" in sch.mod.script()
    x = np.random.default_rng(0).standard_normal((8, 12), np.float32)
    y = tvm.runtime.tensor(np.zeros((12, 8), np.float32))
    tvm.build(sch.mod)(tvm.runtime.tensor(x), y)
    np.testing.assert_array_equal(y.numpy(), x.T * 2)


def test_no_suggestion():
    i, j, n = variables("i", "j", "n")
    assert suggested([n, 8], [i, j], loops(i=4, j=8)) is None  # dims that are not known
    assert suggested([8, 8], [i, j], loops(i=4, j=8)) is None  # half of the elements
    assert suggested([8], [i * 2], loops(i=4)) is None
    assert suggested([4, 4], [i, i], loops(i=4)) is None
    assert suggested([4], [i, j], loops(i=4, j=8)) is None
    assert suggested([6, 4], [i * 4 + j // 2, j % 2 * 2], loops(i=3, j=4)) is None
    fused = i * 8 + j
    assert suggested([8, 6], [fused // 6, fused % 6], loops(i=6, j=8)) is None  # digits of sums
    assert suggested([8, 6], [fused // 6, fused % 6], loops(j=8)) is None
    assert suggested([2, 3], [(j * 2 + i) // 3, (j * 2 + i) % 3], loops(j=3, i=2)) is None
