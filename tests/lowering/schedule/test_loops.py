"""Functions on loops: operations stay the same ones, and nothing changes where they refuse."""

import pytest
from programs import chain, matmul_relu, row_sum
from xdsl.dialects.builtin import StringAttr

from xrelax.dialects import tir
from xrelax.dialects.bounds import Interval, simplify
from xrelax.dialects.int_expr import Arg, IntExpr, arg, sym
from xrelax.lowering.analysis.iter_map import IterMap
from xrelax.lowering.schedule.annotations import annotate
from xrelax.lowering.schedule.blocks import ScheduleError, blocks_in
from xrelax.lowering.schedule.compute_at import reverse_compute_at
from xrelax.lowering.schedule.kinds import set_kind
from xrelax.lowering.schedule.loops import (
    add_unit_loop,
    fuse,
    partition,
    reorder,
    split,
)
from xrelax.lowering.schedule.merge_loops import merge_loops
from xrelax.lowering.schedule.overlap import overlap
from xrelax.script import from_source

A, B = arg(0), arg(1)


def function(source):
    return from_source(source).op.clone()


def loops_of(func):
    return [op for op in func.walk() if isinstance(op, tir.ForOp)]


def test_blocks_and_reordered_loops_stay_the_same_operations():
    func = function(matmul_relu())
    blocks = blocks_in(func)
    i, j, k, *_ = loops_of(func)
    bodies = [b.body.block for b in blocks]
    i0, i1 = split(i, [None, 4])
    order = reorder([j, i0, k, i1])
    assert order == [j, i0, k, i1] and loops_of(func)[:4] == order
    fused = fuse([j, i0])
    add_unit_loop(blocks[0])
    set_kind(fused, "parallel")
    assert blocks_in(func) == blocks and [b.body.block for b in blocks] == bodies


