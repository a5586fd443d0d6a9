"""Schedules keep what functions compute: those of the course, and generated ones."""

from functools import partial

import pytest
from hypothesis import strategies as st
from programs import SHAPES, chain, matmul_relu, row_sum
from schedule_check import Tally, check_generated, check_schedule

from xrelax.tir.schedule import LoopRV, Schedule, ScheduleError


def course(sch: Schedule) -> None:
    """The schedule of the course's second lecture, up to its decomposition."""
    block = sch.get_block("Y", func_name="main")
    _, j, k = sch.get_loops(block)
    j0, j1 = sch.split(j, factors=[None, 4])
    sch.reorder(j0, k, j1)
    sch.reverse_compute_at(sch.get_block("C"), j0)


def tiled(sch: Schedule) -> None:
    i, j, k = sch.get_loops("Y")
    i0, i1 = sch.split(i, [None, 3])
    j0, j1, j2 = sch.split(j, [None, 2, 4])
    k0, k1 = sch.split(k, [None, 2])
    sch.reorder(i0, j0, k0, k1, i1, j1, j2)
    sch.parallel(sch.fuse(i0, j0))
    sch.unroll(j1)
    sch.vectorize(j2)


@pytest.mark.sampled
@pytest.mark.parametrize("schedule", [course, tiled])
def test_products(schedule):
    check_schedule(matmul_relu(), schedule, *SHAPES)
    for sizes in SHAPES:
        check_schedule(matmul_relu(**sizes), schedule)


@st.composite
def steps(draw):
    """Numbers that say what to do with which loops, whatever loops there are then."""
    number = st.integers(0, 40)
    return draw(st.lists(st.tuples(number, number, number), min_size=1, max_size=6))


STEPS = (
    "split",
    "split in three",
    "fuse",
    "reorder",
    "loop_partition",
    "loop_overlap",
    "loop_trim",
    "tile_sums",
)
MARKS = ("parallel", "vectorize", "unroll")


def rearrange(sch: Schedule, plan: list[tuple[int, int, int]], tally: Tally) -> None:
    """Take apart, reorder and tile loops of a block, then mark some; what is refused is counted."""
    count = len(STEPS) + len(MARKS)
    for what, which, how in sorted(plan, key=lambda step: step[0] % count >= len(STEPS)):
        loops = sch.get_loops("Y") if sch_has(sch, "Y") else []
        if not loops:
            return
        loop = loops[which % len(loops)]
        with tally.attempt((*STEPS, *MARKS)[what % count]):
            one_step(sch, loops, loop, what % count, how)


def sch_has(sch: Schedule, name: str) -> bool:
    try:
        sch.get_block(name)
    except ScheduleError:
        return False
    return True


def one_step(sch: Schedule, loops: list[LoopRV], loop: LoopRV, what: int, how: int) -> None:
    at = loops.index(loop)
    match what:
        case 0:
            sch.split(loop, [None, how % 5 + 1])
        case 1:
            sch.split(loop, [how % 3 + 1, None, 2])
        case 2:
            sch.fuse(*loops[at : at + 2])
        case 3:
            order = loops[at:] + loops[:at] if how % 2 else [loops[-1], *loops[:-1]]
            sch.reorder(*order)
        case 4:
            sch.loop_partition(loop, [how % 3 + 1, None])
        case 5:
            overlap_copies(sch, how)
        case 6:
            sch.loop_trim(loop)
        case 7:
            tile_sums(sch, loop, how)
        case _:
            getattr(sch, MARKS[what - len(STEPS)])(loop)


def overlap_copies(sch: Schedule, how: int) -> None:
    """Let whole tiles of a block that copies results repeat iterations."""
    loops = sch.get_loops(sch.cache_write("Y", 0, "local"))
    _, inner = sch.split(loops[how % len(loops)], [None, 5])
    sch.loop_overlap(inner, how % 4 + 1)


def tile_sums(sch: Schedule, loop: LoopRV, how: int) -> None:
    """Let a block work on scratch memory of a tile, and on all of it."""
    copy = sch.cache_write("Y", 0, "local")
    outer, _ = sch.split(loop, [None, how % 5 + 1])
    sch.reverse_compute_at(copy, outer)
    sch.compact_buffer("Y", 0)
    sch.drop_predicates("Y")


def test_generated_schedules():
    tally = Tally()
    change = partial(rearrange, tally=tally)
    check_generated(steps(), change, [matmul_relu, chain, row_sum], SHAPES, 25, False)
    tally.verify((*STEPS, *MARKS))


def test_generated_schedules_as_native_code():
    tally = Tally()
    change = partial(rearrange, tally=tally)
    check_generated(steps(), change, [matmul_relu, row_sum], SHAPES[:2], 6, True)
    assert tally.applied.total() >= 0.25 * tally.tried.total() > 0
