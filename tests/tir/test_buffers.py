"""Copies of buffers: `cache_read`, `cache_write` and `reindex`, and what they refuse."""

import pytest
from programs import chain, matmul_relu, program, row_sum
from schedule_check import body_text, check_refused, check_schedule, check_text

SIZES = ({"n": 8, "m": 6}, {"n": 7, "m": 5}, {"n": 1, "m": 1})


def test_cache_read_by_number_and_name():
    for buffer in (0, "X"):
        check_text(
            row_sum(),
            lambda sch, b=buffer: sch.cache_read("Y", b, "shared"),
            """
X_shared = T.alloc_buffer((n, m), scope="shared")
for ax0, ax1 in T.grid(n, m):
    with T.block("X_shared"):
        v_ax0, v_ax1 = T.axis.remap("SS", [ax0, ax1])
        X_shared[v_ax0, v_ax1] = X[v_ax0, v_ax1]
for i, k in T.grid(n, m):
    with T.block("Y"):
        vi, vk = T.axis.remap("SR", [i, k])
        with T.init():
            Y[vi] = T.float32(0)
        Y[vi] = Y[vi] + X_shared[vi, vk]
""",
            *SIZES,
        )


PARTS = """
    for i in range({n}):
        with T.block("Y"):
            vi = T.axis.spatial({n}, i)
            Y[vi] = X[vi + 2]
    for i in range({n}):
        with T.block("Z"):
            vi = T.axis.spatial({n}, i)
            Z[vi] = X[vi + 3] + X[vi]
"""
PART_BUFFERS = {"X": "({n} + 4,)", "Y": "({n},)", "Z": "({n},)"}


def test_cache_read_copies_what_is_read():
    source = program(PARTS, PART_BUFFERS, n="n")
    everyone = check_schedule(source, lambda s: s.cache_read("Y", 0, "local"), {"n": 5})
    script = everyone.func.script()
    assert "for ax0 in range(n + 3):" in script
    assert "X_local[vi + 2]" in script and "X_local[vi + 3] + X_local[vi]" in script
    one = check_schedule(source, lambda s: s.cache_read("Y", 0, "local", ["Y"]), {"n": 5})
    script = one.func.script()
    assert "for ax0 in range(n):" in script and "T.axis.spatial((2, n + 2), ax0 + 2)" in script
    assert "X_local[vi + 2]" in script and "X[vi + 3] + X[vi]" in script
    other = check_schedule(source, lambda s: s.cache_read("Y", 0, "local", ["Z"]), {"n": 5})
    script = other.func.script()
    assert "Y[vi] = X[vi + 2]" in script and "X_local[vi + 3] + X_local[vi]" in script


@pytest.mark.parametrize("condition, index", [("vi < 3", "vi"), ("vi > 4", "vi - 5")])
def test_cache_read_of_what_is_read_under_a_condition(condition, index):
    """All of a buffer is copied where a tile of the block would leave it at either end."""
    source = f"""
@T.prim_func
def main(X: T.Buffer((3,), "float32"), Y: T.Buffer((8,), "float32")):
    for i in range(8):
        with T.block("Y"):
            vi = T.axis.spatial(8, i)
            Y[vi] = T.if_then_else({condition}, X[{index}], T.float32(1))
"""

    def schedule(sch):
        sch.blockize(sch.split(sch.get_loops("Y")[0], [None, 2])[1])
        sch.cache_read("Y", 0, "local")

    assert "range(3)" in body_text(check_schedule(source, schedule, native=True))


NESTED = """
@T.prim_func
def main(X: T.Buffer((12, 24), "float32"), Y: T.Buffer((12, 24), "float32")):
    for i, j in T.grid(12, 24):
        with T.block("Y"):
            vi, vj = T.axis.remap("SS", [i, j])
            with T.block("rows"):
                T.where({rows})
                Y[vi, vj] = X[vi, vj] * T.float32(2)
            with T.block("columns"):
                T.where({columns})
                Y[vi, vj] = X[vi, vj] + Y[vi, vj]
"""


