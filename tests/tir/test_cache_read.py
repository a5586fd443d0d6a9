"""Copies of what a block reads: `cache_read`, and what it refuses."""

import pytest
from programs import SIZES, VECTORS, chain, in_place, program, row_sum, shifted, viewed
from schedule_check import body_text, check_refused, check_schedule, check_text


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


def test_cache_read_copies_what_is_read():
    source = shifted("n")
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


def test_cache_read_of_what_is_viewed():
    """The copy has the layout of the buffer, and so has its view."""
    sch = check_schedule(viewed("n"), lambda s: s.cache_read("Y", 0, "local"), {"n": 7})
    assert "V = T.match_buffer(X_local[vi], (1,))" in sch.mod.script()


VIEWS_OF_TWO = """
    for i in range({n} // 2):
        with T.block("Y"):
            vi = T.axis.spatial({n} // 2, i)
            V = T.match_buffer(X[vi * 2 : vi * 2 + 2], (2,))
            for j in range(2):
                Y[vi * 2 + j] = V[j]
"""


def test_regions_of_views():
    """A block reads the part that its view shows."""
    text = check_schedule(program(VIEWS_OF_TWO, VECTORS, n=8), lambda s: None).mod.script()
    assert "T.reads(X[vi * 2:vi * 2 + 2])" in text


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
TWO = "@I.ir_module\nclass M:\n" + "\n".join(
    "    " + line.replace("def main", f"def {name}").replace('"Y"', f'"{name}"')
    for name in ("first", "second")
    for line in row_sum().splitlines()
)


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
            in_place(8),
            lambda s: s.cache_read("Y", "Y", "local"),
            "expected nothing to store to 'Y' while its copy is read",
        ),
        (
            program(VIEW_READ_INSIDE, VECTORS, n=8),
            lambda s: s.cache_read("Z", 0, "local"),
            "expected 'V' not to be a view",
        ),
        (
            TWO,
            lambda s: s.cache_read(
                s.get_block("first", "first"), 0, "local", [s.get_block("second", "second")]
            ),
            "expected block 'second' to be in function 'first'",
        ),
    ],
)
def test_refusals(source, schedule, message):
    check_refused(source, schedule, message, whole=False)
