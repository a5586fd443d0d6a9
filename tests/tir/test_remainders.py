"""Primitives for what tiles leave: versions of a nest, nests as one loop, strips, and borders."""

import pytest
from programs import SHAPES, VECTORS, chain, matmul_relu, program, row_sum
from schedule_check import check_refused, check_schedule, check_text

from xrelax.tir import ForKind

PADDED = """
    for i in range({n} + 2):
        with T.block("Y"):
            vi = T.axis.spatial({n} + 2, i)
            Y[vi] = T.if_then_else(1 <= vi and vi < {n} + 1, X[vi - 1], T.float32(0))
"""


def padded(n):
    return program(PADDED, {"X": "({n},)", "Y": "({n} + 2,)"}, n=n)


def test_peel():
    check_text(
        matmul_relu(),
        lambda s: s.peel("Y", s.get_loops("Y")[0], 4, "C"),
        """
Y = T.alloc_buffer(((n // 4) * 4, m))
Y_1 = T.alloc_buffer((n % 4, m))
for i, j, k in T.grid((n // 4) * 4, m, p):
    with T.block("Y_whole"):
        vi, vj, vk = T.axis.remap("SSR", [i, j, k])
        with T.init():
            Y[vi, vj] = T.float32(0)
        Y[vi, vj] = Y[vi, vj] + A[vi, vk] * B[vk, vj]
for i, j in T.grid((n // 4) * 4, m):
    with T.block("C_whole"):
        vi, vj = T.axis.remap("SS", [i, j])
        C[vi, vj] = T.max(Y[vi, vj], T.float32(0))
for i, j, k in T.grid(n % 4, m, p):
    with T.block("Y_rest"):
        vi, vj, vk = T.axis.remap("SSR", [i, j, k])
        with T.init():
            Y_1[vi, vj] = T.float32(0)
        Y_1[vi, vj] = Y_1[vi, vj] + A[vi + (n // 4) * 4, vk] * B[vk, vj]
for i, j in T.grid(n % 4, m):
    with T.block("C_rest"):
        vi, vj = T.axis.remap("SS", [i, j])
        C[vi + (n // 4) * 4, vj] = T.max(Y_1[vi, vj], T.float32(0))
""",
        *SHAPES,
        {"n": 4, "m": 2, "p": 3},
        {"n": 0, "m": 2, "p": 3},
        native=True,
    )


BLOCK_SUMS = """
    P = T.alloc_buffer(({n}, 2, 8), "float32")
    S = T.alloc_buffer(({n}, 8), "float32")
    for i, b, j, k in T.grid({n}, 2, 8, 4):
        with T.block("P"):
            vi, vb, vj, vk = T.axis.remap("SSSR", [i, b, j, k])
            with T.init():
                P[vi, vb, vj] = T.float32(0)
            P[vi, vb, vj] = P[vi, vb, vj] + A[vi, vb, vk] * B[vb, vk, vj]
    for i, j, b in T.grid({n}, 8, 2):
        with T.block("S"):
            vi, vj, vb = T.axis.remap("SSR", [i, j, b])
            with T.init():
                S[vi, vj] = T.float32(0)
            S[vi, vj] = S[vi, vj] + P[vi, vb, vj] * C[vb, vj]
    for i, j in T.grid({n}, 8):
        with T.block("Y"):
            vi, vj = T.axis.remap("SS", [i, j])
            Y[vi, vj] = S[vi, vj] + T.float32(1)
"""
OPERANDS = {"A": "({n}, 2, 4)", "B": "(2, 4, 8)", "C": "(2, 8)", "Y": "({n}, 8)"}


@pytest.mark.parametrize("size", [2, 3, 8])
def test_peel_of_a_chain_of_consumers(size):
    """A reduction as consumer loads the elements that it updates."""

    def schedule(s):
        whole, rest = s.peel("P", s.get_loops("P")[0], size, ["S", "Y"])
        (consumer,) = s.get_consumers(rest)
        assert s.get(whole).block_name.data == "P_whole"
        assert [s.get(b).block_name.data for b in s.get_consumers(consumer)] == ["Y_rest"]
        s.unroll(s.split(s.get_loops(whole)[0], [None, size])[1])

    check_schedule(program(BLOCK_SUMS, OPERANDS, n=7), schedule)


def test_versions_of_a_peeled_nest():
    def schedule(s):
        whole, rest = s.peel("Y", s.get_loops("Y")[0], s.sample_categorical([2], [1.0]), "C")
        (consumer,) = s.get_consumers(rest)
        s.vectorize(s.get_loops(consumer)[-1])
        s.unroll(s.split(s.get_loops(whole)[0], [None, 2])[1])

    check_schedule(matmul_relu(), schedule, *SHAPES)


