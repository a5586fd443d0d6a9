"""What the default rule makes of a product whose rows and columns make up no tile, by hand."""

from programs import program
from schedule_check import body_text, check_schedule

from xrelax.backend.target import Target
from xrelax.dialects import tir
from xrelax.lowering.schedule.default import DefaultScheduler
from xrelax.script import from_source
from xrelax.tir import Schedule

ROWS, VECTORS, LANES = 4, 3, 8
"""The tile that the rule chooses for 16 registers of 8 lanes."""


def product(n, m, p):
    body = """
    for i, j, k in T.grid({n}, {m}, {p}):
        with T.block("Y"):
            vi, vj, vk = T.axis.remap("SSR", [i, j, k])
            with T.init():
                Y[vi, vj] = T.float32(0)
            Y[vi, vj] = Y[vi, vj] + X[vi, vk] * W[vk, vj]
"""
    return program(body, {"X": "({n}, {p})", "W": "({p}, {m})", "Y": "({n}, {m})"}, n=n, m=m, p=p)


def tile(sch):
    """Tiles of sums in registers; returns the loops over tiles of columns and of rows."""
    copy = sch.cache_write("Y", 0, "global")
    i, j, k = sch.get_loops("Y")
    columns, vector, lane = sch.split(j, [None, VECTORS, LANES])
    rows, row = sch.split(i, [None, ROWS])
    sch.reorder(columns, rows, k, row, vector, lane)
    sch.reverse_compute_at(copy, rows)
    *_, copied_row, copied_column = sch.get_loops(copy)
    copied_vector, copied_lane = sch.split(copied_column, [None, LANES])
    sch.reorder(copied_row, copied_vector, copied_lane)
    for loop in (row, vector, copied_row, copied_vector):
        sch.unroll(loop)
    for loop in (lane, copied_lane):
        sch.vectorize(loop)
    sch.compact_buffer("Y", 0)
    return columns, rows


def sums(sch, part):
    return [b for b in sch.get_child_blocks(part) if sch.get(b).init is not None]


def trim_remainder(sch, part):
    """Drop iterations without rows or vectors, and keep vectors whole."""
    for block in sch.get_child_blocks(part):
        *loops, _ = sch.get_loops(block)
        for loop in loops:
            sch.loop_trim(loop)


def finish(sch, part):
    """Sums without conditions, which start in front of their steps."""
    for block in sums(sch, part):
        sch.drop_predicates(block)
        sch.decompose_reduction(block, sch.get_loops(block)[2])


def in_place(sch):
    columns, rows = tile(sch)
    sch.loop_partition(rows, [None, 1], preserve_unit_iters=False)
    trim_remainder(sch, columns)
    finish(sch, columns)


def ragged(sch):
    columns, rows = tile(sch)
    sch.loop_partition(rows, [None, 1], preserve_unit_iters=False)
    parts = sch.loop_partition(columns, [None, 1], preserve_unit_iters=False)
    for part in parts:
        trim_remainder(sch, part)
    rest = sums(sch, parts[1])
    panel = sch.cache_read(rest[0], 1, "global", rest)
    width = VECTORS * LANES
    sch.transform_layout(panel, ("write", 0), lambda k, j: (j // width, k, j % width), 0.0)
    sch.vectorize(sch.split(sch.get_loops(panel)[-1], [None, LANES])[1])
    for part in parts:
        finish(sch, part)


def predicates(sch):
    """How many predicates each block has, by its name."""
    (func,) = sch.state.functions()
    blocks = [op for op in func.walk() if isinstance(op, tir.BlockOp)]
    return {b.block_name.data: len(b.predicates.data) for b in blocks}


def test_the_same_as_the_rule():
    source = product(7, 48, 16)
    rule = Schedule(from_source(source))
    (func,) = rule.state.functions()
    DefaultScheduler(rule.state.module, Target("llvm -mcpu=haswell")).schedule(func)
    sch = check_schedule(source, in_place)
    assert not any(predicates(sch).values())
    assert body_text(sch) == body_text(rule)


def test_ragged_rows_and_columns():
    sch = check_schedule(product(37, 45, 50), ragged)
    found = predicates(sch)
    updates = [count for name, count in found.items() if name.endswith(("_update", "_init"))]
    assert len(updates) == 8 and not any(updates)
    (text,) = {line.strip() for line in body_text(sch).splitlines() if "W_global = " in line}
    assert text == "W_global = T.alloc_buffer((2, 50, 24))"
