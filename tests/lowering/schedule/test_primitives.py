"""Inlining, moving and shrinking: results stay, shapes of the loops change, misuse is refused."""

import numpy as np
import pytest
from xdsl.dialects.builtin import ModuleOp

from xrelax.dialects import tir
from xrelax.dialects.diagnostics import verify
from xrelax.lowering.schedule.blocks import ScheduleError, blocks_in
from xrelax.lowering.schedule.compact import compact_buffer
from xrelax.lowering.schedule.compute_at import compute_at, reverse_compute_at
from xrelax.lowering.schedule.inline import compute_inline
from xrelax.lowering.schedule.loops import reorder, split
from xrelax.lowering.schedule.reverse_inline import reverse_compute_inline
from xrelax.reference.evaluate import evaluate
from xrelax.script import from_source


def function(body, x="(6, 8)", y="(6, 8)", scratch="(6, 8)"):
    text = f"""
@T.prim_func
def f(X: T.Buffer({x}, "float32"), Y: T.Buffer({y}, "float32")):
    S = T.alloc_buffer({scratch}, "float32")
{body}
"""
    return from_source(text).op.clone()


def compact(func):
    for op in [op for op in func.walk() if isinstance(op, tir.AllocBufferOp)]:
        compact_buffer(op)


def stage(name, target, value, grid="6, 8", kinds="SS"):
    axes = "ijk"[: len(kinds)]
    names = ", ".join(f"v{a}" for a in axes)
    init = f"\n            with T.init():\n                {target} = T.float32(0)"
    return f"""
    for {", ".join(axes)} in T.grid({grid}):
        with T.block("{name}"):
            {names} = T.axis.remap("{kinds}", [{", ".join(axes)}]){init if "R" in kinds else ""}
            {target} = {value}"""


def swapped(func):
    """The function with its first nest after the others: a script that says so is refused."""
    block = func.body.block
    first = next(op for op in block.ops if isinstance(op, tir.ForOp))
    first.detach()
    block.add_op(first)
    return func


def run(func, x, shape):
    module = ModuleOp([func.clone()])
    verify(module)
    return evaluate(module, "f", [x, np.zeros(shape, np.float32)])[1]


def named(func, name):
    return next(b for b in blocks_in(func) if b.block_name.data == name)


def loops_of(func):
    return [op for op in func.walk() if isinstance(op, tir.ForOp)]


def same_after(func, change, x_shape=(6, 8), y_shape=(6, 8)):
    x = np.random.default_rng(0).integers(-4, 5, x_shape).astype(np.float32)
    before = run(func, x, y_shape)
    change(func)
    np.testing.assert_array_equal(run(func, x, y_shape), before)
    return func


DOUBLE = stage("S", "S[vi, vj]", "X[vi, vj] * T.float32(2)")


@pytest.mark.parametrize(
    ("target", "value", "grid", "y"),
    [
        ("Y[vi, vj]", "S[vi, vj] + S[vi, vj]", "6, 8", (6, 8)),
        ("Y[vi, vj]", "S[vj, vi]", "8, 6", (8, 6)),
        ("Y[vi, vj]", "S[vi // 2, vi % 2 * 4 + vj]", "12, 4", (12, 4)),
        ("Y[vi, vj]", "S[vi * 2, vj] - S[vi * 2 + 1, vj]", "3, 8", (3, 8)),
        ("Y[vi, vj]", "T.if_then_else(vi > 1, S[vi - 2, vj], X[vi, vj])", "6, 8", (6, 8)),
    ],
)
def test_inline_into_other_indices(target, value, grid, y):
    func = function(DOUBLE + stage("Y", target, value, grid), y=y)
    same_after(func, lambda f: compute_inline(named(f, "S")), y_shape=y)
    assert [b.block_name.data for b in blocks_in(func)] == ["Y"]
    assert not any(isinstance(op, tir.AllocBufferOp) for op in func.walk())


def test_equal_loads_share_what_they_compute():
    func = function(DOUBLE + stage("Y", "Y[vi, vj]", "S[vi, vj] + S[vi, vj] * S[vi, vj]"))
    same_after(func, lambda f: compute_inline(named(f, "S")))
    assert sum(op.name == "tir.load" for op in func.walk()) == 1


def test_inline_into_a_reduction():
    total = stage("Y", "Y[vi]", "Y[vi] + S[vi, vj]", kinds="SR")
    func = function(DOUBLE + total, y="(6,)")
    same_after(func, lambda f: compute_inline(named(f, "S")), y_shape=(6,))


def test_inline_keeps_the_dtype_of_the_buffer():
    text = """
@T.prim_func
def f(X: T.Buffer((4,), "float32"), Y: T.Buffer((4,), "float32")):
    S = T.alloc_buffer((4,), "float16")
    for i in range(4):
        with T.block("S"):
            vi = T.axis.spatial(4, i)
            S[vi] = T.Cast("float16", X[vi])
    for i in range(4):
        with T.block("Y"):
            vi = T.axis.spatial(4, i)
            Y[vi] = T.Cast("float32", S[vi] + S[vi]) * T.float32(3)
"""
    func = from_source(text).op.clone()
    x = np.array([0.1, 1e-9, 4e4, 7e4], np.float32)
    before = evaluate(ModuleOp([func.clone()]), "f", [x, np.zeros(4, np.float32)])[1]
    compute_inline(named(func, "S"))
    after = evaluate(ModuleOp([func]), "f", [x, np.zeros(4, np.float32)])[1]
    np.testing.assert_array_equal(after, before)
    assert np.isinf(after[2:]).all() and after[0] != np.float32(0.1) * 6


