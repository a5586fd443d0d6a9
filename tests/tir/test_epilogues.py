"""`fuse_reduction_epilogue`: before, after, and refusals."""

import pytest
from programs import matmul_relu, program
from schedule_check import check_refused, check_text

BIAS = """
    S = T.alloc_buffer(({n}, {m}), "float32")
    for i, j, k in T.grid({n}, {m}, {p}):
        with T.block("S"):
            vi, vj, vk = T.axis.remap("SSR", [i, j, k])
            with T.init():
                S[vi, vj] = T.float32(0)
            S[vi, vj] = S[vi, vj] + A[vi, vk] * B[vk, vj]
    for j, i in T.grid({m}, {n}):
        with T.block("Y"):
            vj, vi = T.axis.remap("SS", [j, i])
            Y[vj, vi] = S[vi, vj] + T.max(C[vj], T.float32(1))
"""
BUFFERS = {"A": "({n}, {p})", "B": "({p}, {m})", "C": "({m},)", "Y": "({m}, {n})"}


def bias(epilogue="S[vi, vj] + T.max(C[vj], T.float32(1))", init="T.float32(0)"):
    """Block "S", a product, and "Y", which adds to it."""
    body = BIAS.replace("S[vi, vj] + T.max(C[vj], T.float32(1))", epilogue).replace(
        "T.float32(0)", init
    )
    return program(body, BUFFERS, n="n", m="m", p="p")


def fuse(sch):
    sch.fuse_reduction_epilogue("S", "Y")


def test_a_sum_starts_with_what_is_added():
    check_text(
        bias(),
        fuse,
        """
S = T.alloc_buffer((n, m))
for i, j, k in T.grid(n, m, p):
    with T.block("S"):
        vi, vj, vk = T.axis.remap("SSR", [i, j, k])
        with T.init():
            Y[vj, vi] = T.max(C[vj], T.float32(1))
        Y[vj, vi] = Y[vj, vi] + A[vi, vk] * B[vk, vj]
""",
        {"n": 4, "m": 6, "p": 5},
    )


def test_results_are_the_same():
    check_text(
        bias("C[vj] + S[vi, vj]"),
        fuse,
        """
S = T.alloc_buffer((n, m))
for i, j, k in T.grid(n, m, p):
    with T.block("S"):
        vi, vj, vk = T.axis.remap("SSR", [i, j, k])
        with T.init():
            Y[vj, vi] = C[vj]
        Y[vj, vi] = Y[vj, vi] + A[vi, vk] * B[vk, vj]
""",
        {"n": 4, "m": 6, "p": 5},
        {"n": 1, "m": 1, "p": 1},
        native=True,
    )


ONCE = "expected block 'Y' to add one value to 'S', and to use it once"


@pytest.mark.parametrize(
    ("source", "message"),
    [
        (bias("T.max(S[vi, vj], C[vj])"), ONCE),
        (bias("S[vi, vj] * T.float32(2) + C[vj]"), ONCE),
        (bias("S[vi, vj] + S[vi, vj]"), ONCE),
        (bias(init="T.float32(1)"), "expected block 'S' to compute one sum from 0"),
        (
            bias("S[vi, vj] + Y[vj, vi]"),
            "expected block 'Y' not to read 'Y', which it writes",
        ),
    ],
)
def test_what_is_refused(source, message):
    check_refused(source, fuse, message, whole=False)


def test_other_blocks_are_refused():
    check_refused(
        matmul_relu(),
        lambda s: s.fuse_reduction_epilogue("C", "Y"),
        "fuse_reduction_epilogue: expected block 'C' to be a reduction with an initial value",
    )
    check_refused(matmul_relu(), lambda s: s.fuse_reduction_epilogue("Y", "C"), "one value", False)
