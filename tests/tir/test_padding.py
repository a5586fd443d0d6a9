"""Padding: sums of products over more than their domain, and padding taken apart."""

import re

import pytest
from programs import SHAPES, chain, matmul_relu, program, row_sum
from schedule_check import body, check_refused, check_schedule


def padded(n="n", m="m", condition="6 <= vi and vi < {n} + 6", rows="12", constant="3"):
    """Block "Y": rows of X, and a constant around them."""
    choice = f"T.if_then_else({condition}, X[vi - 6, vj], T.float32({constant}))"
    body = f"""
    for i, j in T.grid({{n}} + {rows}, {{m}}):
        with T.block("Y"):
            vi, vj = T.axis.remap("SS", [i, j])
            Y[vi, vj] = {choice}
"""
    shapes = {"X": "({n}, {m})", "Y": f"({{n}} + {rows}, {{m}})"}
    return program(body, shapes, n=n, m=m)


def test_padded_product():
    sch = check_schedule(matmul_relu(7, 13, 8), lambda s: s.pad_einsum("Y", [4, 1, 4]))
    assert body(sch).split("    for i, j in T.grid(7, 13):")[0] == (
        """    Y = T.alloc_buffer((7, 13))
    A_pad = T.alloc_buffer((8, 8))
    Y_pad = T.alloc_buffer((8, 13))
    for ax0, ax1 in T.grid(8, 8):
        with T.block("A_pad"):
            v_ax0, v_ax1 = T.axis.remap("SS", [ax0, ax1])
            T.reads(A[v_ax0, v_ax1])
            T.writes(A_pad[v_ax0, v_ax1])
            A_pad[v_ax0, v_ax1] = T.if_then_else(v_ax0 < 7, A[v_ax0, v_ax1], T.float32(0))
    for i, j, k in T.grid(8, 13, 8):
        with T.block("Y"):
            vi, vj, vk = T.axis.remap("SSR", [i, j, k])
            T.reads(A_pad[vi, vk], B[vk, vj])
            T.writes(Y_pad[vi, vj])
            with T.init():
                Y_pad[vi, vj] = T.float32(0)
            Y_pad[vi, vj] = Y_pad[vi, vj] + A_pad[vi, vk] * B[vk, vj]
    for ax0, ax1 in T.grid(7, 13):
        with T.block("Y_pad"):
            v_ax0, v_ax1 = T.axis.remap("SS", [ax0, ax1])
            T.reads(Y_pad[v_ax0, v_ax1])
            T.writes(Y[v_ax0, v_ax1])
            Y[v_ax0, v_ax1] = Y_pad[v_ax0, v_ax1]
"""
    )


@pytest.mark.sampled
@pytest.mark.parametrize("padding", [[4, 4, 4], [1, 8, 1], [2, 3, 5]])
def test_padded_products_are_the_same(padding):
    check_schedule(matmul_relu(), lambda s: s.pad_einsum("Y", padding), *SHAPES)
    check_schedule(matmul_relu(7, 13, 5), lambda s: s.pad_einsum("Y", padding))


def test_a_padded_product_goes_into_tiles():
    def schedule(s):
        s.pad_einsum("Y", [4, 8, 2])
        s.decompose_padding("A_pad", s.get_loops("A_pad")[0])
        s.compute_inline("B_pad")
        i, j, k = s.get_loops("Y")
        (i0, i1), (j0, j1), (k0, k1) = (s.split(x, [None, f]) for x, f in ((i, 4), (j, 8), (k, 2)))
        s.reorder(i0, j0, k0, k1, i1, j1)
        s.vectorize(j1)
        s.decompose_reduction("Y", k0)

    check_schedule(matmul_relu(), schedule, *SHAPES)
    check_schedule(matmul_relu(7, 13, 5), schedule)


def test_padding_taken_apart():
    sch = check_schedule(
        padded(), lambda s: s.decompose_padding("Y", s.get_loops("Y")[0]), {"n": 5, "m": 3}
    )
    assert body(sch) == (
        """    for i, j in T.grid(n + 12, m):
        with T.block("Y_pad_const"):
            vi, vj = T.axis.remap("SS", [i, j])
            T.reads()
            T.writes(Y[vi, vj])
            Y[vi, vj] = T.float32(3)
    for i, j in T.grid(n, m):
        with T.block("Y"):
            vi, vj = T.axis.remap("SS", [i, j])
            T.reads(X[vi, vj])
            T.writes(Y[vi + 6, vj])
            Y[vi + 6, vj] = X[vi, vj]"""
    )


CONDITIONS = [
    "6 <= vi and vi < {n} + 6",
    "vi > 5 and {n} + 5 >= vi and vj < {m} - 1",
    "vi >= 6 and vi < {n} + 6 and vj > -3 and vj < {m} + 4",
    "vi >= 6 and vi < {n} + 6 and 2 <= vj and vj < 3",
    "vi >= 7 and vi < {n} + 5",
]


