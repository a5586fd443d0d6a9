"""Forms of results of primitives that programs written for TVM rely on."""

from programs import program
from schedule_check import body_text, check_schedule, check_text

ANNOTATED = """
    for i in range(4):
        for k in range(6):
            with T.block("Y"):
                T.block_attr({{"note": 1}})
                vi, vk = T.axis.remap("SR", [i, k])
                with T.init():
                    Y[vi] = T.float32(0)
                Y[vi] = Y[vi] + X[vi, vk]
"""
BUFFERS = {"X": "(4, 6)", "Y": "(4,)"}


def started_in_threads(sch):
    i, _ = sch.get_loops("Y")
    sch.bind(i, "threadIdx.x")
    sch.decompose_reduction("Y", i)


def test_initialization_keeps_annotations_and_threads():
    check_text(
        program(ANNOTATED, BUFFERS),
        started_in_threads,
        """
for i in T.thread_binding(4, thread="threadIdx.x"):
    with T.block("Y_init"):
        vi = T.axis.spatial(4, i)
        T.block_attr({"note": 1})
        Y[vi] = T.float32(0)
for i in T.thread_binding(4, thread="threadIdx.x"):
    for k in range(6):
        with T.block("Y_update"):
            vi, vk = T.axis.remap("SR", [i, k])
            T.block_attr({"note": 1})
            Y[vi] = Y[vi] + X[vi, vk]
""",
    )


def test_threads_reduce_together():
    """A GPU combines the partial results of threads; such kernels are not built here."""

    def schedule(sch):
        i, k = sch.get_loops("Y")
        sch.bind(i, "blockIdx.x")
        sch.bind(k, "threadIdx.x")

    sch = check_schedule(program(ANNOTATED, BUFFERS), schedule, native=False)
    assert 'for k in T.thread_binding(6, thread="threadIdx.x"):' in sch.mod.script()


def test_partial_results_of_one_value():
    source = program(ANNOTATED, BUFFERS).replace('                T.block_attr({"note": 1})\n', "")
    check_text(
        source,
        lambda s: s.rfactor(s.get_loops("Y")[1], 1),
        """
Y_rf = T.alloc_buffer((4, 6))
for i, k in T.grid(4, 6):
    with T.block("Y_rf"):
        v_k, vi = T.axis.remap("SS", [k, i])
        Y_rf[vi, v_k] = X[vi, v_k]
for i, k in T.grid(4, 6):
    with T.block("Y"):
        v_k, vi = T.axis.remap("RS", [k, i])
        with T.init():
            Y[vi] = T.float32(0)
        Y[vi] = Y[vi] + Y_rf[vi, v_k]
""",
    )


def test_what_factors_leave_is_a_last_part():
    body = """
    for i in range(8):
        with T.block("Y"):
            vi = T.axis.spatial(8, i)
            Y[vi] = X[vi]
"""
    check_text(
        program(body, {"X": "(8,)", "Y": "(8,)"}),
        lambda s: s.loop_partition(s.get_loops("Y")[0], [1, 3]),
        """
for i in range(1):
    with T.block("Y_i0"):
        vi = T.axis.spatial(1, i)
        Y[vi] = X[vi]
for i in range(1, 4):
    with T.block("Y_i1"):
        vi = T.axis.spatial((1, 4), i)
        Y[vi] = X[vi]
for i in range(4, 8):
    with T.block("Y_i2"):
        vi = T.axis.spatial((4, 8), i)
        Y[vi] = X[vi]
""",
    )


PADDED = """
    T_ = T.alloc_buffer((14,))
    for i in range(14):
        with T.block("T"):
            vi = T.axis.spatial(14, i)
            T_[vi] = X[vi]
    for i in range(14):
        with T.block("Y"):
            vi = T.axis.spatial(14, i)
            Y[vi] = T_[vi]
"""


def test_a_block_stores_the_padding_of_its_layout():
    sch = check_schedule(
        program(PADDED, {"X": "(14,)", "Y": "(14,)"}),
        lambda s: s.transform_layout("T", "T_", lambda i: (i // 4, i % 4), pad_value=0.5),
    )
    text = body_text(sch)
    assert "for ax0, ax1 in T.grid(4, 4):" in text and "T__pad" not in text
    assert "T.if_then_else(v_ax0 == 3 and 2 <= v_ax1, T.float32(0.5), X[v_ax0 * 4 + v_ax1])" in text


def test_padding_of_a_layout_after_a_block_with_other_loops():
    source = program(PADDED, {"X": "(14,)", "Y": "(14,)"})
    check_text(
        source.replace("for i in range(14)", "for i in T.parallel(14)", 1),
        lambda s: s.transform_layout("T", "T_", lambda i: (i // 4, i % 4), pad_value=1.0),
        """
T_ = T.alloc_buffer((4, 4))
for i in T.parallel(14):
    with T.block("T"):
        vi = T.axis.spatial(14, i)
        T_[vi // 4, vi % 4] = X[vi]
for ax0, ax1 in T.grid(4, 4):
    with T.block("T__pad"):
        v_ax0, v_ax1 = T.axis.remap("SS", [ax0, ax1])
        T.where(ax0 < 4 and 3 < ax0 + 1 and 2 < ax1 + 1)
        T_[v_ax0, v_ax1] = T.float32(1)
for i in range(14):
    with T.block("Y"):
        vi = T.axis.spatial(14, i)
        Y[vi] = T_[vi // 4, vi % 4]
""",
    )
