"""`rfactor` keeps what a reduction computes, and says where it cannot."""

import numpy as np
import pytest
from xdsl.dialects.builtin import ModuleOp

from xrelax import build
from xrelax.dialects import tir
from xrelax.dialects.diagnostics import verify
from xrelax.lowering.schedule.blocks import ScheduleError, blocks_in, loops_around
from xrelax.lowering.schedule.loops import split
from xrelax.lowering.schedule.rfactor import rfactor
from xrelax.reference.evaluate import evaluate
from xrelax.script import from_source
from xrelax.tir import Schedule

SUM = """
@T.prim_func
def kernel(X: T.Buffer(({n}, {m}), "float32"), Y: T.Buffer(({n},), "float32")):
    for i, k in T.grid({n}, {m}):
        with T.block("Y"):
            vi, vk = T.axis.remap("SR", [i, k])
            with T.init():
                Y[vi] = T.float32({init})
            Y[vi] = {update}
"""


def function(text, **values):
    module = ModuleOp([from_source(text.format(**values)).op.clone()])
    return module, next(op for op in module.body.block.ops if isinstance(op, tir.PrimFuncOp))


def numbers(*shape):
    return np.random.default_rng(0).integers(-3, 4, shape).astype(np.float32)


@pytest.mark.parametrize("axis", [0, 1, -1, -2])
@pytest.mark.parametrize(("n", "m"), [(3, 12), (1, 1), (5, 13), (4, 3), (0, 4), (2, 0)])
@pytest.mark.parametrize("which", [0, 1])
def test_sums(n, m, axis, which):
    module, func = function(SUM, n=n, m=m, init=0, update="Y[vi] + X[vi, vk] * X[vi, vk]")
    (block,) = blocks_in(func)
    made = split(loops_around(block)[1], [None, 4])
    partial = rfactor(made[which], axis)
    verify(module)
    assert partial.block_name.data == "Y_rf" and block.block_name.data == "Y"
    x = numbers(n, m)
    got = evaluate(module, "kernel", [x, np.full(n, np.nan, np.float32)])[-1]
    np.testing.assert_array_equal(got, (x * x).sum(1))


@pytest.mark.parametrize(
    ("update", "init", "expected"),
    [
        ("T.max(Y[vi], X[vi, vk])", -10, lambda x: x.max(1)),
        ("T.min(X[vi, vk], Y[vi])", 10, lambda x: x.min(1)),
        ("X[vi, vk] * Y[vi]", 1, lambda x: x.prod(1)),
        ("X[vi, vk] * Y[vi]", 3, lambda x: 3 * x.prod(1)),
        ("Y[vi] + X[vi, vk]", 2, lambda x: 2 + x.sum(1)),
    ],
)
def test_other_reductions(update, init, expected):
    module, func = function(SUM, n=3, m=10, init=init, update=update)
    rfactor(split(loops_around(blocks_in(func)[0])[1], [None, 4])[1])
    verify(module)
    x = numbers(3, 10)
    got = evaluate(module, "kernel", [x, np.zeros(3, np.float32)])[-1]
    np.testing.assert_array_equal(got, expected(x))


@pytest.mark.parametrize("init", ["T.float32(2)", "B[vi]"])
def test_default_schedules_begin_sums_once(init):
    function = from_source(f"""
@T.prim_func
def main(X: T.Buffer((3, 40000), "float32"), B: T.Buffer((3,), "float32"),
         Y: T.Buffer((3,), "float32")):
    for i, k in T.grid(3, 40000):
        with T.block("Y"):
            vi, vk = T.axis.remap("SR", [i, k])
            with T.init():
                Y[vi] = {init}
            Y[vi] = Y[vi] + X[vi, vk]
""")
    x, start, got = numbers(3, 40000), np.full(3, 2, np.float32), np.zeros(3, np.float32)
    build(function)["main"](x, start, got)
    np.testing.assert_array_equal(got, x.sum(1) + 2)


def test_partial_results_lie_beside_memory_that_each_iteration_has():
    module, func = function("""
@T.prim_func
def kernel(X: T.Buffer((4, 6), "float32"), Y: T.Buffer((4,), "float32")):
    for i in range(4):
        S = T.alloc_buffer((1,), "float32")
        for k in range(6):
            with T.block("S"):
                vi, vk = T.axis.remap("SR", [i, k])
                with T.init():
                    S[vi - i] = T.float32(0)
                S[vi - i] = S[vi - i] + X[vi, vk]
        with T.block("Y"):
            vi = T.axis.spatial(4, i)
            Y[vi] = S[vi - i]
""")
    block = blocks_in(func)[0]
    around = loops_around(block)
    rfactor(around[-1])
    verify(module)
    made = [op for op in module.walk() if isinstance(op, tir.AllocBufferOp)]
    assert [op.parent_op() for op in made] == [around[0]] * 2
    x = numbers(4, 6)
    (y,) = evaluate(module, "kernel", [x, np.zeros(4, np.float32)])[-1:]
    np.testing.assert_array_equal(y, x.sum(1))


def test_partial_results_that_no_value_reaches_are_left_out():
    module, func = function(SUM, n=2, m=3, init=0, update="Y[vi] + X[vi, vk]")
    (block,) = blocks_in(func)
    rfactor(split(loops_around(block)[1], [None, 8])[1])
    assert len(block.predicates.data) == 1
    got = evaluate(module, "kernel", [numbers(2, 3), np.zeros(2, np.float32)])[-1]
    np.testing.assert_array_equal(got, numbers(2, 3).sum(1))