@pytest.mark.sampled
@pytest.mark.parametrize("condition", CONDITIONS)
@pytest.mark.parametrize("at", [0, 1])
def test_padding_under_conditions(condition, at):
    def schedule(s):
        s.decompose_padding("Y", s.get_loops("Y")[at])

    check_schedule(
        padded(condition=condition), schedule, {"n": 5, "m": 7}, {"n": 2, "m": 3}, {"n": 1, "m": 3}
    )
    check_schedule(padded(5, 7, condition), schedule)


def test_padding_in_split_loops():
    def schedule(s):
        i, _ = s.get_loops("Y")
        _, i1 = s.split(i, [None, 4])
        fill = s.decompose_padding("Y", i1)
        s.vectorize(s.get_loops(fill)[-1])

    check_schedule(padded(), schedule, {"n": 5, "m": 7})


MAX = row_sum(7, 5).replace("Y[vi] = Y[vi] + X[vi, vk]", "Y[vi] = T.max(Y[vi], X[vi, vk])")
MORE = row_sum(7, 5).replace("+ X[vi, vk]", "+ X[vi, vk] * (X[vi, vk] + T.float32(1))")
WIDE = row_sum(7, 5).replace("(7, 5), ", "(7, 9), ")
TIMES = matmul_relu(7, 13, 5).replace("A[vi, vk] * B[vk, vj]", "A[vi, 0] * B[vk, vj]")
ONCE = matmul_relu(7, 13, 5).replace("A[vi, vk] * B[vk, vj]", "A[vi, vk]")

REFUSED = [
    (
        row_sum(7, 5),
        lambda s: s.pad_einsum("Y", [4]),
        "pad_einsum: expected 2 paddings of at least 1 for block 'Y', got [4]",
    ),
    (
        row_sum(7, 5),
        lambda s: s.pad_einsum("Y", [4, 0]),
        "pad_einsum: expected 2 paddings of at least 1 for block 'Y', got [4, 0]",
    ),
    (
        chain(7, 5),
        lambda s: s.pad_einsum("Y", [4, 4]),
        "pad_einsum: expected block 'Y' to be a reduction with an initial value",
    ),
    (
        row_sum(8, 6),
        lambda s: (s.split(s.get_loops("Y")[0], [2, 4]), s.pad_einsum("Y", [4, 4])),
        "pad_einsum: expected each axis of block 'Y' to be bound to a loop of its own",
    ),
    (
        row_sum(8, 6),
        lambda s: (s.parallel(s.get_loops("Y")[0]), s.pad_einsum("Y", [4, 4])),
        "pad_einsum: expected loop 'i' to be serial, got parallel",
    ),
    (
        MAX,
        lambda s: s.pad_einsum("Y", [4, 4]),
        "pad_einsum: expected block 'Y' to accumulate one sum",
    ),
    (
        MORE,
        lambda s: s.pad_einsum("Y", [4, 4]),
        "pad_einsum: expected block 'Y' to accumulate products of elements, got 'arith.addf'",
    ),
    (
        WIDE,
        lambda s: s.pad_einsum("Y", [4, 4]),
        "pad_einsum: expected axis 'vk' of block 'Y' to span a dim of 'X'",
    ),
    (
        TIMES,
        lambda s: s.pad_einsum("Y", [1, 4, 1]),
        "pad_einsum: expected block 'Y' to index 'A' by its axes",
    ),
    (
        matmul_relu(7, 13, 5)
        .replace("A[vi, vk] * B", "A[vi, vj] * B")
        .replace("(7, 5)", "(7, 13)"),
        lambda s: s.pad_einsum("Y", [4, 4, 4]),
        "pad_einsum: expected every padded reduction axis of block 'Y' to index 'A', which may "
        "contain NaN or infinity",
    ),
    (
        chain(7, 5),
        lambda s: s.decompose_padding("Y", s.get_loops("Y")[0]),
        "decompose_padding: expected block 'Y' to store if_then_else(condition, element, constant) "
        "with a condition that bounds axes",
    ),
    (
        padded(7, 5, "6 <= vi and vi < 13 and vi % 2 == 0"),
        lambda s: s.decompose_padding("Y", s.get_loops("Y")[0]),
        "decompose_padding: expected block 'Y' to store if_then_else(condition, element, constant) "
        "with a condition that bounds axes",
    ),
    (
        matmul_relu(7, 13, 5),
        lambda s: s.decompose_padding("Y", s.get_loops("C")[0]),
        "decompose_padding: expected loop 'i' around block 'Y'",
    ),
    (
        padded(7, 5)
        .replace("X", "Y")
        .replace("pY: T.handle, ", "", 1)
        .replace('    Y = T.match_buffer(pY, (7, 5), "float32")\n', ""),
        lambda s: s.decompose_padding("Y", s.get_loops("Y")[0]),
        "decompose_padding: expected block 'Y' to load from memory that it does not store to",
    ),
]


@pytest.mark.parametrize(
    ("source", "change", "message"), REFUSED, ids=[row[-1][-50:] for row in REFUSED]
)
def test_refused(source, change, message):
    sch = check_refused(source, change, message)
    assert not re.search("_pad", sch.mod.script())
