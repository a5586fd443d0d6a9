"""`reverse_compute_inline` of loads at any indices that determine the axes."""

import pytest
from programs import program
from schedule_check import check_refused, check_schedule, check_text

from xrelax.tir import Schedule

SPLIT = """
    S = T.alloc_buffer(({n} * 4, {m}), "float32")
    for i, j in T.grid({n} * 4, {m}):
        with T.block("S"):
            vi, vj = T.axis.remap("SS", [i, j])
            S[vi, vj] = X[vi, vj] * T.float32(2)
    for i, j, k in T.grid({n}, 4, {m}):
        with T.block("Y"):
            vi, vj, vk = T.axis.remap("SSS", [i, j, k])
            Y[vi, vj, vk] = S[vi * 4 + vj, vk] + W[vj, 0]
"""
SPLIT_BUFFERS = {"X": "({n} * 4, {m})", "W": "(4, 1)", "Y": "({n}, 4, {m})"}


def test_the_axes_are_quotients_and_remainders():
    check_text(
        program(SPLIT, SPLIT_BUFFERS, n="n", m="m"),
        lambda sch: sch.reverse_compute_inline("Y"),
        """
for i, j in T.grid(n * 4, m):
    with T.block("S"):
        vi, vj = T.axis.remap("SS", [i, j])
        Y[vi // 4, vi % 4, vj] = X[vi, vj] * T.float32(2) + W[vi % 4, 0]
""",
        {"n": 3, "m": 5},
        {"n": 1, "m": 1},
        native=True,
    )


PART = """
    S = T.alloc_buffer((8, 6), "float32")
    for i, j in T.grid(8, 6):
        with T.block("S"):
            vi, vj = T.axis.remap("SS", [i, j])
            S[vi, vj] = X[vi, vj] * T.float32(2)
    for i, j in T.grid({rows}, 6):
        with T.block("Y"):
            vi, vj = T.axis.remap("SS", [i, j])
            Y[vi, vj] = S[INDEX, vj] + T.float32(1)
"""


def part(rows, index):
    """Block "Y" has this number of rows, each from the row of "S" at `index`."""
    body = PART.replace("INDEX", index)
    return program(body, {"X": "(8, 6)", "Y": "({rows}, 6)"}, rows=rows)


@pytest.mark.parametrize(
    ("rows", "index", "condition", "place"),
    [
        (5, "vi", "i < 5", "vi"),
        (5, "vi + 2", "-1 < i - 2 and i - 2 < 5", "vi - 2"),
        (8, "7 - vi", "", "-vi + 7"),
    ],
)
def test_elements_that_are_not_loaded_are_not_computed(rows, index, condition, place):
    where = f"        T.where({condition})\n" if condition else ""
    check_text(
        part(rows, index),
        lambda sch: sch.reverse_compute_inline("Y"),
        f"""
for i, j in T.grid(8, 6):
    with T.block("S"):
        vi, vj = T.axis.remap("SS", [i, j])
{where}        Y[{place}, vj] = X[vi, vj] * T.float32(2) + T.float32(1)
""",
        native=True,
    )


def test_a_chain_in_either_order():
    body = SPLIT.replace("Y[vi, vj, vk] =", "Z[vi, vj, vk] =").replace('"Y"', '"Z"')
    body = body.replace("W[vj, 0]", "W[vi, 0]")
    body = body.replace(
        "    for i, j in", '    Z = T.alloc_buffer(({n}, 4, {m}), "float32")\n    for i, j in'
    )
    body += """
    for i, k in T.grid({n} * 4, {m}):
        with T.block("Y"):
            vi, vk = T.axis.remap("SS", [i, k])
            Y[vi, vk] = Z[vi // 4, vi % 4, vk] + T.float32(1)
"""
    source = program(
        body, {"W": "({n}, 1)", "X": "({n} * 4, {m})", "Y": "({n} * 4, {m})"}, n="n", m="m"
    )
    for order in ("ZY", "YZ"):
        check_text(
            source,
            lambda sch, blocks=order: [sch.reverse_compute_inline(b) for b in blocks],
            """
for i, j in T.grid(n * 4, m):
    with T.block("S"):
        vi, vj = T.axis.remap("SS", [i, j])
        Y[vi, vj] = X[vi, vj] * T.float32(2) + W[vi // 4, 0] + T.float32(1)
""",
            {"n": 3, "m": 5},
        )


@pytest.mark.parametrize("index", ["vi // 2", "0"])
def test_other_loads_are_refused(index):
    check_refused(
        part(8, index),
        lambda sch: sch.reverse_compute_inline("Y"),
        "reverse_compute_inline: expected block 'Y' to load 'S' at indices that determine its axes",
    )


def test_a_producer_that_does_not_store_each_element_once_is_refused():
    check_refused(
        part(4, "vi").replace("S[vi, vj] =", "S[vi // 2, vj] ="),
        lambda sch: sch.reverse_compute_inline("Y"),
        "reverse_compute_inline: expected block 'S' to store each element of 'S' once",
    )