@pytest.mark.parametrize(
    ("update", "message"),
    [
        ("X[vi, vk] - Y[vi]", "expected block 'Y' to combine 'Y' with one value"),
        ("Y[vi] + X[vi, vk] * Y[vi]", "expected block 'Y' to combine 'Y' with one value"),
        ("Y[vi] + Y[0]", "expected block 'Y' to load from 'Y' only the element that it stores"),
        (
            "T.Select(X[vi, vk] > Y[vi] + T.float32(1), X[vi, vk], Y[vi])",
            "expected block 'Y' to select by comparisons whose result",
        ),
    ],
)
def test_wrong_reductions(update, message):
    module, func = function(SUM, n=3, m=4, init=0, update=update)
    before = str(module)
    with pytest.raises(ScheduleError, match=message):
        rfactor(loops_around(blocks_in(func)[0])[1])
    assert str(module) == before


def test_wrong_loops():
    module, func = function(SUM, n=3, m=4, init=0, update="Y[vi] + X[vi, vk]")
    before, (outer, inner) = str(module), loops_around(blocks_in(func)[0])
    with pytest.raises(ScheduleError, match="expected the loop to be bound to a reduction axis"):
        rfactor(outer)
    with pytest.raises(ScheduleError, match="expected factor_axis of block 'Y' from -2 to 1"):
        rfactor(inner, 2)
    assert str(module) == before


ARGMAX = """
@T.prim_func
def main(X: T.Buffer((3, 8), "float32"), P: T.Buffer((3,), "int64"), Y: T.Buffer((3,), "float32")):
    for i, k in T.grid(3, 8):
        with T.block("Y"):
            vi, vk = T.axis.remap("SR", [i, k])
            with T.init():
                {init}
                Y[vi] = T.float32(-1000)
            p: T.int64 = T.Select(Y[vi] >= X[vi, vk], P[vi], T.int64(vk))
            y: T.float32 = T.Select(Y[vi] >= X[vi, vk], Y[vi], X[vi, vk])
            P[vi] = p
            Y[vi] = y
"""


@pytest.mark.parametrize(
    ("init", "message"),
    [
        (
            "Y[vi] = T.float32(0)",
            "expected the init of block 'Y' to initialize each result once ('P', 'Y'), got 'Y', "
            "'Y'",
        ),
        (
            "P[vi] = T.int64(0)\n                P[vi] = T.int64(1)",
            "expected the init of block 'Y' to initialize each result once ('P', 'Y'), got 'P', "
            "'P', 'Y'",
        ),
        (
            "P[0] = T.int64(0)",
            "expected the init of block 'Y' to initialize each result once ('P', 'Y'), ",
        ),
        (
            "for q in range(1):\n                    P[vi] = T.int64(0)",
            "expected the init of block 'Y' to store only its results, got 'tir.for'",
        ),
    ],
)
def test_inits_that_do_not_start_each_result_once(init, message):
    module, func = unverified(ARGMAX.format(init=init))
    before = str(module)
    (block,) = blocks_in(func)
    with pytest.raises(ScheduleError) as error:
        rfactor(loops_around(block)[1])
    assert message in error.value.message
    assert str(module) == before


def unverified(text):
    """The function of a script, of which verifiers need not be content."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tir.BlockOp, "verify_", lambda op: None)
        return function(text.replace("{", "{{").replace("}", "}}"))


@pytest.mark.parametrize("kind", ["parallel", "vectorized"])
def test_reduction_loops_must_be_serial(kind):
    _, func = function(SUM, n=4, m=12, init=0, update="Y[vi] + X[vi, vk]")
    (block,) = blocks_in(func)
    outer, inner = split(loops_around(block)[1], [3, 4])
    outer.properties["kind"] = type(outer.kind)(kind)
    name = outer.loop_var.name_hint
    for loop in (outer, inner):
        with pytest.raises(ScheduleError) as error:
            rfactor(loop)
        assert error.value.message == (
            f"expected loop '{name}', over which block 'Y' reduces, to be serial, got {kind}"
        )


AROUND = """
@T.prim_func
def main(X: T.Buffer((3, 8), "float32"), Y: T.Buffer((3,), "float32")):
    S = T.alloc_buffer((3, 8))
    for i, j in T.grid(3, 8):
        with T.block("S"):
            vi, vj = T.axis.remap("SS", [i, j])
            S[vi, vj] = X[vi, vj]
    for i, k in T.grid(3, 8):
        with T.block("Y"):
            vi, vk = T.axis.remap("SR", [i, k])
            with T.init():
                Y[vi] = T.float32(0)
            Y[vi] = Y[vi] + S[vi, vk]
    for i in range(3):
        with T.block("Z"):
            vi = T.axis.spatial(3, i)
            X[vi, 0] = T.float32(1)
"""


def test_scopes_that_are_no_stage_pipeline():
    sch = Schedule(from_source(AROUND))
    with pytest.raises(ScheduleError) as error:
        sch.rfactor(sch.get_loops("Y")[1])
    assert (
        "expected the scope of loop 'k' to be a stage pipeline, in which nothing stores to 'X' "
        "after it is loaded"
    ) in str(error.value)
