"""`annotate_buffer_access`: regions that are declared and not inferred."""

import pytest
from programs import chain, program
from schedule_check import check_refused, check_schedule

from xrelax.script import from_source
from xrelax.tir import Schedule

GATHER = """
    S = T.alloc_buffer((64,), "float32")
    for i in range(64):
        with T.block("S"):
            vi = T.axis.spatial(64, i)
            S[vi] = X[vi] * T.float32(2)
    for i in range(32):
        with T.block("Y"):
            vi = T.axis.spatial(32, i)
            Y[vi] = S[T.Cast("int32", T.floor(T.Cast("float32", vi * 2) + T.float32(0.5)))]
"""


def gather():
    """Block "Y" reads one element of "S" at an index that is computed from a float."""
    return program(GATHER, {"X": "(64,)", "Y": "(32,)"})


@pytest.mark.parametrize(
    "ranges", [lambda vi: ((vi * 2, vi * 2 + 2),), lambda vi: (vi * 2, vi * 2 + 2)]
)
def test_compute_at_relies_on_a_declared_region(ranges):
    def schedule(sch):
        sch.annotate_buffer_access("Y", 0, "read", ranges)
        outer, _ = sch.split(sch.get_loops("Y")[0], [None, 8])
        sch.compute_at("S", outer)

    script = check_schedule(gather(), schedule).func.script()
    assert "T.reads(S[vi * 2:vi * 2 + 2])" in script
    assert '"explicit_read_region": [0]' in script
    assert "in range(16):" in script and "in range(8):" in script


def test_a_single_index_is_a_range_of_one():
    sch = check_schedule(
        chain(),
        lambda s: s.annotate_buffer_access("Y", "S", "read", lambda i, j: (i, (j, j + 2))),
        {"n": 4, "m": 3},
    )
    assert "T.reads(S[vi, vj:vj + 2])" in sch.func.script()


def test_regions_are_kept_when_buffers_are_replaced():
    def schedule(sch):
        sch.annotate_buffer_access("S", 0, "write", lambda i, j: ((i, i + 2), (j, j + 1)))
        sch.cache_write("S", 0, "local")

    script = check_schedule(chain(), schedule, {"n": 4, "m": 3}).func.script()
    assert "T.writes(S_local[vi:vi + 2, vj])" in script


@pytest.mark.parametrize(
    ("which", "ranges", "message"),
    [
        ("read", lambda i, j: (i,), "expected 2 ranges for 'S', got 0.5"),
        ("use", lambda i, j: (i, j), "expected 'read' or 'write', got 'use'"),
        (
            "read",
            lambda i, j: ((i + 1, i + 2), j),
            "block 'Y' reads 'S' in dim 0 at [vi, vi + 1), outside the region that it declares, "
            "[vi + 1, vi + 2)",
        ),
    ],
)
def test_what_is_refused(which, ranges, message):
    check_refused(
        chain(),
        lambda s: s.annotate_buffer_access("Y", 0, which, ranges),
        f"annotate_buffer_access: {message}",
    )


CALLS = """
@T.prim_func
def main(X: T.Buffer((8,)), W: T.Buffer((4, 8)), Y: T.Buffer((8,))):
    S = T.alloc_buffer((8,))
    for i in range(8):
        with T.block("S"):
            vi = T.axis.spatial(8, i)
            S[vi] = X[vi] * T.float32(2)
    for i in range(8):
        with T.block("Y"):
            vi = T.axis.spatial(8, i)
            T.reads(W[2, 0:8], S[vi])
            T.writes(Y[vi])
            T.evaluate(T.call_extern("void", "look", W.access_ptr("r", offset=16, extent=8)))
            Y[vi] = S[vi] + T.float32(1)
"""


def test_blocks_keep_what_they_declare_of_memory_that_they_pass():
    sch = Schedule(from_source(CALLS), debug_mask="all")
    sch.compute_inline("S")
    script = sch.mod.script()
    assert "T.reads(W[2, 0:8], X[vi])" in script
    assert 'T.call_extern("void", "look", T.address_of(W[2, 0]))' in script