def test_specialize():
    check_text(
        matmul_relu(),
        lambda s: s.specialize("Y", s.get_loops("Y")[0], 4, "C"),
        """
Y = T.alloc_buffer((n, m))
Y_1 = T.alloc_buffer((n, m))
for i in range(-T.min(1, n // 4) + 1):
    for i_1, j, k in T.grid(n, m, p):
        with T.block("Y_few"):
            vi, vj, vk = T.axis.remap("SSR", [i_1, j, k])
            with T.init():
                Y[vi, vj] = T.float32(0)
            Y[vi, vj] = Y[vi, vj] + A[vi, vk] * B[vk, vj]
    for i_1, j in T.grid(n, m):
        with T.block("C_few"):
            vi, vj = T.axis.remap("SS", [i_1, j])
            C[vi, vj] = T.max(Y[vi, vj], T.float32(0))
for i in range(T.min(1, n // 4)):
    for i_1, j, k in T.grid(n, m, p):
        with T.block("Y_many"):
            vi, vj, vk = T.axis.remap("SSR", [i_1, j, k])
            with T.init():
                Y_1[vi, vj] = T.float32(0)
            Y_1[vi, vj] = Y_1[vi, vj] + A[vi, vk] * B[vk, vj]
    for i_1, j in T.grid(n, m):
        with T.block("C_many"):
            vi, vj = T.axis.remap("SS", [i_1, j])
            C[vi, vj] = T.max(Y_1[vi, vj], T.float32(0))
""",
        *SHAPES,
        native=True,
    )


OTHER_ROWS = """
    S = T.alloc_buffer(({n},), "float32")
    for i in range({n}):
        with T.block("S"):
            vi = T.axis.spatial({n}, i)
            S[vi] = X[vi] + T.float32(1)
    for i in range({n}):
        with T.block("Y"):
            vi = T.axis.spatial({n}, i)
            Y[vi] = S[{n} - 1 - vi]
"""
FOLLOWS = (
    "expected block 'Y' to follow block 'S', to be all that uses 'S', and to store nothing that "
    "either of them loads"
)


@pytest.mark.parametrize(
    "source, schedule, message",
    [
        (chain(8, 6), lambda s: s.peel("S", s.get_loops("S")[0], 0, "Y"), "a size of at least 1"),
        (
            chain(8, 6),
            lambda s: s.peel("S", s.get_loops("S")[0], 4, "Y"),
            "expected parts of 4 iterations to leave some of loop 'i', got extent 8",
        ),
        (
            program(OTHER_ROWS, VECTORS, n=9),
            lambda s: s.peel("S", s.get_loops("S")[0], 4, "Y"),
            "expected loop 'i' to be over one dim of 'S', and block 'Y' to have a loop over it",
        ),
        (
            chain(9, 6),
            lambda s: s.peel("S", s.get_loops("S")[0], 4, s.blockize(s.get_loops("Y")[1])),
            "expected block 'Y_o' to have no blocks inside",
        ),
        (
            matmul_relu(9, 6, 5),
            lambda s: s.peel("Y", s.get_loops("Y")[2], 4, "C"),
            "expected loop 'k' to be one of the loops of block 'Y'",
        ),
        (
            row_sum(9, 6),
            lambda s: s.peel("Y", s.get_loops("Y")[0], 4, "Y"),
            "expected block 'Y' to store one element of scratch memory",
        ),
        (
            program(BLOCK_SUMS, OPERANDS, n=7),
            lambda s: s.peel("P", s.get_loops("P")[0], 4, []),
            "expected a consumer of the block's results, got none",
        ),
        (
            program(BLOCK_SUMS, OPERANDS, n=7),
            lambda s: s.peel("P", s.get_loops("P")[1], 4, ["S", "Y"]),
            "expected loop 'b' to be over one dim of 'P', and block 'S' to have a loop over it",
        ),
        (
            program(BLOCK_SUMS, OPERANDS, n=7),
            lambda s: s.peel("P", s.get_loops("P")[0], 4, ["Y", "S"]),
            "expected block 'Y' to follow block 'P'",
        ),
        (
            chain(9, 6),
            lambda s: (
                s.cache_read("Y", 0, "local"),
                s.peel("S", s.get_loops("S")[0], 4, "Y"),
            ),
            FOLLOWS,
        ),
        (
            chain(8, 6),
            lambda s: s.specialize("S", s.get_loops("S")[0], 0, "Y"),
            "a limit of at least 1",
        ),
        (
            chain(8, 6),
            lambda s: s.specialize("S", s.get_loops("Y")[0], 4, "Y"),
            "expected loop 'i' to be one of the loops of block 'S'",
        ),
    ],
)
def test_refused_versions(source, schedule, message):
    check_refused(source, schedule, message, whole=False)


