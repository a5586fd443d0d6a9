"""Every primitive with variables of what is gone, elsewhere, or of another kind, and empty loops.

It works, then its trace does the same again, or it raises ScheduleError and changes nothing.
"""

import pytest
from programs import chain, matmul_relu, program

from xrelax.script import from_source
from xrelax.tir.schedule import INSTRUCTIONS, Schedule, ScheduleError

BODY = """
    S = T.alloc_buffer((10, 8), "float32")
    for i, j, k in T.grid(3, 4, 8):
        with T.block("S"):
            vi = T.axis.spatial(10, i * 4 + j)
            vk = T.axis.spatial(8, k)
            T.where(i * 4 + j < 10)
            S[vi, vk] = X[vi, vk] * T.float32(2)
    for i, j in T.grid(10, 8):
        with T.block("Y"):
            vi, vj = T.axis.remap("SS", [i, j])
            Y[vi, vj] = S[vi, vj] + T.float32(1)
"""
TWO = "@I.ir_module\nclass M:\n" + "\n".join(
    "    " + line.replace("def main", f"def {name}")
    for name in ("main", "second")
    for line in chain(8, 6).splitlines()
)
PROGRAMS = {
    "predicates": (program(BODY, {"X": "(10, 8)", "Y": "(10, 8)"}), "S"),
    "no rows": (matmul_relu(0, 6, 5), "Y"),
    "no sums": (matmul_relu(4, 6, 0), "Y"),
    "no elements": (chain(0, 4), "Y"),
    "two functions": (TWO, "S"),
}


def foreign(sch, block, loops):
    other = Schedule(from_source(chain(8, 6)))
    found = other.get_block("S")
    return found, other.get_loops(found)[0]


def of_another_function(sch, block, loops):
    names = [f.sym_name.data for f in sch.state.functions()]
    found = sch.get_block("Y", names[-1])
    return found, sch.get_loops(found)[0]


def dead(sch, block, loops):
    sch.split(loops[0], [None, 1])
    return block, loops[0]


VARIABLES = {
    "own": lambda sch, block, loops: (block, loops[-1]),
    "foreign": foreign,
    "of another function": of_another_function,
    "dead": dead,
    "root": lambda sch, block, loops: (sch.get_block("root"), loops[0]),
    "swapped": lambda sch, block, loops: (loops[0], block),
    "a place": lambda sch, block, loops: (block, sch.sample_compute_location(block, decision=-1)),
    "no variable": lambda sch, block, loops: (3, [loops[0]]),
}

