"""Copies of buffers in other layouts, dtypes and places: before, after, and refusals."""

import pytest
from programs import SIZES, chain, program, row_sum
from schedule_check import check_refused, check_schedule, check_text


def test_reindex_cache_read():
    check_text(
        chain(),
        lambda sch: sch.reindex_cache_read("Y", 0, "shared", lambda i, j: (j, i // 2, i % 2)),
        """
S = T.alloc_buffer((n, m))
S_shared = T.alloc_buffer((m, (n + 1) // 2, 2), scope="shared")
for i, j in T.grid(n, m):
    with T.block("S"):
        vi, vj = T.axis.remap("SS", [i, j])
        S[vi, vj] = X[vi, vj] * T.float32(2)
for i, j in T.grid(n, m):
    with T.block("S_shared"):
        vi, vj = T.axis.remap("SS", [i, j])
        S_shared[vj, vi // 2, vi % 2] = S[vi, vj]
for i, j in T.grid(n, m):
    with T.block("Y"):
        vi, vj = T.axis.remap("SS", [i, j])
        Y[vi, vj] = S_shared[vj, vi // 2, vi % 2] + T.float32(1)
""",
        *SIZES,
        native=True,
    )


def test_reindex_cache_write_of_a_reduction():
    sch = check_schedule(
        row_sum(), lambda s: s.reindex_cache_write("Y", 0, "local", lambda i, k: (i,)), *SIZES
    )
    script = sch.func.script()
    assert "Y_local[vi] = Y_local[vi] + X[vi, vk]" in script and "Y[vi] = Y_local[vi]" in script


TILES = """
    S = T.alloc_buffer(({n} * 4,), "float32")
    for i in range({n}):
        for j in range(4):
            with T.block("S"):
                vi = T.axis.spatial({n} * 4, i * 4 + j)
                S[vi] = X[vi] * T.float32(2)
        for j in range(4):
            with T.block("Y"):
                vi = T.axis.spatial({n} * 4, i * 4 + j)
                Y[vi] = S[vi] + T.float32(1)
    for i in range({n} * 4):
        with T.block("Z"):
            vi = T.axis.spatial({n} * 4, i)
            Z[vi] = S[vi] + T.float32(3)
"""
TILE_BUFFERS = {"N": "({n},)", **dict.fromkeys("XYZ", "({n} * 4,)")}


@pytest.mark.parametrize(
    ("schedule", "copy", "reader"),
    [
        (lambda s: s.cache_read("Y", 0, "local"), "S_local[v_ax0] = S[v_ax0]", "S_local[vi] + T"),
        (lambda s: s.cache_write("S", 0, "local"), "S[v_ax0] = S_local[v_ax0]", "S[vi] + T"),
        (
            lambda s: s.reindex_cache_read("Y", 0, "local", lambda i: (i // 2, i % 2)),
            "S_local[vi // 2, vi % 2] = S[vi]",
            "S_local[vi // 2, vi % 2] + T.float32(1)",
        ),
    ],
)
def test_copies_are_inside_of_loops_that_hold_writers_and_readers(schedule, copy, reader):
    sch = check_schedule(program(TILES, TILE_BUFFERS, n="n"), schedule, {"n": 3}, {"n": 1})
    script = sch.func.script()
    assert copy in script and reader in script
    assert script.index("X[vi] *") < script.index(copy) < script.index("Y[vi] =")
    assert script.count("for i in range(n):") == 1


@pytest.mark.parametrize("consumers", [["Y"], ["Z"], ["Y", "Z"]])
def test_cache_write_with_consumers_in_and_after_the_loop(consumers):
    source = program(TILES, TILE_BUFFERS, n="n")
    sch = check_schedule(source, lambda s: s.cache_write("S", 0, "local", consumers), {"n": 3})
    lines = sch.func.script().splitlines()
    for name in "YZ":
        (line,) = [line for line in lines if f"{name}[vi] =" in line]
        assert ("S_local[vi]" in line) == (name in consumers)


@pytest.mark.parametrize(
    ("schedule", "message"),
    [
        (
            lambda s: s.reindex_cache_read("Y", 0, "local", lambda i, j: j * 2),
            "reindex_cache_read: expected lambda i, j: (j * 2,) to tell the element of 'S': "
            "expected new indices to tell 'vi' of lambda vi, vj: (vj * 2,)",
        ),
        (
            lambda s: s.reindex_cache_write("S", 0, "local", lambda i, j: (i, j - 1)),
            "reindex_cache_write: expected lambda i, j: (i, j - 1) to tell the element of 'S': "
            "expected new index vj - 1 to be at least 0, got -1",
        ),
        (
            lambda s: s.reindex_cache_read("Y", 0, "nowhere", lambda i, j: (i, j)),
            "reindex_cache_read: expected a storage scope (global, shared, local, warp, wmma, "
            "texture), got 'nowhere'",
        ),
        (
            lambda s: s.unsafe_set_dtype("Y", 0, "float16"),
            "unsafe_set_dtype: expected 'Y' to be a scratch buffer",
        ),
        (
            lambda s: s.unsafe_set_dtype("S", 1, "float16"),
            "unsafe_set_dtype: expected block 'S' to write more than 1 buffers, got 1",
        ),
    ],
)
def test_what_is_refused(schedule, message):
    check_refused(chain(), schedule, message)


def test_a_map_of_axes_that_do_not_index_the_buffer_is_refused():
    check_refused(
        row_sum(),
        lambda s: s.reindex_cache_write("Y", 0, "local", lambda i, k: (i, k)),
        "reindex_cache_write: expected lambda i, k: (i, k) to tell the element of 'Y', got 'k', "
        "which is not in its indices",
    )


def test_unknown_dtypes_are_refused():
    check_refused(
        chain(),
        lambda s: s.unsafe_set_dtype("S", 0, "float12"),
        "unsafe_set_dtype: expected a dtype (float16",
        whole=False,
    )


@pytest.mark.parametrize("dtype", ["float16", "float64", "int32"])
def test_values_are_converted_where_they_are_stored_and_loaded(dtype):
    check_text(
        chain(),
        lambda sch: sch.unsafe_set_dtype("S", 0, dtype),
        f"""
S = T.alloc_buffer((n, m), "{dtype}")
for i, j in T.grid(n, m):
    with T.block("S"):
        vi, vj = T.axis.remap("SS", [i, j])
        S[vi, vj] = T.Cast("{dtype}", X[vi, vj] * T.float32(2))
for i, j in T.grid(n, m):
    with T.block("Y"):
        vi, vj = T.axis.remap("SS", [i, j])
        Y[vi, vj] = T.Cast("float32", S[vi, vj]) + T.float32(1)
""",
        *SIZES,
        native=True,
    )
