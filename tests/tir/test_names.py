"""Loops and axes may have any names that scripts can give them."""

import pytest
from schedule_check import check_schedule

COPIES = """
@T.prim_func
def main(X: T.Buffer((8, 6), "float32"), Y: T.Buffer((8, 6), "float32")):
    S = T.alloc_buffer((8, 6))
    for {i}, {k} in T.grid(8, 6):
        with T.block("S"):
            {vi}, {vk} = T.axis.remap("SS", [{i}, {k}])
            S[{vi}, {vk}] = X[{vi}, {vk}] * T.float32(2)
    for {i}, {k} in T.grid(8, 6):
        with T.block("Y"):
            {vi}, {vk} = T.axis.remap("SS", [{i}, {k}])
            Y[{vi}, {vk}] = S[{vi}, {vk}] + T.float32(1)
"""
NAMES = [
    ("i", "k", "v0", "v1"),
    ("_0", "_1", "v0", "v1"),
    ("i", "k", "_0", "_1_2"),
    ("v_0", "v_1", "v", "v__1"),
    ("v_0_1", "__0", "v_", "v_0"),
]
CHANGES = {
    "as it is": lambda s: None,
    "compute_at": lambda s: s.compute_at("S", s.get_loops("Y")[0]),
    "reverse_compute_at": lambda s: s.reverse_compute_at("Y", s.get_loops("S")[0]),
    "cache_read": lambda s: s.cache_read("Y", 0, "local"),
    "split": lambda s: s.split(s.get_loops("S")[0], [2, 4]),
    "fuse": lambda s: s.fuse(*s.get_loops("S")),
    "loop_partition": lambda s: s.loop_partition(s.get_loops("S")[0], [2, 6]),
    "blockize": lambda s: s.blockize(s.split(s.get_loops("S")[1], [2, 3])[1]),
    "transform_block_layout": lambda s: s.transform_block_layout("S", lambda i, j: (j, i)),
}


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("names", NAMES)
def test_names_of_loops_and_axes(names, change):
    source = COPIES.format(**dict(zip(("i", "k", "vi", "vk"), names, strict=True)))
    check_schedule(source, CHANGES[change], native=change == "as it is")
