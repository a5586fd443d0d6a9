"""Blocks in loops of other blocks: which part they compute, and where padding is stored."""

from programs import program
from schedule_check import check_text

WINDOWS = """
    P = T.alloc_buffer((1, 14))
    for i, j in T.grid(1, 14):
        with T.block("P"):
            vi, vj = T.axis.remap("SS", [i, j])
            P[vi, vj] = T.if_then_else(1 <= vj and vj < 13, X[vi, vj - 1], T.float32(0))
    for i, j, k in T.grid(1, 12, 3):
        with T.block("Y"):
            vi, vj, vk = T.axis.remap("SSR", [i, j, k])
            with T.init():
                Y[vi, vj] = T.float32(0)
            Y[vi, vj] = Y[vi, vj] + P[vi, vj + vk]
"""


def tiled(sch):
    _, j, _ = sch.get_loops("Y")
    outer, _ = sch.split(j, [3, 4])
    sch.compute_at("P", outer)
    return sch.get_loops("P")


def lifted(sch):
    first = tiled(sch)[0]
    assert sch.can_decompose_padding("P", first) and not sch.can_decompose_padding("Y", first)
    sch.decompose_padding("P", first)


def test_padding_before_tiles():
    check_text(
        program(WINDOWS, {"X": "(1, 12)", "Y": "(1, 12)"}),
        lifted,
        """
P = T.alloc_buffer((1, 14))
for i, j, j_1 in T.grid(1, 3, 6):
    with T.block("P_pad_const"):
        vi = T.axis.spatial(1, 0)
        vj = T.axis.spatial(14, j * 4 + j_1)
        P[vi, vj] = T.float32(0)
for i, j in T.grid(1, 3):
    for j_1 in range(6):
        with T.block("P"):
            vi = T.axis.spatial(1, 0)
            vj = T.axis.spatial(12, j * 4 + j_1 - 1)
            T.where(0 < j * 4 + j_1 and j * 4 + j_1 < 13)
            P[vi, vj + 1] = X[vi, vj]
    for j_1, k in T.grid(4, 3):
        with T.block("Y"):
            vi = T.axis.spatial(1, i)
            vj = T.axis.spatial(12, j * 4 + j_1)
            vk = T.axis.reduce(3, k)
            with T.init():
                Y[vi, vj] = T.float32(0)
            Y[vi, vj] = Y[vi, vj] + P[vi, vj + vk]
""",
    )


ROWS = """
    T_ = T.alloc_buffer((4, 8))
    for i, j in T.grid(4, 8):
        with T.block("T"):
            vi, vj = T.axis.remap("SS", [i, j])
            T_[vi, vj] = X[vi, vj] + T.float32(1)
    for i in range(32):
        with T.block("Y"):
            vi = T.axis.spatial(32, i)
            Y[vi] = T_[vi // 8, vi % 8]
"""


def test_a_consumer_at_quotients():
    check_text(
        program(ROWS, {"X": "(4, 8)", "Y": "(32,)"}),
        lambda s: s.reverse_compute_at("Y", s.get_loops("T")[0]),
        """
T_ = T.alloc_buffer((4, 8))
for i in range(4):
    for j in range(8):
        with T.block("T"):
            vi, vj = T.axis.remap("SS", [i, j])
            T_[vi, vj] = X[vi, vj] + T.float32(1)
    for i_1 in range(8):
        with T.block("Y"):
            vi = T.axis.spatial(32, i * 8 + i_1)
            Y[vi] = T_[vi // 8, vi % 8]
""",
    )


PAIRS = (
    ROWS[: ROWS.index("    for i in range(32)")]
    + """
    for i, j in T.grid(16, 2):
        with T.block("Y"):
            vi, vj = T.axis.remap("SS", [i, j])
            Y[vi, vj] = T_[(vi * 2 + vj) // 8, (vi * 2 + vj) % 8]
"""
)


def test_a_consumer_of_another_layout():
    check_text(
        program(PAIRS, {"X": "(4, 8)", "Y": "(16, 2)"}),
        lambda s: s.reverse_compute_at("Y", s.get_loops("T")[0]),
        """
T_ = T.alloc_buffer((4, 8))
for i in range(4):
    for j in range(8):
        with T.block("T"):
            vi, vj = T.axis.remap("SS", [i, j])
            T_[vi, vj] = X[vi, vj] + T.float32(1)
    for i_1, j in T.grid(4, 2):
        with T.block("Y"):
            vi = T.axis.spatial(16, i * 4 + i_1)
            vj = T.axis.spatial(2, j)
            Y[vi, vj] = T_[(vi * 2 + vj) // 8, (vi * 2 + vj) % 8]
""",
    )


THREADS = """
    S = T.alloc_buffer((64,), scope="shared")
    for i in range(64):
        with T.block("S"):
            vi = T.axis.spatial(64, i)
            S[vi] = X[vi] + T.float32(1)
    for b in T.thread_binding(2, thread="blockIdx.x"):
        for t in T.thread_binding(8, thread="threadIdx.x"):
            for i in range(4):
                with T.block("Y"):
                    vi = T.axis.spatial(64, b * 32 + t * 4 + i)
                    Y[vi] = S[vi]
"""


