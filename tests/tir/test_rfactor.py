"""Reductions by way of partial results: `rfactor`."""

import pytest
from programs import SHAPES, matmul_relu, row_sum
from schedule_check import body, check_refused, check_schedule


def test_partial_results():
    def schedule(s):
        _, k = s.get_loops("Y")
        _, k1 = s.split(k, [None, 4])
        s.rfactor(k1)

    sch = check_schedule(row_sum(3, 8), schedule)
    assert body(sch) == (
        """    Y_rf = T.alloc_buffer((4, 3))
    for i, k, k_1 in T.grid(3, 2, 4):
        with T.block("Y_rf"):
            v_k, vi, v_k_1 = T.axis.remap("SSR", [k_1, i, k])
            T.reads(X[vi, v_k + v_k_1 * 4])
            T.writes(Y_rf[v_k, vi])
            with T.init():
                Y_rf[v_k, vi] = T.float32(0)
            Y_rf[v_k, vi] = Y_rf[v_k, vi] + X[vi, v_k + v_k_1 * 4]
    for i, k in T.grid(3, 4):
        with T.block("Y"):
            v_k, vi = T.axis.remap("RS", [k, i])
            T.reads(Y_rf[v_k, vi])
            T.writes(Y[vi])
            with T.init():
                Y[vi] = T.float32(0)
            Y[vi] = Y[vi] + Y_rf[v_k, vi]"""
    )


def test_partial_results_of_a_loop_that_no_axis_is_bound_to():
    def schedule(s):
        _, k = s.get_loops("Y")
        s.rfactor(s.split(k, [None, 1], preserve_unit_iters=False)[1])

    sch = check_schedule(row_sum(3, 8), schedule)
    assert 'v_k, vi, vk = T.axis.remap("SSR", [k_1, i, k])' in body(sch)


@pytest.mark.sampled
@pytest.mark.parametrize("axis", [0, 1, 2, -1])
@pytest.mark.parametrize("which", [0, 1])
def test_partial_results_of_products(axis, which):
    def schedule(s):
        _, _, k = s.get_loops("Y")
        loops = s.split(k, [None, 4])
        partial = s.rfactor(loops[which], axis)
        s.decompose_reduction(partial, s.get_loops(partial)[0])
        s.decompose_reduction("Y", s.get_loops("Y")[-1])

    check_schedule(matmul_relu(), schedule, *SHAPES)
    check_schedule(matmul_relu(7, 13, 5), schedule)


REFUSED = [
    (
        row_sum(8, 6),
        lambda s: s.rfactor(s.get_loops("Y")[0]),
        "rfactor: expected the loop to be bound to a reduction axis of block 'Y'",
    ),
    (
        row_sum(8, 6),
        lambda s: s.rfactor(s.get_loops("Y")[1], 2),
        "rfactor: expected factor_axis of block 'Y' from -2 to 1, got 2",
    ),
    (
        row_sum(8, 6)
        .replace("vi, vk = T", "vi = T.axis.spatial(8, i)\n            vk = T")
        .replace('remap("SR", [i, k])', "reduce(6, k * k // 6)"),
        lambda s: s.rfactor(s.get_loops("Y")[1]),
        "rfactor: expected each iteration of loop 'k' to run a different instance of block 'Y'",
    ),
    (
        row_sum(8, 6).replace("Y[vi] + X[vi, vk]", "Y[vi] / X[vi, vk]"),
        lambda s: s.rfactor(s.get_loops("Y")[1]),
        "rfactor: expected block 'Y' to combine 'Y' with one value by an associative and "
        "commutative operation or a select",
    ),
]


@pytest.mark.parametrize(
    ("source", "change", "message"), REFUSED, ids=[row[-1][-50:] for row in REFUSED]
)
def test_refused(source, change, message):
    check_refused(source, change, message)
