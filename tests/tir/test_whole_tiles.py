"""Primitives for whole tiles: loops that end in time, buffers of a tile, blocks without rests."""

import pytest
from programs import chain, program, row_sum, scaled
from schedule_check import check_refused, check_schedule, check_text

SIZES = ({"n": 10, "m": 6}, {"n": 3, "m": 1}, {"n": 1, "m": 5}, {"n": 0, "m": 3})


def tile(sch):
    """Sums of four rows at once, in scratch memory that all tiles share; returns their loop."""
    copy = sch.cache_write("Y", 0, "local")
    i, k = sch.get_loops("Y")
    outer, inner = sch.split(i, [None, 4])
    sch.reorder(outer, k, inner)
    sch.reverse_compute_at(copy, outer)
    return outer


@pytest.mark.parametrize("kind", ["unroll", "vectorize"])
def test_loop_trim(kind):
    def schedule(sch):
        outer = tile(sch)
        _, rest = sch.loop_partition(outer, [None, 1], preserve_unit_iters=False)
        for block in sch.get_child_blocks(rest):
            sch.loop_trim(sch.get_loops(block)[-1])
            getattr(sch, kind)(sch.get_loops(block)[-1])
            sch.loop_trim(sch.get_loops(block)[-1])  # nothing is left to drop

    name = {"unroll": "unroll", "vectorize": "vectorized"}[kind]
    check_text(
        row_sum(10, 6),
        schedule,
        f"""
Y_local = T.alloc_buffer((10,), scope="local")
for i in range(2):
    for k, i_1 in T.grid(6, 4):
        with T.block("Y_i0"):
            vi = T.axis.spatial(8, i * 4 + i_1)
            vk = T.axis.reduce(6, k)
            with T.init():
                Y_local[vi] = T.float32(0)
            Y_local[vi] = Y_local[vi] + X[vi, vk]
    for ax0 in range(4):
        with T.block("Y_local_i0"):
            v_ax0 = T.axis.spatial(8, i * 4 + ax0)
            Y[v_ax0] = Y_local[v_ax0]
for i in range(2, 3):
    for k in range(6):
        for i_1 in T.{name}(2):
            with T.block("Y_i1"):
                vi = T.axis.spatial((8, 10), i_1 + 8)
                vk = T.axis.reduce(6, k)
                with T.init():
                    Y_local[vi] = T.float32(0)
                Y_local[vi] = Y_local[vi] + X[vi, vk]
    for ax0 in T.{name}(2):
        with T.block("Y_local_i1"):
            v_ax0 = T.axis.spatial((8, 10), ax0 + 8)
            Y[v_ax0] = Y_local[v_ax0]
""",
        native=True,
    )


def test_loop_trim_of_several_predicates():
    body = """
    for i, j in T.grid(9, 8):
        with T.block("Y"):
            vi, vj = T.axis.remap("SS", [i, j])
            T.where(i * 2 + j < 10 and i < 7)
            Y[vi, vj] = X[vi, vj] * T.float32(2)
        with T.block("Z"):
            vi, vj = T.axis.remap("SS", [i, j])
            T.where(i < 3)
            Z[vi, vj] = X[vi, vj] * T.float32(3)
"""
    check_text(
        program(body, {"X": "(9, 8)", "Y": "(9, 8)", "Z": "(9, 8)"}),
        lambda sch: [sch.loop_trim(loop) for loop in sch.get_loops("Y")],
        """
for i, j in T.grid(5, 8):
    with T.block("Y"):
        vi, vj = T.axis.remap("SS", [i, j])
        T.where(i * 2 + j < 10)
        Y[vi, vj] = X[vi, vj] * T.float32(2)
    with T.block("Z"):
        vi, vj = T.axis.remap("SS", [i, j])
        T.where(i < 3)
        Z[vi, vj] = X[vi, vj] * T.float32(3)
""",
        native=True,
    )


def test_loop_trim_where_no_block_runs():
    body = """
    for i, j in T.grid(4, 5):
        with T.block("Y"):
            vi, vj = T.axis.remap("SS", [i, j])
            T.where(j + 9 < i)
            Y[vi, vj] = X[vi, vj] * T.float32(2)
"""
    sch = check_schedule(
        program(body, {"X": "(4, 5)", "Y": "(4, 5)"}),
        lambda sch: sch.loop_trim(sch.get_loops("Y")[1]),
    )
    assert "T.grid(4, 0)" in sch.mod.script()