@pytest.mark.parametrize(
    ("rows", "condition"), [(8, "i * 3 + i_1 < 8"), (5, "i * 3 + i_1 < 8 and i * 3 + i_1 < 5")]
)
def test_blocks_that_run_under_predicates(rows, condition):
    """Loops of either block may be split with a remainder."""

    def schedule(sch: Schedule) -> None:
        for name in "SY":
            sch.split(sch.get_loops(name)[0], [None, 3])
        sch.reverse_compute_inline("Y")

    check_text(
        part(rows, "vi"),
        schedule,
        f"""
for i, i_1, j in T.grid(3, 3, 6):
    with T.block("S"):
        vi = T.axis.spatial(8, i * 3 + i_1)
        vj = T.axis.spatial(6, j)
        T.where({condition})
        Y[vi, vj] = X[vi, vj] * T.float32(2) + T.float32(1)
""",
    )


SUM_AND_COPY = """
    S = T.alloc_buffer(({n}, {m}))
    for i, j, k in T.grid({n}, {m}, 3):
        with T.block("S"):
            vi, vj, vk = T.axis.remap("SSR", [i, j, k])
            with T.init():
                S[vi, vj] = W[vj, 0]
            S[vi, vj] = S[vi, vj] + X[vi, vj * 3 + vk]
    for i, j in T.grid({n}, {m}):
        with T.block("Y"):
            vi, vj = T.axis.remap("SS", [i, j])
            Y[0, vj, vi] = VALUE
"""


def sum_and_copy(value: str) -> str:
    buffers = {"W": "({m}, 1)", "X": "({n}, {m} * 3)", "Y": "(1, {m}, {n})"}
    return program(SUM_AND_COPY.replace("VALUE", value), buffers, n="n", m="m")


def test_a_copy_of_sums():
    check_text(
        sum_and_copy("S[vi, vj]"),
        lambda sch: sch.reverse_compute_inline("Y"),
        """
for i, j, k in T.grid(n, m, 3):
    with T.block("S"):
        vi, vj, vk = T.axis.remap("SSR", [i, j, k])
        with T.init():
            Y[0, vj, vi] = W[vj, 0]
        Y[0, vj, vi] = Y[0, vj, vi] + X[vi, vj * 3 + vk]
""",
        {"n": 3, "m": 5},
        native=True,
    )


def test_what_computes_with_sums_is_refused():
    check_refused(
        sum_and_copy("S[vi, vj] + T.float32(1)"),
        lambda sch: sch.reverse_compute_inline("Y"),
        "reverse_compute_inline: expected block 'Y' to copy the result of reduction 'S', got one "
        "that computes",
    )


FEW_STORED = """
    S = T.alloc_buffer((9,))
    for i in range(6):
        with T.block("S"):
            vi = T.axis.spatial((1, 7), i + 1)
            S[vi] = X[vi] * T.float32(2)
    for i in range(6):
        with T.block("Y"):
            vi = T.axis.spatial(6, i)
            Y[vi] = S[INDEX] + T.float32(1)
"""


def test_what_stores_a_part():
    """Consumers may load what is stored, and nothing else."""
    source = program(FEW_STORED, {"X": "(9,)", "Y": "(6,)"})
    text = """
for i in range(6):
    with T.block("Y"):
        vi = T.axis.spatial(6, i)
        Y[vi] = X[-vi + 6] * T.float32(2) + T.float32(1)
"""
    check_text(source.replace("INDEX", "6 - vi"), lambda sch: sch.compute_inline("S"), text)
    unknown = """
    S = T.alloc_buffer(({n} + {m},))
    for i in range({n}):
        with T.block("S"):
            vi = T.axis.spatial({n}, i)
            S[vi] = X[vi] * T.float32(2)
    for i in range({m}):
        with T.block("Y"):
            vi = T.axis.spatial({m}, i)
            Y[vi] = S[vi] + T.float32(1)
"""
    check_refused(
        program(unknown, {"X": "({n},)", "Y": "({m},)"}, n="n", m="m"),
        lambda sch: sch.compute_inline("S"),
        "compute_inline: expected 'S' to be loaded where block 'S' stores",
    )


TILES = """
@T.prim_func
def main(X: T.Buffer((64,), "float32"), Y: T.Buffer((8, 8), "float32")):
    S = T.alloc_buffer((64,))
    for t, i, j in T.grid(4, 4, 8):
        with T.block("S"):
            v = T.axis.spatial(64, t * 16 + i * 8 + j)
            T.where({predicate})
            S[v] = X[v] * T.float32(2)
    for i, j in T.grid(8, 8):
        with T.block("Y"):
            vi, vj = T.axis.remap("SS", [i, j])
            Y[vi, vj] = S[vi * 8 + vj] + T.float32(1)
"""


@pytest.mark.parametrize("predicate", ["i * 8 + j < 16", "i < 2", "16 > j + i * 8 and i < 3"])
def test_reverse_compute_inline_into_tiles_that_a_predicate_ends(predicate):
    source = TILES.format(predicate=predicate)
    sch = check_schedule(source, lambda s: s.reverse_compute_inline("Y"))
    assert "Y[v // 8, v % 8] = X[v] * T.float32(2) + T.float32(1)" in sch.mod.script()


@pytest.mark.parametrize("predicate", ["i * 8 + j < 15", "i < 1", "i < 2 and j < t"])
def test_reverse_compute_inline_into_tiles_with_gaps_is_refused(predicate):
    check_refused(
        TILES.format(predicate=predicate),
        lambda s: s.reverse_compute_inline("Y"),
        "reverse_compute_inline: expected block 'S' to store each element of 'S' once",
    )
