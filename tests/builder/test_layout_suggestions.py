"""`relax.analysis.suggest_layout_transforms`: maps that follow from the layout of outputs."""

import pytest

import xrelax as tvm
from xrelax import te, tir
from xrelax.relax.analysis import suggest_layout_transforms
from xrelax.script import tir as T


def texts(func, *maps):
    """The maps by the names of blocks and buffers."""
    found = suggest_layout_transforms(func, maps)
    return [
        {getattr(k, "name_hint", None) or k.name: str(m.map) for k, m in maps.items()}
        for maps in found.values()
    ]


def matmul_and_bias():
    k = te.reduce_axis((0, 16), "k")
    a, b = te.placeholder((4, 16), name="A"), te.placeholder((16, 8), name="B")
    bias = te.placeholder((8,), name="bias")
    product = te.compute((4, 8), lambda i, j: te.sum(a[i, k] * b[k, j], k), "product")
    return te.create_prim_func(
        [a, b, bias, te.compute((4, 8), lambda i, j: product[i, j] + bias[j], "Y")]
    )


def test_maps_of_outputs_reach_what_blocks_read():
    # The product is read by a block that follows: its map is found there, too late for itself.
    func = matmul_and_bias()
    (bias,) = texts(func, lambda i, j: (j // 4, i, j % 4))
    moved = "lambda i, j: (j // 4, i, j % 4)"
    assert bias == {"Y": moved, "product": moved, "bias": "lambda j: (j // 4, j % 4)"}


def test_reductions_keep_their_place():
    k = te.reduce_axis((0, 16), "k")
    x = te.placeholder((4, 8, 16), name="X")
    func = te.create_prim_func([x, te.compute((4, 8), lambda i, j: te.sum(x[i, j, k], k), "Y")])
    (sums,) = texts(func, lambda i, j: (j, i))
    assert sums["X"] == "lambda i, j, d2: (j, i, d2)"
    schedule = tvm.tir.Schedule(func)
    for block, maps in suggest_layout_transforms(func, [lambda i, j: (j, i)]).items():
        for part, index_map in maps.items():
            if isinstance(part, tir.SBlock):
                schedule.transform_block_layout(block.name_hint, index_map)
            else:
                assert tir.is_buffer_var(part)
                schedule.transform_layout(block.name_hint, part, index_map)
    assert [p.shape for p in schedule.func.params] == [(8, 4, 16), (8, 4)]
    first, _ = schedule.func.params
    assert (first.name, first.dtype, first.scope) == ("X", "float32", "global")
    assert (first.ty.shape, first.ty.dtype) == (first.shape, "float32")


@T.prim_func
def product_of_axes(X: T.Buffer((4, 4), "float32"), Y: T.Buffer((16, 4), "float32")):
    for i, j in T.grid(4, 4):
        with T.block("Y"):
            vi, vj = T.axis.remap("SS", [i, j])
            Y[vi * vj, vj] = X[vi, vj]


@T.prim_func
def joined(X: T.Buffer((4, 4), "float32"), Y: T.Buffer((16,), "float32")):
    for i, j in T.grid(4, 4):
        with T.block("Y"):
            vi, vj = T.axis.remap("SS", [i, j])
            Y[vi * 4 + vj] = X[vi, vj]


@T.prim_func
def transposed(X: T.Buffer((4, 8), "float32"), Y: T.Buffer((8, 4), "float32")):
    for i, j in T.grid(8, 4):
        with T.block("Y"):
            vi, vj = T.axis.remap("SS", [i, j])
            Y[vi, vj] = X[vj, vi]


def test_other_accesses_have_no_maps():
    assert texts(product_of_axes, lambda i, j: (j, i)) == []
    assert texts(joined, lambda i: (i // 4, i % 4)) == []
    assert [list(maps) for maps in texts(transposed, lambda i, j: (j, i))] == [["Y"]]
    # five does not divide the eight rows
    assert texts(transposed, lambda i, j: (i // 5, i % 5, j)) == []


def test_maps_that_do_not_fit():
    with pytest.raises(tvm.TVMError, match="expected a map of 2 indices for 'Y', got lambda i: "):
        suggest_layout_transforms(transposed, [lambda i: i])
    with pytest.raises(tvm.TVMError, match="expected at most 2 maps for 'joined', got 3"):
        suggest_layout_transforms(joined, [lambda i: i] * 3)