COMPACT = """
for i in range({tiles}):
    Y_local = T.alloc_buffer((4,), scope="local")
    for k, i_1 in T.grid({m}, 4):
        with T.block("Y"):
            vi = T.axis.spatial({axis}, i * 4 + i_1)
            vk = T.axis.reduce({m}, k){where}
            with T.init():
                Y_local[vi - i * 4] = T.float32(0)
            Y_local[vi - i * 4] = Y_local[vi - i * 4] + X[{vi}, vk]
    for ax0 in range(4):
        with T.block("Y_local"):
            v_ax0 = T.axis.spatial({n}, i * 4 + ax0)
            T.where(i * 4 + ax0 < {n})
            Y[v_ax0] = Y_local[v_ax0 - i * 4]
"""


def test_compact_buffer():
    def schedule(sch):
        tile(sch)
        sch.compact_buffer("Y", "Y_local")

    where = "\n            T.where(i * 4 + i_1 < {n})"
    for n, m in ((10, 6), ("n", "m")):
        text = COMPACT.format(
            n=n,
            m=m,
            axis=n,
            vi="vi",
            where=where.format(n=n),
            tiles="3" if n == 10 else "(n + 3) // 4",
        )
        check_text(row_sum(n, m), schedule, text, *(SIZES if n == "n" else ({},)), native=True)


def test_compact_buffer_that_is_loaded_under_a_condition():
    """Rows of even length, of which a row of the buffer has all that is there."""
    body = """
    T_rows = T.alloc_buffer(({n}, {m}), "float32")
    for i in range({n}):
        for j in range({m}):
            with T.block("rows"):
                vi, vj = T.axis.remap("SS", [i, j])
                T_rows[vi, vj] = X[vi, vj] * T.float32(2)
        for j in range(({m} + 1) // 2 * 2):
            with T.block("Y"):
                vi, vj = T.axis.remap("SS", [i, j])
                Y[vi, vj] = T.if_then_else(vj < {m}, T_rows[vi, vj], T.float32(0))
"""
    shapes = {"X": "({n}, {m})", "Y": "({n}, ({m} + 1) // 2 * 2)"}
    for n, m in ((3, 5), ("n", "m")):
        sizes = SIZES if n == "n" else ({},)
        source = program(body, shapes, n=n, m=m)
        sch = check_schedule(source, lambda sch: sch.compact_buffer("rows", 0), *sizes)
        assert f"T_rows = T.alloc_buffer((1, {m})" in sch.mod.script()


def test_drop_predicates():
    def schedule(sch):
        tile(sch)
        sch.compact_buffer("Y", 0)
        sch.drop_predicates("Y")
        sch.drop_predicates("Y")  # nothing is left to drop
        sch.unroll(sch.get_loops("Y")[2])

    for n, m, axis, tiles in ((10, 6, 12, 3), ("n", "m", "(n + 3) // 4 * 4", "(n + 3) // 4")):
        last = "T.min(9, vi)" if n == 10 else "T.min(vi, n - 1)"
        sizes = SIZES if n == "n" else ({},)
        sch = check_schedule(row_sum(n, m), schedule, *sizes)
        assert f"X[{last}, vk]" in sch.mod.script() and sch.mod.script().count("T.where") == 1


def test_drop_predicates_of_tiles_of_a_quotient():
    """The tiles of (n + 3) // 4 rows are (n + 15) // 16."""

    def schedule(sch):
        tile(sch)
        sch.compact_buffer("Y", 0)
        sch.drop_predicates("Y")

    body = """
    for i, k in T.grid(({n} + 3) // 4, {m}):
        with T.block("Y"):
            vi, vk = T.axis.remap("SR", [i, k])
            with T.init():
                Y[vi] = T.float32(0)
            Y[vi] = Y[vi] + X[vi * 4, vk]
"""
    source = program(body, {"X": "({n}, {m})", "Y": "(({n} + 3) // 4,)"}, n="n", m="m")
    sch = check_schedule(source, schedule, *SIZES)
    assert "range((n + 15) // 16)" in sch.mod.script() and sch.mod.script().count("T.where") == 1


def test_drop_predicates_of_a_copy_with_room():
    """Additional iterations of a sum read what the copy's additional iterations have stored."""

    def schedule(sch):
        outer = tile(sch)
        panel = sch.cache_read("Y", 0, "global")
        sch.compute_at(panel, outer)
        for block in (panel, "Y"):
            sch.compact_buffer(block, 0)
            sch.drop_predicates(block)

    sch = check_schedule(row_sum(10, 6), schedule)
    script = sch.mod.script()
    assert script.count("T.where") == 1  # what is copied back
    assert "X_global[vi - i * 4, vk]" in script and "X[T.min(9, v_ax0), v_ax1]" in script