@pytest.mark.parametrize(
    "rows, columns, copied",
    [
        ("vi < 8 and vj < 20", "vi < 8 and vj < 16", "T.grid(8, 20)"),
        ("vi < 8", "vj < 16", "T.grid(12, 24)"),
        ("vi < 0", "vi < 0 and vj < 16", "T.grid(0, 24)"),
        ("vi < 3", "vi < vj", "T.grid(12, 24)"),
    ],
)
def test_cache_read_under_predicates(rows, columns, copied):
    """The box around what blocks inside read is copied."""
    source = NESTED.format(rows=rows, columns=columns)
    sch = check_schedule(source, lambda s: s.cache_read("Y", "X", "local"))
    assert f"for ax0, ax1 in {copied}:" in sch.mod.script()


def test_cache_read_under_a_predicate_on_symbols():
    source = """
@T.prim_func
def main(x: T.handle, y: T.handle):
    n = T.int32()
    X = T.match_buffer(x, (n,))
    Y = T.match_buffer(y, (n,))
    for i in range(n):
        with T.block("Y"):
            vi = T.axis.spatial(n, i)
            T.where(i < n - 4)
            Y[vi] = X[vi] * T.float32(2)
"""
    sch = check_schedule(source, lambda s: s.cache_read("Y", "X", "local"), {"n": 7}, {"n": 2})
    assert "in range(n - 4):" in sch.mod.script()


def test_cache_write():
    check_text(
        row_sum(),
        lambda sch: sch.cache_write("Y", 0, "local"),
        """
Y_local = T.alloc_buffer((n,), scope="local")
for i, k in T.grid(n, m):
    with T.block("Y"):
        vi, vk = T.axis.remap("SR", [i, k])
        with T.init():
            Y_local[vi] = T.float32(0)
        Y_local[vi] = Y_local[vi] + X[vi, vk]
for ax0 in range(n):
    with T.block("Y_local"):
        v_ax0 = T.axis.spatial(n, ax0)
        Y[v_ax0] = Y_local[v_ax0]
""",
        *SIZES,
    )


def test_cache_write_with_consumers():
    def schedule(sch):
        sch.cache_write("S", "S", "shared", consumer_blocks=["Y"])

    sch = check_schedule(chain(), schedule, *SIZES)
    assert "Y[vi, vj] = S_shared[vi, vj] + T.float32(1)" in sch.func.script()
    assert "S[v_ax0, v_ax1] = S_shared[v_ax0, v_ax1]" in sch.func.script()


STRIDED = """
    for i, j, k in T.grid({n}, {m}, 3):
        with T.block("Y"):
            vi, vj, vk = T.axis.remap("SSR", [i, j, k])
            with T.init():
                Y[vj, vi] = T.float32(0)
            Y[vj, vi] = Y[vj, vi] + X[vi * 2 + vk]
"""
STRIDED_BUFFERS = {"X": "({n} * 2 + 1,)", "Y": "({m}, {n})"}


def test_reindex():
    def schedule(sch):
        sch.reindex("Y", ("read", 0))
        sch.reindex("Y", ("write", 0))

    check_text(
        program(STRIDED, STRIDED_BUFFERS, n="n", m="m"),
        schedule,
        """
X_reindex = T.alloc_buffer((n, 3))
Y_reindex = T.alloc_buffer((n, m))
for ax0, ax1 in T.grid(n, 3):
    with T.block("X_reindex"):
        v_ax0, v_ax1 = T.axis.remap("SS", [ax0, ax1])
        X_reindex[v_ax0, v_ax1] = X[v_ax0 * 2 + v_ax1]
for i, j, k in T.grid(n, m, 3):
    with T.block("Y"):
        vi, vj, vk = T.axis.remap("SSR", [i, j, k])
        with T.init():
            Y_reindex[vi, vj] = T.float32(0)
        Y_reindex[vi, vj] = Y_reindex[vi, vj] + X_reindex[vi, vk]
for ax0, ax1 in T.grid(n, m):
    with T.block("Y_reindex"):
        v_ax0, v_ax1 = T.axis.remap("SS", [ax0, ax1])
        Y[v_ax1, v_ax0] = Y_reindex[v_ax0, v_ax1]
""",
        *SIZES,
    )


