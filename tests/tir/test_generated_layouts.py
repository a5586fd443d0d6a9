"""Generated schedules of primitives on memory, layouts and places keep what functions compute."""

import re
from functools import partial

from hypothesis import strategies as st
from programs import SHAPES, chain, matmul_relu, row_sum
from schedule_check import Tally, check_generated

from xrelax.dialects import tir as ir

GENERAL_MAPS = [
    lambda *v: v[::-1],
    lambda *v: (v[0] // 3, *v[1:], v[0] % 3),
    lambda *v: (*v[:-1], v[-1] // 4, v[-1] % 4),
    lambda *v: (*v[:-1], v[-1] // 4 // 2, v[-1] % 4, v[-1] // 4 % 2),
    lambda *v: ((v[0] + 2) // 5, (v[0] + 2) % 5, *v[1:]),
    lambda *v: (*v[1:], v[0] * 3 + 1),
]


def apply_one(sch, block, what, which, how):
    """One primitive on a block, some loops or buffers of it, and some map."""
    index_map = GENERAL_MAPS[how % len(GENERAL_MAPS)]
    loops = sch.get_loops(block)
    match what:
        case 0:
            sch.cache_read(block, which % 2, ("shared", "local")[how % 2])
        case 1:
            sch.cache_write(block, 0, "local")
        case 2:
            sch.reindex(block, (("read", "write")[how % 2], 0))
        case 3:
            sch.transform_block_layout(block, index_map)
        case 4:
            found = sch.get(block)
            side = ("read", "write")[how % 2]
            buffers = found.write_buffers if how % 2 else found.read_buffers
            scratch = [n for n, b in enumerate(buffers) if isinstance(b.owner, ir.AllocBufferOp)]
            if scratch:
                sch.transform_layout(block, (side, scratch[0]), index_map, 0)
        case 5:
            sch.split(loops[which % len(loops)], [None, how % 4 + 1])
        case 6:
            consumers = sch.get_consumers(block)
            if consumers:
                around = sch.get_loops(consumers[0])
                sch.compute_at(block, around[which % len(around)])
        case 7:
            producers = sch.get_producers(block)
            if producers:
                around = sch.get_loops(producers[0])
                sch.reverse_compute_at(block, around[which % len(around)])
        case _:
            sch.storage_align(block, 0, which % 2, how % 8 + 1, 0)


STEPS = (
    "cache_read",
    "cache_write",
    "reindex",
    "transform_block_layout",
    "transform_layout",
    "split",
    "compute_at",
    "reverse_compute_at",
    "storage_align",
)


def rearrange(sch, plan, tally):
    """Apply primitives to any blocks; what does not apply is counted."""
    for what, which, how in plan:
        names = re.findall(r'T.block\("(\w+)"\)', sch.func.script())
        names = [name for name in names if name != "root"]
        with tally.attempt(STEPS[what]):
            apply_one(sch, sch.get_block(names[how % len(names)]), what, which, how)


def plans(size):
    number = st.integers(0, 40)
    return st.lists(st.tuples(st.integers(0, 8), number, number), min_size=1, max_size=size)


def test_generated_schedules():
    tally = Tally()
    change = partial(rearrange, tally=tally)
    check_generated(plans(7), change, [matmul_relu, chain, row_sum], SHAPES, 20, False)
    tally.verify(STEPS)


def test_generated_schedules_as_native_code():
    tally = Tally()
    change = partial(rearrange, tally=tally)
    check_generated(plans(6), change, [matmul_relu, chain], SHAPES[:2], 4, True)
    assert tally.applied.total() >= 0.25 * tally.tried.total() > 0
