"""Each primitive on loops: what is refused, with which words, and that nothing changes then."""

import pytest
from programs import chain, matmul_relu, program, row_sum
from schedule_check import check_refused

PAIRS = """
@T.prim_func
def main(X: T.Buffer((8,), "float32"), Y: T.Buffer((4,), "float32")):
    S = T.alloc_buffer((4,), "float32")
    for i in range(8):
        with T.block("S"):
            vi = T.axis.spatial(4, i // 2)
            S[vi] = X[i]
    for i in range(4):
        with T.block("Y"):
            vi = T.axis.spatial(4, i)
            Y[vi] = S[vi]
"""
"""Two iterations store the same element, of which the last one counts."""

TWO_AXES = """
    for i, j, k in T.grid({m}, {n}, {p}):
        with T.block("Y"):
            vi, vj, vk = T.axis.remap("SRR", [i, j, k])
            with T.init():
                Y[vi] = T.float32(0)
            Y[vi] = Y[vi] + X[vi, vj, vk]
"""

REFUSED = [
    (row_sum(8, 6), lambda s, i, k: s.split(i, []), "split: expected at least one factor"),
    (
        row_sum(8, 6),
        lambda s, i, k: s.split(i, [None, None]),
        "split: expected at most one factor to be None",
    ),
    (
        row_sum(8, 6),
        lambda s, i, k: s.split(i, [0, None]),
        "split: expected factors of at least 1, got 0",
    ),
    (
        row_sum(8, 6),
        lambda s, i, k: s.split(i, [2, 3]),
        "split: expected the product of the factors of loop 'i' to be at least its extent 8, got 6",
    ),
    (
        row_sum(),
        lambda s, i, k: s.split(i, [64, 4]),
        "split: expected the product of the factors of loop 'i' to be at least its extent n, "
        "got 256",
    ),
    (
        row_sum(),
        lambda s, i, k: s.split(i, [None, "q"]),
        "split: expected factors of symbols of 'main' (m, n), got 'q'",
    ),
    (
        row_sum(),
        lambda s, i, k: s.loop_partition(i, ["-m", None]),
        "loop_partition: expected factors of at least 1, got -m",
    ),
    (
        row_sum(8, 6),
        lambda s, i, k: s.split(k, [None, 4], disable_predication=True),
        "split: expected the product of the factors of loop 'k' to be its extent 6 without "
        "predicates, got 8",
    ),
    (
        row_sum(),
        lambda s, i, k: s.add_unit_loop(s.get_block("root")),
        "add_unit_loop: expected a loop or block in the root block, got the root block",
    ),
    (
        row_sum(),
        lambda s, i, k: s.split(i, [1.5, None]),
        "split: expected factors to be Sequence[int | str | ExprRV | IntExpr | None], "
        "got [1.5, None]",
    ),
    (
        row_sum(),
        lambda s, i, k: s.fuse([i]),
        "fuse: expected loops to be LoopRV, got a list",
    ),
    (
        row_sum(),
        lambda s, i, k: s.cache_write("Y", 0, 1),
        "cache_write: expected storage_scope to be str, got 1",
    ),
    (
        row_sum(),
        lambda s, i, k: s.annotate(i, "x", 2**70),
        "annotate: expected a value for annotations: Integer value 1180591620717411303424 is out "
        "of range for type i64 which supports values in the range [-9223372036854775808, "
        "18446744073709551616)",
    ),
    (
        row_sum(),
        lambda s, i, k: (s.annotate(i, "x", 1), s.split(i, [None, 4])),
        "split: expected loop 'i' to have no annotations, got 'x'",
    ),
    (
        row_sum(),
        lambda s, i, k: (s.parallel(i), s.fuse(i, k)),
        "fuse: expected loop 'i' to be serial, got parallel",
    ),
    (row_sum(), lambda s, i, k: s.fuse(), "fuse: expected at least one loop to fuse"),
    (row_sum(), lambda s, i, k: s.fuse(k, i), "fuse: expected loop 'i' to be in loop 'k'"),
    (
        matmul_relu(),
        lambda s, i, j, k: (s.reverse_compute_at("C", i), s.fuse(i, j)),
        "fuse: expected loop 'j' to be the only statement of its parent",
    ),
    (
        row_sum(),
        lambda s, i, k: s.reorder(i, k, i),
        "reorder: expected loop 'i' once in the order, got it twice",
    ),
    (
        matmul_relu(),
        lambda s, i, j, k: s.reorder(s.get_loops("C")[0], i),
        "reorder: expected loop 'i' and loop 'i' to be nested in each other",
    ),
    (
        matmul_relu(),
        lambda s, i, j, k: (s.reverse_compute_at("C", i), s.reorder(j, i)),
        "reorder: expected loop 'i' to contain only loop 'j'",
    ),
    (
        row_sum(7, 5),
        lambda s, i, k: s.reorder(*s.split(s.fuse(i, k), [None, 3])[::-1]),
        "reorder: expected loop 'i_k_fused' to stay outside of loop 'i_k_fused': both are bound to "
        "spatial and to reduction axes of block 'Y'",
    ),
    (
        row_sum(),
        lambda s, i, k: s.parallel(k),
        "parallel: expected every axis bound to loop 'k' to be spatial for it to be parallel, got "
        "reduce axis 'vk' of block 'Y'",
    ),
    (
        row_sum("n", 6),
        lambda s, i, k: s.vectorize(s.fuse(i, k)),
        "vectorize: expected every axis bound to loop 'i_k_fused' to be spatial for it to be "
        "vectorized, got reduce axis 'vk' of block 'Y'",
    ),
    (
        row_sum("n", 6),
        lambda s, i, k: s.unroll(s.fuse(i, k)),
        "unroll: expected loop 'i_k_fused' to have a constant extent to be unrolled, got n * 6",
    ),
    (
        row_sum(8, 6),
        lambda s, i, k: s.loop_partition(s.fuse(i, k), [8, None]),
        "loop_partition: expected only the first iteration of loop 'i_k_fused', in the first part, "
        "to initialize the reduction of block 'Y'",
    ),
    (
        row_sum(8, 0),
        lambda s, i, k: s.loop_partition(s.split(k, [None, 4])[1], [2, None]),
        "loop_partition: expected loop 'k', over which block 'Y' reduces, to have iterations for "
        "loop 'k' to be partitioned, got extent 0: decompose the reduction first",
    ),
    (
        program(TWO_AXES, {"X": "({m}, {n}, {p})", "Y": "({m},)"}, m=1, n="n", p=2),
        lambda s, i, j, k: s.split(s.split(k, [None, 2, 2])[2], [None, 3]),
        "split: expected loop 'j', over which block 'Y' reduces, to have iterations for factors "
        "that do not divide loop 'k', got extent n: decompose the reduction first",
    ),
    (
        row_sum(8, "n"),
        lambda s, i, k: s.split(s.add_unit_loop(s.get_block("Y")), [None, 3]),
        "split: expected loop 'k', over which block 'Y' reduces, to have iterations for factors "
        "that do not divide loop 'u', got extent n: decompose the reduction first",
    ),
    (
        row_sum(),
        lambda s, i, k: s.bind(i, "lane"),
        "bind: expected a thread axis (blockIdx.x, blockIdx.y, blockIdx.z, threadIdx.x, "
        "threadIdx.y, threadIdx.z), got 'lane'",
    ),
    (
        row_sum(8, 6),
        lambda s, i, k: s.loop_partition(i, [3, 4]),
        "loop_partition: expected the factors of loop 'i' to sum to its extent 8, got 7",
    ),
    (
        row_sum(),
        lambda s, i, k: s.loop_partition(i, [3, None]),
        "loop_partition: expected the factors of loop 'i' to sum to its extent n, got 3",
    ),
    (
        matmul_relu(),
        lambda s, i, j, k: s.merge(k, s.get_loops("C")[1]),
        "merge: expected loop 'j' to be as deep as loop 'k', got 2 loops and 3",
    ),
    (
        row_sum(),
        lambda s, i, k: (s.split(i, [None, 2]), s.unroll(i)),
        "unroll: expected a valid variable, got that of loop 'i', which 'split' replaced",
    ),
    (
        row_sum(),
        lambda s, i, k: s.reorder_block_iter_var("Y", [0, 0]),
        "reorder_block_iter_var: expected a permutation of the 2 axes of block 'Y', got [0, 0]",
    ),
    (
        chain(),
        lambda s, *_: s.reverse_compute_at("Y", s.split(s.get_loops("S")[0], [2, None, 3])[0]),
        "reverse_compute_at: expected block 'S' to store a known part of 'S' in each iteration of "
        "the loop",
    ),
    (
        matmul_relu("n", 8, "p"),
        lambda s, i, j, k: (s.reorder(k, i, j), s.loop_partition(j, [3, None])),
        "loop_partition: expected loop 'k', over which block 'Y' reduces, to have iterations for "
        "loop 'j' to be partitioned, got extent p: decompose the reduction first",
    ),
    (
        matmul_relu(4, 8, 6),
        lambda s, i, j, k: s.reverse_compute_at("C", s.fuse(i, j, k)),
        "reverse_compute_at: expected block 'Y' to store a box of 'Y' in each iteration of the "
        "loop",
    ),
    (
        PAIRS,
        lambda s, *_: s.reverse_compute_at("Y", s.get_loops("S")[0]),
        "reverse_compute_at: expected block 'S' to store a box of 'S' in each iteration of the "
        "loop",
    ),
    (
        row_sum(),
        lambda s, i, k: s.unannotate(i, "x"),
        "unannotate: expected loop 'i' to have the annotation 'x'",
    ),
]


@pytest.mark.parametrize(
    ("source", "change", "message"), REFUSED, ids=[row[-1][-50:] for row in REFUSED]
)
def test_refused(source, change, message):
    check_refused(source, lambda sch: change(sch, *sch.get_loops("Y")), message)