def test_reverse_inline():
    func = function(DOUBLE + stage("Y", "Y[vi, vj]", "S[vj, vi] + T.float32(1)", "8, 6"), y=(8, 6))
    same_after(func, lambda f: reverse_compute_inline(named(f, "Y")), y_shape=(8, 6))
    assert [b.block_name.data for b in blocks_in(func)] == ["S"]


TOTAL = stage("S", "S[vi]", "S[vi] + X[vi, vj]", kinds="SR")
SPREAD = stage("Y", "Y[vi, vj]", "X[vi, vj] - S[vi]")


def test_reverse_compute_at_and_compact():
    func = function(TOTAL + SPREAD, scratch="(6,)")

    def change(func):
        outer = loops_of(func)[0]
        made = reverse_compute_at(named(func, "Y"), outer)
        assert len(made) == 1 and made[0].parent_op() is outer
        compact(func)

    same_after(func, change)
    (alloc,) = [op for op in func.walk() if isinstance(op, tir.AllocBufferOp)]
    assert str(alloc.result.type) == "!tir.buffer<[1], f32>"
    assert alloc.parent_op() is loops_of(func)[0]


@pytest.mark.parametrize("factor", [1, 2, 3, 6])
def test_reverse_compute_at_a_tile(factor):
    func = function(TOTAL + SPREAD, scratch="(6,)")

    def change(func):
        rows, steps, *_ = loops_of(func)
        outer, inner = split(rows, [None, factor])
        reorder([outer, steps, inner])
        reverse_compute_at(named(func, "Y"), loops_of(func)[0])
        compact(func)

    same_after(func, change)
    (alloc,) = [op for op in func.walk() if isinstance(op, tir.AllocBufferOp)]
    assert alloc.result.type.dims[0].constant == factor


def test_compute_at_makes_what_an_iteration_needs():
    window = stage("Y", "Y[vi, vj]", "S[vi, vj] + S[vi + 1, vj]", "5, 8")
    func = function(DOUBLE + window, y="(5, 8)")

    def change(func):
        target = loops_of(func)[2]
        made = compute_at(named(func, "S"), target)
        assert [loop.extent.data.constant for loop in made] == [2, 8]
        compact(func)

    same_after(func, change, y_shape=(5, 8))
    (alloc,) = [op for op in func.walk() if isinstance(op, tir.AllocBufferOp)]
    assert [d.constant for d in alloc.result.type.dims] == [2, 8]


def refused(func, change, message):
    before = str(func)
    with pytest.raises(ScheduleError, match=message):
        change(func)
    assert str(func) == before


def test_what_inlining_refuses():
    copy = stage("Y", "Y[vi, vj]", "S[vi, vj]")
    refused(
        function(DOUBLE + copy),
        lambda f: compute_inline(named(f, "Y")),
        "expected 'Y' to be a scratch buffer, got a parameter",
    )
    refused(
        function(TOTAL + SPREAD, scratch="(6,)"),
        lambda f: compute_inline(named(f, "S")),
        "expected block 'S' to have spatial axes only",
    )
    mirrored = stage("S", "S[5 - vi, vj]", "X[vi, vj]")
    refused(
        function(mirrored + copy),
        lambda f: compute_inline(named(f, "S")),
        "expected block 'S' to store each element of 'S' at its axes",
    )
    changed = stage("X", "X[vi, vj]", "X[vi, vj] + T.float32(1)")
    refused(
        function(DOUBLE + changed + copy),
        lambda f: compute_inline(named(f, "S")),
        "expected 'X' not to change between block 'S' and where its result is used",
    )
    refused(
        swapped(function(DOUBLE + copy)),
        lambda f: compute_inline(named(f, "S")),
        "expected 'S' to be loaded after it is stored",
    )
    refused(
        function(DOUBLE + stage("Y", "Y[vi, vj]", "S[vi // 2, vj]")),
        lambda f: reverse_compute_inline(named(f, "Y")),
        "expected block 'Y' to load 'S' at indices that determine its axes",
    )


def test_what_moving_refuses():
    refused(
        function(TOTAL + SPREAD, scratch="(6,)"),
        lambda f: reverse_compute_at(named(f, "Y"), loops_of(f)[1]),
        "expected",
    )
    refused(
        function(DOUBLE + stage("Y", "Y[vi, vj]", "S[5 - vi, vj]")),
        lambda f: reverse_compute_at(named(f, "Y"), loops_of(f)[0]),
        "expected block 'Y' to load 'S' at its axes",
    )
    refused(
        swapped(function(TOTAL + SPREAD, scratch="(6,)")),
        lambda f: reverse_compute_at(named(f, "Y"), loops_of(f)[2]),
        "expected block 'Y' to come after the loop",
    )
    between = stage("X", "X[vi, vj]", "S[vi] + T.float32(1)")
    refused(
        function(TOTAL + between + SPREAD, scratch="(6,)"),
        lambda f: reverse_compute_at(named(f, "Y"), loops_of(f)[0]),
        "expected nothing to use 'X' between block 'Y' and its new position",
    )
    refused(
        function(TOTAL + SPREAD, scratch="(6,)"),
        lambda f: compute_at(named(f, "S"), loops_of(f)[0]),
        "expected the loop not to be an ancestor of block 'S'",
    )
    changed = stage("X", "X[vi, vj]", "X[vi, vj] + T.float32(1)")
    refused(
        function(DOUBLE + changed + stage("Y", "Y[vi, vj]", "S[vi, vj]")),
        lambda f: compute_at(named(f, "S"), loops_of(f)[4]),
        "expected nothing to use 'X' between block 'S' and its new position",
    )
