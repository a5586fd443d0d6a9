"""Forms of results of primitives that programs written for TVM rely on."""

from programs import program
from schedule_check import check_text

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
    with T.block("Y_i_0"):
        vi = T.axis.spatial(1, i)
        Y[vi] = X[vi]
for i in range(1, 4):
    with T.block("Y_i_1"):
        vi = T.axis.spatial((1, 4), i)
        Y[vi] = X[vi]
for i in range(4, 8):
    with T.block("Y_i_2"):
        vi = T.axis.spatial((4, 8), i)
        Y[vi] = X[vi]
""",
    )
