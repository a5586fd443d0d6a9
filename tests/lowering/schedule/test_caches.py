"""Copies in scratch memory, layouts and decomposed reductions: results stay, misuse is refused."""

import numpy as np
import pytest
from xdsl.dialects.builtin import ModuleOp

from xrelax.dialects import tir
from xrelax.dialects.diagnostics import verify
from xrelax.lowering.schedule.blocks import ScheduleError, blocks_in, loops_around
from xrelax.lowering.schedule.cache import cache_read, cache_write
from xrelax.lowering.schedule.layout import transform_layout
from xrelax.lowering.schedule.loops import reorder, split
from xrelax.lowering.schedule.reduction import decompose_reduction
from xrelax.reference.evaluate import evaluate
from xrelax.script import from_source

ROWS = """
@T.prim_func
def f(X: T.Buffer((6, 8), "float32"), Y: T.Buffer((6,), "float32")):
    for i, k in T.grid(6, 8):
        with T.block("Y"):
            vi, vk = T.axis.remap("SR", [i, k])
            with T.init():
                Y[vi] = T.float32(0)
            Y[vi] = Y[vi] + X[vi, vk]
"""

TWICE = """
@T.prim_func
def f(X: T.Buffer((6, 8), "float32"), Y: T.Buffer((6, 8), "float32")):
    S = T.alloc_buffer((6, 8), "float32")
    for i, j in T.grid(6, 8):
        with T.block("S"):
            vi, vj = T.axis.remap("SS", [i, j])
            S[vi, vj] = X[vi, vj] * T.float32(2)
    for i, j in T.grid(6, 8):
        with T.block("Y"):
            vi, vj = T.axis.remap("SS", [i, j])
            Y[vi, vj] = S[vi, vj] + X[5 - vi, vj]
"""


def function(text):
    return from_source(text).op.clone()


def named(func, name):
    return next(b for b in blocks_in(func) if b.block_name.data == name)


def run(func):
    module = ModuleOp([func.clone()])
    verify(module)
    x = np.random.default_rng(0).integers(-4, 5, (6, 8)).astype(np.float32)
    shape = [d.constant for d in func.params[1].type.dims]
    return evaluate(module, "f", [x, np.zeros(shape, np.float32)])[1]


@pytest.fixture(params=[ROWS, TWICE])
def func(request):
    return function(request.param)


def test_cache_write(func):
    before = run(func)
    copy = cache_write(named(func, "Y"), 0, "local")
    assert copy.block_name.data == "Y_local"
    assert [b.block_name.data for b in blocks_in(func)][-1] == "Y_local"
    assert named(func, "Y").write_buffers[0].type.scope.data == "local"
    np.testing.assert_array_equal(run(func), before)


def test_cache_write_copies_no_more_than_a_block_writes():
    func = function(ROWS.replace("Y: T.Buffer((6,)", "Y: T.Buffer((8,)"))
    split(loops_around(named(func, "Y"))[0], [None, 4])
    copy = cache_write(named(func, "Y"), 0, "local")
    assert [loop.extent.data.constant for loop in loops_around(copy)] == [6]
    y = np.full(8, 7, np.float32)
    found = evaluate(ModuleOp([func]), "f", [np.ones((6, 8), np.float32), y])[1]
    np.testing.assert_array_equal(found, [8] * 6 + [7] * 2)


def test_cache_read_of_a_parameter_and_of_a_scratch_buffer():
    for index in (0, 1):
        func = function(TWICE)
        before, block = run(func), named(func, "Y")
        name = block.read_buffers[index].name_hint
        copy = cache_read(block, index, "global")
        assert copy.block_name.data == f"{name}_global"
        np.testing.assert_array_equal(run(func), before)


def test_cache_read_for_several_consumers():
    func = function(TWICE)
    before, blocks = run(func), blocks_in(func)
    (x,) = [i for i, b in enumerate(blocks[1].read_buffers) if b.name_hint == "X"]
    copy = cache_read(blocks[1], x, "global", [blocks[0]])
    assert blocks_in(func)[0] is copy
    assert all(b.read_buffers[0] is not func.params[0] for b in blocks)
    np.testing.assert_array_equal(run(func), before)


def test_transform_layout():
    func = function(TWICE)
    before = run(func)
    block = named(func, "S")
    panels = transform_layout(block, block.write_buffers[0], lambda e: [e[1] // 4, e[0], e[1] % 4])
    assert [d.constant for d in panels.type.dims] == [2, 6, 4]
    np.testing.assert_array_equal(run(func), before)


def test_transform_layout_of_a_parameter_changes_its_type():
    func = function(ROWS)
    block = named(func, "Y")
    transform_layout(block, func.params[0], lambda e: [e[1], e[0]])
    verify(ModuleOp([func.clone()]))
    assert [d.constant for d in func.params[0].type.dims] == [8, 6]


@pytest.mark.parametrize("outer", ["k", "i"])
def test_decompose_reduction(outer):
    func = function(ROWS)
    before, block = run(func), named(func, "Y")
    i, k = loops_around(block)
    i_outer, i_inner = split(i, [None, 4])  # which leaves a predicate
    reorder([i_outer, k, i_inner])
    init = decompose_reduction(block, k if outer == "k" else i_outer)
    assert (init.block_name.data, block.block_name.data) == ("Y_init", "Y_update")
    assert block.init is None and set(init.axis_kinds) == {"spatial"}
    assert len(loops_around(init)) == 2 and k not in loops_around(init)
    np.testing.assert_array_equal(run(func), before)


def refused(change, message):
    with pytest.raises(ScheduleError, match=message):
        change()


def test_misuse():
    func = function(TWICE)
    block, text = named(func, "Y"), str(func)
    loop = loops_around(block)[0]
    refused(lambda: cache_read(block, 5, "global"), "to read more than 5 buffers, got 2")
    refused(lambda: cache_write(block, 1, "global"), "to write more than 1 buffers, got 1")
    refused(lambda: decompose_reduction(block, loop), "to have an initialization")
    other = named(func, "S").write_buffers[0]
    refused(lambda: transform_layout(named(func, "S"), func.params[1], list), "to use 'Y'")
    assert other.name_hint == "S" and str(func) == text
    func = function(ROWS)
    block = named(func, "Y")
    loops = loops_around(block)
    reorder(loops[::-1])
    refused(lambda: decompose_reduction(block, loops[0]), "to be bound to a loop around loop 'i'")
    assert isinstance(loops[0], tir.ForOp)


def test_a_buffer_that_another_block_changes_is_not_cached():
    text = TWICE.replace("Y[vi, vj] = S", "S[vi, vj] = S").replace("X[5 - vi, vj]", "X[vi, vj]")
    block = blocks_in(function(text))[1]
    refused(lambda: cache_write(block, 0, "global"), "expected only block 'Y' to store to 'S'")
