"""Generated schedules of primitives on memory, layouts and places keep what functions compute."""

import re

from hypothesis import given, settings
from hypothesis import strategies as st
from programs import SHAPES, chain, matmul_relu, row_sum
from schedule_check import check_schedule, sizes_of

from xrelax import tir
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
                sch.transform_layout(block, (side, scratch[0]), index_map, (None, 0)[which % 2])
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


def rearrange(sch, plan):
    """Apply primitives to any blocks; what does not apply is left."""
    for what, which, how in plan:
        names = re.findall(r'T.block\("(\w+)"\)', sch.func.script())
        names = [name for name in names if name != "root"]
        try:
            apply_one(sch, sch.get_block(names[how % len(names)]), what, which, how)
        except tir.ScheduleError:
            continue


def plans(size):
    number = st.integers(0, 40)
    return st.lists(st.tuples(st.integers(0, 8), number, number), min_size=1, max_size=size)


@settings(max_examples=20, deadline=None, derandomize=True, database=None)
@given(plans(7), st.sampled_from([matmul_relu, chain, row_sum]), st.sampled_from(SHAPES))
def test_generated_schedules(plan, source, sizes):
    own = sizes_of(source, sizes)
    check_schedule(source(), lambda sch: rearrange(sch, plan), own, native=False)
    check_schedule(source(**own), lambda sch: rearrange(sch, plan), native=False)


@settings(max_examples=4, deadline=None, derandomize=True, database=None)
@given(plans(6), st.sampled_from([matmul_relu, chain]), st.sampled_from(SHAPES[:2]))
def test_generated_schedules_as_native_code(plan, source, sizes):
    check_schedule(source(), lambda sch: rearrange(sch, plan), sizes_of(source, sizes))