PARTLY_WRITTEN = """
    T_ = T.alloc_buffer((16,), "float32")
    U = T.alloc_buffer((12,), "float32")
    for i in range(10):
        with T.block("T"):
            vi = T.axis.spatial(10, i)
            T_[vi] = X[vi]
    for i in range(10):
        with T.block("U"):
            vi = T.axis.spatial(10, i)
            U[vi] = T_[vi]
    for i in range(10):
        with T.block("Y"):
            vi = T.axis.spatial(10, i)
            Y[vi] = U[vi]
"""


def test_additional_iterations_read_what_is_written():
    def schedule(sch):
        sch.split(sch.get_loops("U")[0], [None, 4])
        sch.drop_predicates("U")

    source = program(PARTLY_WRITTEN, {"X": "(10,)", "Y": "(10,)"})
    sch = check_schedule(source, schedule, native=True)
    assert "T_[T.min(9, vi)]" in sch.mod.script()


PADDED = """
    T_ = T.alloc_buffer((12,), "float32")
    for i in range(12):
        with T.block("T"):
            vi = T.axis.spatial(12, i)
            T_[vi] = T.float32(7)
    for i in range(10):
        with T.block("U"):
            vi = T.axis.spatial(10, i)
            T_[vi] = X[vi]{more}
    for i in range(12):
        with T.block("Y"):
            vi = T.axis.spatial(12, i)
            Y[vi] = T_[vi]
"""


def padded(more=""):
    """Block "U" stores ten of twelve elements of scratch memory, all of which others use."""
    return program(PADDED.format(more=more), {"X": "(10,)", "Y": "(12,)"})


def stale():
    """The last tile leaves elements of the one before, which are used after the loops."""
    body = """
    T_ = T.alloc_buffer((4,), "float32")
    for i, j in T.grid(3, 4):
        with T.block("T"):
            vi = T.axis.spatial(10, i * 4 + j)
            T.where(i * 4 + j < 10)
            T_[vi - i * 4] = X[vi]
    for i in range(4):
        with T.block("Y"):
            vi = T.axis.spatial(4, i)
            Y[vi] = T_[vi]
"""
    return program(body, {"X": "(10,)", "Y": "(4,)"})


def previous():
    """An iteration uses what the one before has stored."""
    body = """
    T_ = T.alloc_buffer((11,), "float32")
    for i in range(10):
        with T.block("S"):
            vi = T.axis.spatial(10, i)
            T_[vi + 1] = X[vi]
        with T.block("Y"):
            vi = T.axis.spatial(10, i)
            Y[vi] = T_[T.max(vi, 1)] + T_[vi + 1]
"""
    return program(body, {"X": "(10,)", "Y": "(10,)"})


def split(sch, name="Y", factors=(None, 4)):
    sch.split(sch.get_loops(name)[0], list(factors))
    return name


REFUSED = [
    (
        scaled("n"),
        lambda s: s.loop_trim(s.get_loops("Y")[0]),
        "loop_trim: expected loop 'i' to have constant bounds, got (0, n)",
    ),
    (
        scaled(19),
        lambda s: s.compact_buffer("Y", 0),
        "compact_buffer: expected 'Y' to be a scratch buffer",
    ),
    (
        chain(),
        lambda s: s.compact_buffer("S", 0),
        "compact_buffer: expected a loop around all blocks that use 'S'",
    ),
    (
        row_sum(10, 6),
        lambda s: (tile(s), s.compact_buffer("Y", 1)),
        "compact_buffer: expected block 'Y' to write more than 1 buffers, got 1",
    ),
    (
        previous(),
        lambda s: s.compact_buffer("S", 0),
        "compact_buffer: expected each iteration of loop 'i' to store all of 'T_' that it loads",
    ),
    (
        scaled(10),
        lambda s: s.drop_predicates(split(s)),
        "drop_predicates: expected 'Y' to have elements for all iterations of the loops around "
        "block 'Y'",
    ),
    (
        scaled(10, index="0"),
        lambda s: s.drop_predicates(split(s)),
        "drop_predicates: expected block 'Y' to store to a scratch buffer, got 'Y'",
    ),
    (
        row_sum(10, 6),
        lambda s: (s.split(s.get_loops("Y")[1], [None, 4]), s.drop_predicates("Y")),
        "drop_predicates: expected predicates of block 'Y' to keep spatial axes in range",
    ),
    (
        padded(),
        lambda s: s.drop_predicates(split(s, "U")),
        "drop_predicates: expected other blocks not to use what block 'U' stores to 'T_' in "
        "additional iterations",
    ),
    (
        stale(),
        lambda s: s.drop_predicates("T"),
        "drop_predicates: expected block 'T' to store to 'T_' beyond the elements of axis 'vi' in "
        "additional iterations",
    ),
]


@pytest.mark.parametrize(
    ("source", "change", "message"), REFUSED, ids=[row[-1][-50:] for row in REFUSED]
)
def test_refused(source, change, message):
    check_refused(source, change, message)