def test_threads_share_what_is_computed_in_them():
    check_text(
        program(THREADS, {"X": "(64,)", "Y": "(64,)"}),
        lambda s: s.compute_at("S", s.get_loops("Y")[1]),
        """
S = T.alloc_buffer((64,), scope="shared")
for b in T.thread_binding(2, thread="blockIdx.x"):
    for t in T.thread_binding(8, thread="threadIdx.x"):
        for i in range(32):
            with T.block("S"):
                vi = T.axis.spatial(64, b * 32 + i)
                S[vi] = X[vi] + T.float32(1)
        for i in range(4):
            with T.block("Y"):
                vi = T.axis.spatial(64, b * 32 + t * 4 + i)
                Y[vi] = S[vi]
""",
    )


BLOCKED = """
    for i0, j0 in T.grid(2, 3):
        with T.block("O"):
            vi0, vj0 = T.axis.remap("SS", [i0, j0])
            for i1, j1 in T.grid(4, 8):
                with T.block("Y"):
                    vi = T.axis.spatial(4, i1)
                    vj = T.axis.spatial(8, j1)
                    Y[vi0 * 4 + vi, vj0 * 8 + vj] = X[vi0 * 4 + vi, vj0 * 8 + vj] + T.float32(1)
"""


def cached(sch):
    sch.cache_read("Y", 0, "local")
    sch.cache_write("Y", 0, "local")


def test_copies_in_a_block_have_the_size_of_their_box():
    check_text(
        program(BLOCKED, {"X": "(8, 24)", "Y": "(8, 24)"}),
        cached,
        """
for i0, j0 in T.grid(2, 3):
    with T.block("O"):
        vi0, vj0 = T.axis.remap("SS", [i0, j0])
        X_local = T.alloc_buffer((4, 8), scope="local")
        Y_local = T.alloc_buffer((4, 8), scope="local")
        for ax0, ax1 in T.grid(4, 8):
            with T.block("X_local"):
                v_ax0, v_ax1 = T.axis.remap("SS", [ax0, ax1])
                X_local[v_ax0, v_ax1] = X[v_ax0 + vi0 * 4, v_ax1 + vj0 * 8]
        for i1, j1 in T.grid(4, 8):
            with T.block("Y"):
                vi, vj = T.axis.remap("SS", [i1, j1])
                Y_local[vi, vj] = X_local[vi, vj] + T.float32(1)
        for ax0, ax1 in T.grid(4, 8):
            with T.block("Y_local"):
                v_ax0, v_ax1 = T.axis.remap("SS", [ax0, ax1])
                Y[v_ax0 + vi0 * 4, v_ax1 + vj0 * 8] = Y_local[v_ax0, v_ax1]
""",
    )


UNUSED = """
    S = T.alloc_buffer((8,))
    for i in range(8):
        with T.block("S"):
            vi = T.axis.spatial(8, i)
            S[vi] = X[vi]
    for i in range(8):
        with T.block("Y"):
            vi = T.axis.spatial(8, i)
            Y[vi] = X[vi] + T.float32(1)
"""


def test_a_block_without_uses_is_erased():
    check_text(
        program(UNUSED, {"X": "(8,)", "Y": "(8,)"}),
        lambda s: s.compute_inline("S"),
        """
for i in range(8):
    with T.block("Y"):
        vi = T.axis.spatial(8, i)
        Y[vi] = X[vi] + T.float32(1)
""",
    )


SLICED = """
    S = T.alloc_buffer((8, 4))
    for i, j in T.grid(8, 4):
        with T.block("S"):
            vi, vj = T.axis.remap("SS", [i, j])
            S[vi, vj] = X[vi, vj] * T.float32(2)
    for i, j in T.grid(3, 4):
        with T.block("Y"):
            vi, vj = T.axis.remap("SS", [i, j])
            Y[vi, vj] = S[vi, vj] + T.float32(1)
"""


def test_a_consumer_of_the_first_rows():
    check_text(
        program(SLICED, {"X": "(8, 4)", "Y": "(3, 4)"}),
        lambda s: s.reverse_compute_at("Y", s.split(s.get_loops("S")[0], [None, 2])[0]),
        """
S = T.alloc_buffer((8, 4))
for i in range(4):
    for i_1, j in T.grid(2, 4):
        with T.block("S"):
            vi = T.axis.spatial(8, i * 2 + i_1)
            vj = T.axis.spatial(4, j)
            S[vi, vj] = X[vi, vj] * T.float32(2)
    for i_1, j in T.grid(2, 4):
        with T.block("Y"):
            vi = T.axis.spatial(3, i * 2 + i_1)
            vj = T.axis.spatial(4, j)
            T.where(i * 2 + i_1 < 3)
            Y[vi, vj] = S[vi, vj] + T.float32(1)
""",
    )