TOTAL = """
    for k in range(6):
        with T.block("Y"):
            vk = T.axis.reduce(6, k)
            with T.init():
                Y[()] = T.float32(0)
            Y[()] = Y[()] + X[vk]
"""


def test_reindex_of_a_block_of_blocks():
    def schedule(sch):
        _, inner = sch.split(sch.get_loops("Y")[0], [2, 3])
        sch.reindex(sch.blockize(inner), ("write", 0))

    sch = check_schedule(program(TOTAL, {"X": "(6,)", "Y": "()"}), schedule)
    assert "T.writes(Y_reindex[()])" in sch.func.script()


IN_PLACE = """
    for i in range({n}):
        with T.block("Y"):
            vi = T.axis.spatial({n}, i)
            Y[vi] = Y[vi] + X[vi]
"""
HALF = """
    for i in range({n}):
        with T.block("Y"):
            vi = T.axis.spatial({n}, i)
            Y[vi * 2] = X[vi]
"""
GUARDED = """
    for i in range({n}):
        with T.block("Y"):
            vi = T.axis.spatial({n}, i)
            T.where(CONDITION)
            Y[vi] = X[vi]
"""
VIEWED = """
    for i in range({n}):
        with T.block("Y"):
            vi = T.axis.spatial({n}, i)
            V = T.match_buffer(X[vi : vi + 1], (1,))
            Y[vi] = V[0]
"""
VIEWS_OF_TWO = """
    for i in range({n} // 2):
        with T.block("Y"):
            vi = T.axis.spatial({n} // 2, i)
            V = T.match_buffer(X[vi * 2 : vi * 2 + 2], (2,))
            for j in range(2):
                Y[vi * 2 + j] = V[j]
"""
VIEW_READ_INSIDE = """
    for i in range({n}):
        with T.block("Y"):
            vi = T.axis.spatial({n}, i)
            V = T.match_buffer(X[vi : vi + 1], (1,))
            for j in range(1):
                with T.block("Z"):
                    vj = T.axis.spatial(1, j)
                    Y[vi] = V[vj]
"""
VIEW_UPDATED_INSIDE = """
    for i in range({n}):
        with T.block("Y"):
            vi = T.axis.spatial({n}, i)
            V = T.match_buffer(Y[vi : vi + 1], (1,))
            for j in range(1):
                with T.block("Z"):
                    vj = T.axis.spatial(1, j)
                    V[vj] = V[vj] + X[vi]
"""
TWO = "@I.ir_module\nclass M:\n" + "\n".join(
    "    " + line.replace("def main", f"def {name}").replace('"Y"', f'"{name}"')
    for name in ("first", "second")
    for line in row_sum().splitlines()
)
START = """
    for i in range(4):
        with T.block("Y"):
            vi = T.axis.spatial(4, i)
            Y[vi] = X[vi]
    for i in range({n}):
        with T.block("Z"):
            vi = T.axis.spatial({n}, i)
            Z[vi] = Y[vi]
"""
"""The rest of `Y` is the caller's."""

VECTORS = {"X": "({n},)", "Y": "({n},)"}


def test_cache_write_of_the_first_elements():
    """Only what the block stores is copied: the rest is the caller's."""
    check_text(
        program(GUARDED.replace("CONDITION", "i < 3"), VECTORS, n=8),
        lambda s: s.cache_write("Y", 0, "local"),
        """
Y_local = T.alloc_buffer((8,), scope="local")
for i in range(8):
    with T.block("Y"):
        vi = T.axis.spatial(8, i)
        T.where(i < 3)
        Y_local[vi] = X[vi]
for ax0 in range(3):
    with T.block("Y_local"):
        v_ax0 = T.axis.spatial(3, ax0)
        Y[v_ax0] = Y_local[v_ax0]
""",
        native=True,
    )