def test_a_symbolic_factor_that_covers_the_loop():
    func = function(row_sum())
    n = sym("n")
    outer, inner = split(loops_of(func)[0], [(n + 3) // 4, 4])
    assert (outer.extent.data, inner.extent.data) == ((n + 3) // 4, IntExpr.of(4))


def test_a_factor_that_divides_needs_no_predicate():
    func = function(row_sum("n", 12))
    n_loop, k = loops_of(func)
    split(k, [3, None])
    split(n_loop, [sym("n"), 1])
    (block,) = blocks_in(func)
    assert not block.predicates.data


def test_no_predicate_where_it_is_said_that_factors_divide():
    func = function(row_sum())
    split(loops_of(func)[0], [None, 4], disable_predication=True)
    assert not blocks_in(func)[0].predicates.data


@pytest.mark.parametrize(
    ("exprs", "result"),
    [
        ([A], True),
        ([A * 4 + B], True),
        ([B], False),
        ([A // 4], False),
        ([A // 4, A % 4], True),
        ([A // sym("m"), A % sym("m")], True),
        ([A // 12, A // 4 % 3, A % 4], True),
        ([A // 12, A % 4], False),
        ([(A * 2 + B) // 8, (A * 2 + B) % 8], True),
        ([A // 4 + B, A % 4 + B * 4], True),
        ([A % 4, A // 8], False),
    ],
)
def test_which_indices_tell_iterations_apart(exprs, result):
    assert IterMap(exprs, [Arg(0)], {}).tells([Arg(0)]) is result
    if result and not any(e.symbols() for e in exprs):
        values = {
            tuple(e.evaluate(lambda a, i=i: i if a == Arg(0) else 1) for e in exprs)
            for i in range(48)
        }
        assert len(values) == 48


def test_quotients_join_their_remainders():
    ranges = {Arg(0): Interval.range(0, sym("n"))}
    assert simplify(A // 5 * 5 + A % 5, ranges) == A
    assert simplify((A // 5 * 5 + A % 5) // 5 * 10 + A % 5 * 2, ranges) == A * 2
    assert simplify(A // 5 * 5 + A % 4, ranges) == A // 5 * 5 + A % 4


PREFIX = """
@T.prim_func
def main(X: T.Buffer((8, 6), "float32"), Y: T.Buffer((8, 6), "float32")):
    S = T.alloc_buffer((8,), "float32")
    for i, k in T.grid(8, 6):
        with T.block("S"):
            vi, vk = T.axis.remap("SR", [i, k])
            with T.init():
                S[vi] = T.float32(0)
            S[vi] = S[vi] + X[vi, vk]
        with T.block("Y"):
            vi, vk = T.axis.remap("SS", [i, k])
            Y[vi, vk] = S[vi]
"""
SHIFTED = chain(8, 6).replace("S[vi, vj] + T.float32(1)", "S[7 - vi, vj]")
SCRATCH = """
@T.prim_func
def main(X: T.Buffer((8, 6), "float32"), Y: T.Buffer((8, 6), "float32")):
    S = T.alloc_buffer((6,), "float32")
    for i in range(8):
        for j in range(6):
            with T.block("S"):
                vi, vj = T.axis.remap("SS", [i, j])
                S[vj] = X[vi, vj]
        for j in range(6):
            with T.block("Y"):
                vi, vj = T.axis.remap("SS", [i, j])
                Y[vi, vj] = S[vj]
"""
LOOSE = """
@T.prim_func
def main(X: T.Buffer((8,), "float32"), Y: T.Buffer((8,), "float32")):
    for i in range(8):
        Y[i] = X[i]
"""
TRIANGLE = """
@T.prim_func
def main(X: T.Buffer((8, 8), "float32"), Y: T.Buffer((8, 8), "float32")):
    for i in range(8):
        for j in range(i + 1):
            with T.block("Y"):
                vi = T.axis.opaque(8, i)
                vj = T.axis.opaque(8, j)
                Y[vi, vj] = X[vi, vj]
"""


NEIGHBOURS = """
@T.prim_func
def main(X: T.Buffer((9,), "float32"), S: T.Buffer((9,), "float32"), Y: T.Buffer((9,), "float32")):
    for i in range(8):
        with T.block("S"):
            vi = T.axis.spatial(8, i)
            S[vi + 1] = X[vi]
        with T.block("Y"):
            vi = T.axis.spatial(8, i)
            Y[vi] = S[vi]
"""


REFUSED = [
    (
        PREFIX,
        lambda i, k: reorder([k, i]),
        "expected each iteration of loop 'k' to store the elements of 'S' that it uses first",
    ),
    (
        SHIFTED,
        lambda i, j, i2, j2: merge_loops([i, i2]),
        "expected an iteration of loop 'i' to use from 'S' only what the same iteration of loop "
        "'i' stores",
    ),
    (
        row_sum(8, 6),
        lambda i, k: merge_loops([i]),
        "expected at least two different loops to merge",
    ),
    (
        chain(8, 6),
        lambda i, j, i2, j2: merge_loops([i2, i]),
        "expected loops to merge in the order in which they run",
    ),
    (
        chain(8, 6),
        lambda i, j, i2, j2: (split(i2, [4, 2]), merge_loops([i, loops_of(i.parent_op())[2]])),
        "expected loop 'i' to have the bounds of loop 'i', got extents 4 and 8",
    ),
    (
        LOOSE,
        lambda i: split(i, [None, 3]),
        "expected loop 'i' to contain only loops and blocks, got 'tir.store'",
    ),
    (
        LOOSE,
        lambda i: set_kind(i, "parallel"),
        "expected loop 'i' to contain only loops and blocks, got 'tir.store'",
    ),
    (
        TRIANGLE,
        lambda i, j: reorder([j, i]),
        "expected bounds of loop 'j' not to depend on loop 'i', which would come inside",
    ),
    (
        TRIANGLE,
        lambda i, j: fuse([i, j]),
        "expected bounds of loop 'j' not to depend on the loops to fuse",
    ),
    (
        TRIANGLE.replace("range(i + 1)", "range(8)"),
        lambda i, j: reorder([j, i]),
        "expected block 'Y' to have spatial and reduction axes only, got one that is opaque",
    ),
    (
        row_sum(8, 6),
        lambda i, k: set_kind(i, "fast"),
        "expected a kind of loop (serial, parallel, vectorized, unrolled, blockIdx.x, blockIdx.y, "
        "blockIdx.z, threadIdx.x, threadIdx.y, threadIdx.z), got 'fast'",
    ),
    (
        row_sum(8, 6),
        lambda i, k: (annotate(i, "a", StringAttr("b")), partition(i, [2, None])),
        "expected loop 'i' to have no annotations, got 'a'",
    ),
    (
        chain(8, 6),
        lambda i, j, i2, j2: overlap(j, 7),
        "expected loop 'j' to have at least 7 iterations, got extent 6",
    ),
    (
        row_sum(8, 6),
        lambda i, k: overlap(i, 5),
        "expected block 'Y' of loop 'i' to have spatial axes only, got spatial, reduce",
    ),
    (
        chain(8, 6).replace("T.float32(1)", "Y[vi, vj]"),
        lambda i, j, i2, j2: overlap(i2, 5),
        "expected loop 'i' not to load 'Y', which it stores",
    ),
]


def test_tiles_that_cover_a_loop_overlap():
    func = function(chain(8, 6))
    i, *_ = loops_of(func)
    assert overlap(i, 4) == [i]
    first, second = overlap(i, 5)
    bounds = [(loop.min.data.constant, loop.extent.data.constant) for loop in (first, second)]
    assert bounds == [(0, 5), (3, 5)]
    func.verify()


@pytest.mark.parametrize(("source", "change", "message"), REFUSED)
def test_refused(source, change, message):
    func = function(source)
    with pytest.raises(ScheduleError) as error:
        change(*loops_of(func))
    assert error.value.message == message
    func.verify()


UNCHANGED = [r for r in REFUSED if "annot" not in r[2] and "bounds of loop 'i'" not in r[2]]


@pytest.mark.parametrize(("source", "change", "message"), UNCHANGED)
def test_nothing_changes_where_refused(source, change, message):
    func = function(source)
    before = str(func)
    with pytest.raises(ScheduleError):
        change(*loops_of(func))
    assert str(func) == before


def test_iterations_that_share_scratch_memory_are_not_parallel():
    func = function(SCRATCH)
    with pytest.raises(ScheduleError) as error:
        set_kind(loops_of(func)[0], "parallel")
    assert error.value.message == (
        "expected iterations of loop 'i' to write different parts of 'S' for it to be parallel"
    )
    func = function(SCRATCH)
    alloc = next(op for op in func.walk() if isinstance(op, tir.AllocBufferOp))
    loop = loops_of(func)[0]
    alloc.detach()
    loop.body.block.insert_op_before(alloc, loop.body.block.first_op)
    set_kind(loop, "parallel")


def test_iterations_that_read_what_others_write_are_not_parallel():
    func = function(NEIGHBOURS)
    with pytest.raises(ScheduleError) as error:
        set_kind(loops_of(func)[0], "parallel")
    assert error.value.message == (
        "expected iterations of loop 'i' to read from 'S' only what they write for it to be "
        "parallel"
    )


def test_reorder_around_a_block_that_moved_in():
    func = function(chain(8, 6))
    i, j, *_ = loops_of(func)
    reverse_compute_at(next(b for b in blocks_in(func) if b.block_name.data == "Y"), j)
    reorder([j, i])
    assert loops_of(func)[:2] == [j, i]