USES = (
    lambda s, b, ls, x, y: s.get_loops(x),
    lambda s, b, ls, x, y: s.get_child_blocks(x),
    lambda s, b, ls, x, y: s.get_child_blocks(y),
    lambda s, b, ls, x, y: s.get_producers(x),
    lambda s, b, ls, x, y: s.get_consumers(x),
    lambda s, b, ls, x, y: s.get_output_blocks(x),
    lambda s, b, ls, x, y: s.split(y, [None, 2]),
    lambda s, b, ls, x, y: s.split(y, [-1, None]),
    lambda s, b, ls, x, y: s.loop_partition(y, [1, None]),
    lambda s, b, ls, x, y: s.loop_partition(y, [0, None]),
    lambda s, b, ls, x, y: s.loop_overlap(y, 3),
    lambda s, b, ls, x, y: s.loop_trim(y),
    lambda s, b, ls, x, y: s.skip_padding(y),
    lambda s, b, ls, x, y: s.fuse(y, ls[-1]),
    lambda s, b, ls, x, y: s.fuse(ls[0], y),
    lambda s, b, ls, x, y: s.reorder(y, ls[0]),
    lambda s, b, ls, x, y: s.reorder(ls[-1], y),
    lambda s, b, ls, x, y: s.fuse_horizontally(y, ls[0]),
    lambda s, b, ls, x, y: s.strip_mine(y, 3),
    lambda s, b, ls, x, y: s.strip_mine(ls[0], 0),
    lambda s, b, ls, x, y: s.peel(x, y, 2, b),
    lambda s, b, ls, x, y: s.peel(b, ls[0], 0, x),
    lambda s, b, ls, x, y: s.specialize(x, y, 2, b),
    lambda s, b, ls, x, y: s.specialize(b, ls[0], 0, x),
    lambda s, b, ls, x, y: s.fold_conditions(x),
    lambda s, b, ls, x, y: s.blocked_sum(x, y, 2),
    lambda s, b, ls, x, y: s.blocked_sum(b, ls[0], 0),
    lambda s, b, ls, x, y: s.merge(y, ls[-1]),
    lambda s, b, ls, x, y: s.merge(ls[0], y),
    lambda s, b, ls, x, y: s.parallel(y),
    lambda s, b, ls, x, y: s.vectorize(y),
    lambda s, b, ls, x, y: s.unroll(y),
    lambda s, b, ls, x, y: s.bind(y, "threadIdx.x"),
    lambda s, b, ls, x, y: s.add_unit_loop(x),
    lambda s, b, ls, x, y: s.add_unit_loop(y),
    lambda s, b, ls, x, y: s.annotate(x, "a", 1),
    lambda s, b, ls, x, y: s.annotate(y, "a", 1),
    lambda s, b, ls, x, y: s.unannotate(x, "a"),
    lambda s, b, ls, x, y: s.compute_at(b, y),
    lambda s, b, ls, x, y: s.compute_at(x, ls[0]),
    lambda s, b, ls, x, y: s.reverse_compute_at(b, y),
    lambda s, b, ls, x, y: s.reverse_compute_at(x, ls[0]),
    lambda s, b, ls, x, y: s.fuse_reduction_epilogue(x, b),
    lambda s, b, ls, x, y: s.fuse_reduction_epilogue(b, x),
    lambda s, b, ls, x, y: s.compute_inline(x),
    lambda s, b, ls, x, y: s.reverse_compute_inline(x),
    lambda s, b, ls, x, y: s.cache_read(x, 0, "local"),
    lambda s, b, ls, x, y: s.cache_read(b, -1, "local"),
    lambda s, b, ls, x, y: s.cache_read(b, 0, "local", [x]),
    lambda s, b, ls, x, y: s.cache_write(x, 0, "local"),
    lambda s, b, ls, x, y: s.cache_write(b, 0, "local", [x]),
    lambda s, b, ls, x, y: s.cache_inplace(x, 0, "local"),
    lambda s, b, ls, x, y: s.cache_index(x, "local"),
    lambda s, b, ls, x, y: s.read_at(y, x, 0, "local"),
    lambda s, b, ls, x, y: s.write_at(y, x, 0, "local"),
    lambda s, b, ls, x, y: s.reindex(x, ("read", 0)),
    lambda s, b, ls, x, y: s.reindex_cache_read(x, 0, "local", lambda *a: a[::-1]),
    lambda s, b, ls, x, y: s.reindex_cache_write(x, 0, "local", lambda *a: a[::-1]),
    lambda s, b, ls, x, y: s.annotate_buffer_access(x, 0, "read", lambda *a: a),
    lambda s, b, ls, x, y: s.set_scope(x, 0, "local"),
    lambda s, b, ls, x, y: s.unsafe_set_dtype(x, 0, "float64"),
    lambda s, b, ls, x, y: s.storage_align(x, 0, 0, 8, 0),
    lambda s, b, ls, x, y: s.compact_buffer(x, 0),
    lambda s, b, ls, x, y: s.rolling_buffer(x, 0),
    lambda s, b, ls, x, y: s.rolling_buffer(b, -1),
    lambda s, b, ls, x, y: s.drop_predicates(x),
    lambda s, b, ls, x, y: s.decompose_reduction(x, ls[0]),
    lambda s, b, ls, x, y: s.decompose_reduction(b, y),
    lambda s, b, ls, x, y: s.rfactor(y),
    lambda s, b, ls, x, y: s.rfactor(ls[-1], 5),
    lambda s, b, ls, x, y: s.blockize(y),
    lambda s, b, ls, x, y: s.blockize([x, b]),
    lambda s, b, ls, x, y: s.tensorize(x, "none"),
    lambda s, b, ls, x, y: s.transform_layout(x, ("write", 0), lambda *a: a[::-1]),
    lambda s, b, ls, x, y: s.transform_layout(b, ("write", 0), lambda *a: (a[0] // 2, *a[1:])),
    lambda s, b, ls, x, y: s.transform_block_layout(x, lambda *a: a[::-1]),
    lambda s, b, ls, x, y: s.pad_einsum(x, [2] * len(ls)),
    lambda s, b, ls, x, y: s.pad_einsum(b, [0] * len(ls)),
    lambda s, b, ls, x, y: s.decompose_padding(x, ls[0]),
    lambda s, b, ls, x, y: s.decompose_padding(b, y),
    lambda s, b, ls, x, y: s.sample_perfect_tile(y, 2),
    lambda s, b, ls, x, y: s.sample_compute_location(x),
    lambda s, b, ls, x, y: s.reorder_block_iter_var(x, [1, 0]),
)


def begin(name):
    """A schedule of a program, one of its blocks, and the loops around that."""
    source, block = PROGRAMS[name]
    sch = Schedule(from_source(source), seed=0, debug_mask="all")
    found = sch.get_block(block)
    return sch, found, sch.get_loops(found)


@pytest.mark.sampled
@pytest.mark.parametrize("variables", VARIABLES)
def test_wrong_uses(variables):
    names = list(PROGRAMS)
    first = list(VARIABLES).index(variables)
    for number, use in enumerate(USES, first):  # each use with each program, in some test
        program = names[number % len(names)]
        sch, block, loops = begin(program)
        given = VARIABLES[variables](sch, block, loops)
        before = sch.mod.script()
        try:
            use(sch, block, loops, *given)
        except ScheduleError:
            assert sch.mod.script() == before
        again = Schedule(from_source(PROGRAMS[program][0]))
        sch.trace.apply_to_schedule(again)
        assert again.mod.script() == sch.mod.script()


def test_all_primitives_are_used():
    names = {name for use in USES for name in use.__code__.co_names} - {"len"}
    apart = {"get_block", "enter_postproc", "sample_categorical"}
    assert {kind.method for kind in INSTRUCTIONS.values()} == names | apart