def test_cache_read_of_what_is_viewed():
    """The copy has the layout of the buffer, and so has its view."""
    sch = check_schedule(
        program(VIEWED, VECTORS, n="n"), lambda s: s.cache_read("Y", 0, "local"), {"n": 7}
    )
    assert "V = T.match_buffer(X_local[vi], (1,))" in sch.mod.script()


def test_regions_of_views():
    """A block reads the part that its view shows."""
    text = check_schedule(program(VIEWS_OF_TWO, VECTORS, n=8), lambda s: None).mod.script()
    assert "T.reads(X[vi * 2:vi * 2 + 2])" in text


@pytest.mark.parametrize(
    "source, schedule, message",
    [
        (
            row_sum(),
            lambda s: s.cache_read("Y", 1, "local"),
            "'Y' to read more than 1 buffers, got 1",
        ),
        (
            row_sum(),
            lambda s: s.cache_read("Y", "Z", "local"),
            "'Y' to read one buffer 'Z', got 'X'",
        ),
        (row_sum(), lambda s: s.cache_read("Y", 0, "far"), "expected a storage scope (global,"),
        (
            chain(),
            lambda s: s.cache_read("S", 0, "local", ["Y"]),
            "expected block 'Y' to read 'X'",
        ),
        (
            program(IN_PLACE, VECTORS, n=8),
            lambda s: s.cache_read("Y", "Y", "local"),
            "expected nothing to store to 'Y' while its copy is read",
        ),
        (
            program(IN_PLACE, VECTORS, n=8),
            lambda s: s.cache_write("Y", 0, "local"),
            "expected block 'Y' to read nothing of 'Y' that it has not stored",
        ),
        (
            program(HALF, {"X": "({n},)", "Y": "({n} * 2,)"}, n=8),
            lambda s: s.cache_write("Y", 0, "local"),
            "expected block 'Y' to store every element of a box of 'Y', one at a time",
        ),
        (
            program(GUARDED.replace("CONDITION", "2 < i"), VECTORS, n=8),
            lambda s: s.cache_write("Y", 0, "local"),
            "expected block 'Y' to store every element of a box of 'Y', one at a time",
        ),
        (
            chain(),
            lambda s: s.cache_write("Y", 0, "local", ["S"]),
            "expected block 'S' to come after block 'Y'",
        ),
        (
            program(START, {b: "({n},)" for b in "XYZ"}, n=8),
            lambda s: s.cache_write("Y", 0, "local", ["Z"]),
            "expected block 'Z' to read from 'Y' only what block 'Y' writes",
        ),
        (
            row_sum(),
            lambda s: s.reindex("Y", ("both", 0)),
            "expected a buffer's name, ('read', number)",
        ),
        (
            program(PARTS, PART_BUFFERS, n=8),
            lambda s: s.reindex("Z", "X"),
            "expected block 'Z' to access 'X' at one index over its axes",
        ),
        (
            program(VIEWED, VECTORS, n=8),
            lambda s: s.reindex("Y", ("read", 0)),
            "expected block 'Y' to only load and store 'X', got a view or call of it",
        ),
        (
            program(VIEW_READ_INSIDE, VECTORS, n=8),
            lambda s: s.cache_read("Z", 0, "local"),
            "expected 'V' not to be a view",
        ),
        (
            program(VIEW_UPDATED_INSIDE, VECTORS, n=8),
            lambda s: s.reindex("Z", ("read", 0)),
            "expected nothing to store to 'V' while its copy is read",
        ),
        (
            TWO,
            lambda s: s.cache_read(
                s.get_block("first", "first"), 0, "local", [s.get_block("second", "second")]
            ),
            "expected block 'second' to be in function 'first'",
        ),
        (
            matmul_relu(4, 4, 4),
            lambda s: [
                s.decompose_reduction("Y", s.get_loops("Y")[0]),
                s.cache_write("Y_update", 0, "local"),
            ],
            "expected only block 'Y_update' to store to 'Y', and to use it in its loops",
        ),
    ],
)
def test_refusals(source, schedule, message):
    check_refused(source, schedule, message, whole=False)