def test_fuse_horizontally():
    check_text(
        chain(10, 3),
        lambda s: s.fuse_horizontally(*s.loop_partition(s.get_loops("Y")[0], [9, None])),
        """
S = T.alloc_buffer((10, 3))
for i, j in T.grid(10, 3):
    with T.block("S"):
        vi, vj = T.axis.remap("SS", [i, j])
        S[vi, vj] = X[vi, vj] * T.float32(2)
for section in range(10):
    for i in range(section, section + T.min(1, T.max(-section + 9, 0))):
        for j in range(3):
            with T.block("Y_i0"):
                vi = T.axis.spatial(9, i)
                vj = T.axis.spatial(3, j)
                Y[vi, vj] = S[vi, vj] + T.float32(1)
    for i in range(9, T.max(0, section - 8) + 9):
        for j in range(3):
            with T.block("Y_i1"):
                vi = T.axis.spatial((9, 10), i)
                vj = T.axis.spatial(3, j)
                Y[vi, vj] = S[vi, vj] + T.float32(1)
""",
        native=True,
    )


def test_nests_that_threads_share():
    def schedule(s):
        parts = s.loop_partition(s.get_loops("Y")[0], [4, 5, None])
        s.parallel(s.fuse_horizontally(*parts))

    check_schedule(chain(10, 3), schedule)


@pytest.mark.parametrize(
    "source, schedule, message",
    [
        (
            chain(),
            lambda s: s.fuse_horizontally(s.get_loops("S")[0]),
            "expected loop 'i' to have a constant number of iterations, got n",
        ),
        (
            chain(8, 6),
            lambda s: s.fuse_horizontally(s.get_loops("Y")[0], s.get_loops("S")[0]),
            "expected loop 'i' to follow loop 'i'",
        ),
        (
            chain(8, 6),
            lambda s: (
                s.unroll(s.get_loops("S")[0]),
                s.fuse_horizontally(s.get_loops("S")[0], s.get_loops("Y")[0]),
            ),
            "expected loop 'i' to be serial, got unrolled",
        ),
        (chain(8, 6), lambda s: s.fuse_horizontally(), "expected at least one loop to fuse"),
    ],
)
def test_refused_horizontal_fusions(source, schedule, message):
    check_refused(source, schedule, message, whole=False)


def test_strip_mine():
    check_text(
        chain(),
        lambda s: s.strip_mine(s.get_loops("Y")[1], 4),
        """
S = T.alloc_buffer((n, m))
for i, j in T.grid(n, m):
    with T.block("S"):
        vi, vj = T.axis.remap("SS", [i, j])
        S[vi, vj] = X[vi, vj] * T.float32(2)
for i, j in T.grid(n, (m + 3) // 4):
    for j_1 in range(T.min(-j * 4 + m, 4)):
        with T.block("Y"):
            vi = T.axis.spatial(n, i)
            vj = T.axis.spatial(m, j * 4 + j_1)
            Y[vi, vj] = S[vi, vj] + T.float32(1)
""",
        *SHAPES,
        native=True,
    )


def test_strips_of_lanes():
    """The inner loop has the kind of the one that was cut; whole strips have constant extents."""

    def schedule(s):
        j = s.get_loops("Y")[1]
        s.vectorize(j)
        strips, lanes = s.strip_mine(j, 4)
        assert (s.get(strips).kind, s.get(lanes).kind) == (ForKind.SERIAL, ForKind.VECTORIZED)
        s.parallel(strips)

    check_schedule(chain(), schedule, *SHAPES)
    sch = check_schedule(chain(3, 8), schedule)
    assert "for j_1 in T.vectorized(4):" in sch.func.script()


@pytest.mark.parametrize(
    "source, schedule, message",
    [
        (chain(), lambda s: s.strip_mine(s.get_loops("Y")[1], 0), "a size of at least 1, got 0"),
        (
            chain(),
            lambda s: (
                s.annotate(s.get_loops("Y")[1], "a", 1),
                s.strip_mine(s.get_loops("Y")[1], 4),
            ),
            "expected loop 'j' to have no annotations, got 'a'",
        ),
        (
            row_sum(),
            lambda s: s.strip_mine(s.get_loops("Y")[1], 4),
            "expected loop 'k', over which block 'Y' reduces, to have iterations for loop 'k' to "
            "be strip-mined, got extent m: decompose the reduction first",
        ),
    ],
)
def test_refused_strips(source, schedule, message):
    check_refused(source, schedule, message, whole=False)


def test_fold_conditions():
    def schedule(s):
        for part in s.loop_partition(s.get_loops("Y")[0], [1, 6, 1]):
            s.fold_conditions(s.get_child_blocks(part)[0])

    check_text(
        padded(6),
        schedule,
        """
for i in range(1):
    with T.block("Y_i0"):
        vi = T.axis.spatial(1, i)
        Y[vi] = T.float32(0)
for i in range(1, 7):
    with T.block("Y_i1"):
        vi = T.axis.spatial((1, 7), i)
        Y[vi] = X[vi - 1]
for i in range(7, 8):
    with T.block("Y_i2"):
        vi = T.axis.spatial((7, 8), i)
        Y[vi] = T.float32(0)
""",
        native=True,
    )


@pytest.mark.parametrize("source", [padded(6), padded("n"), chain()])
def test_conditions_that_are_not_known(source):
    check_refused(
        source,
        lambda s: s.fold_conditions("Y"),
        "fold_conditions: expected a condition of block 'Y' that the ranges of its axes decide",
    )
