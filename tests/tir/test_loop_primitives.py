"""Each primitive on loops: the function before and after."""

from programs import SIZES, chain, matmul_relu, program, row_sum
from schedule_check import check_schedule

from xrelax.script import from_source
from xrelax.tir.schedule import Schedule


def loops_text(sch):
    """The scheduled function's loops, bindings and predicates, without the rest of its script."""
    kept = ("for ", "with T.block", "T.where", "T.axis")
    lines = sch.func.script().splitlines()
    found = [line for line in lines if any(word in line for word in kept)]
    found = [line for line in found if "root" not in line]
    indent = min(len(line) - len(line.lstrip()) for line in found)
    return "\n".join(line[indent:] for line in found)


def check_text(source, schedule, text, *sizes, native=False):
    sch = check_schedule(source, schedule, *sizes, native=native)
    assert loops_text(sch) == text.strip("\n")
    return sch


def test_split_that_divides():
    def schedule(sch):
        _, k = sch.get_loops("Y")
        assert len(sch.split(k, [2, None])) == 2

    check_text(
        row_sum(4, 6),
        schedule,
        """
for i, k, k_1 in T.grid(4, 2, 3):
    with T.block("Y"):
        vi = T.axis.spatial(4, i)
        vk = T.axis.reduce(6, k * 3 + k_1)
""",
    )


def test_split_that_does_not_divide_a_symbol():
    check_text(
        row_sum(),
        lambda sch: sch.split(sch.get_loops("Y")[0], ["n", 4]),
        """
for i, i_1, k in T.grid(n, 4, m):
    with T.block("Y"):
        vi = T.axis.spatial(n, i * 4 + i_1)
        vk = T.axis.reduce(m, k)
        T.where(i * 4 + i_1 < n)
""",
        *SIZES,
    )


def test_split_of_a_loop_from_another_number():
    body = """
    for i in range(3, {n}):
        with T.block("Y"):
            vi = T.axis.opaque({n}, i)
            Y[vi] = X[vi] * T.float32(2)
"""
    check_text(
        program(body, {"X": "({n},)", "Y": "({n},)"}, n=10),
        lambda sch: sch.split(sch.get_loops("Y")[0], [None, 4]),
        """
for i, i_1 in T.grid(2, 4):
    with T.block("Y"):
        vi = T.axis.opaque(10, i * 4 + i_1 + 3)
        T.where(i * 4 + i_1 + 3 < 10)
""",
    )


def test_split_without_unit_loops_in_bindings():
    check_text(
        row_sum(4, 6),
        lambda sch: sch.split(sch.get_loops("Y")[0], [1, None], preserve_unit_iters=False),
        """
for i, i_1, k in T.grid(1, 4, 6):
    with T.block("Y"):
        vi, vk = T.axis.remap("SR", [i_1, k])
""",
    )


def test_split_of_several_blocks():
    def schedule(sch):
        i, _ = sch.get_loops("S")
        sch.reverse_compute_at("Y", i)
        sch.split(i, [None, 3])

    check_text(
        chain(),
        schedule,
        """
for i, i_1 in T.grid((n + 2) // 3, 3):
    for j in range(m):
        with T.block("S"):
            vi = T.axis.spatial(n, i * 3 + i_1)
            vj = T.axis.spatial(m, j)
            T.where(i * 3 + i_1 < n)
    for j in range(m):
        with T.block("Y"):
            vi = T.axis.spatial(n, i * 3 + i_1)
            vj = T.axis.spatial(m, j)
            T.where(i * 3 + i_1 < n)
""",
        *SIZES,
    )


def test_fuse():
    check_text(
        row_sum("n", 6),
        lambda sch: sch.fuse(*sch.get_loops("Y")),
        """
for i_k_fused in range(n * 6):
    with T.block("Y"):
        vi = T.axis.spatial(n, i_k_fused // 6)
        vk = T.axis.reduce(6, i_k_fused % 6)
""",
        *SIZES,
    )


def test_fuse_of_loops_that_start_elsewhere():
    source = """
@T.prim_func
def main(x: T.handle, y: T.handle):
    n = T.int64()
    X = T.match_buffer(x, (n, 6))
    Y = T.match_buffer(y, (n,))
    for i in T.serial(2, n + 2):
        for k in T.serial(1, 7):
            with T.block("Y"):
                vi = T.axis.spatial(n, i - 2)
                vk = T.axis.reduce(6, k - 1)
                with T.init():
                    Y[vi] = T.float32(0)
                Y[vi] = Y[vi] + X[vi, vk]
"""
    check_text(
        source,
        lambda sch: sch.fuse(*sch.get_loops("Y")),
        """
for i_k_fused in range(n * 6):
    with T.block("Y"):
        vi = T.axis.spatial(n, i_k_fused // 6)
        vk = T.axis.reduce(6, i_k_fused % 6)
""",
        *SIZES,
    )


def test_fuse_of_what_was_split():
    def schedule(sch):
        i, _ = sch.get_loops("Y")
        sch.fuse(*sch.split(i, [None, 4]))

    check_text(
        row_sum(),
        schedule,
        """
for i_i_fused, k in T.grid(((n + 3) // 4) * 4, m):
    with T.block("Y"):
        vi = T.axis.spatial(n, i_i_fused)
        vk = T.axis.reduce(m, k)
        T.where(i_i_fused < n)
""",
        *SIZES,
    )


def test_reorder_with_a_loop_in_between():
    def schedule(sch):
        i, _, k = sch.get_loops("Y")
        sch.reorder(k, i)

    check_text(
        matmul_relu(4, 5, 6),
        schedule,
        """
for k, j, i in T.grid(6, 5, 4):
    with T.block("Y"):
        vi, vj, vk = T.axis.remap("SSR", [i, j, k])
for i, j in T.grid(4, 5):
    with T.block("C"):
        vi, vj = T.axis.remap("SS", [i, j])
""",
    )


def test_reorder_around_several_blocks():
    def schedule(sch):
        i, j = sch.get_loops("S")
        sch.reverse_compute_at("Y", j)
        sch.reorder(j, i)

    check_text(
        chain(),
        schedule,
        """
for j, i in T.grid(m, n):
    with T.block("S"):
        vi, vj = T.axis.remap("SS", [i, j])
    with T.block("Y"):
        vi, vj = T.axis.remap("SS", [i, j])
""",
        *SIZES,
    )


def test_kinds():
    def schedule(sch):
        i, k = sch.get_loops("Y")
        i0, i1 = sch.split(i, [None, 4])
        sch.reorder(i0, k, i1)
        sch.parallel(i0)
        sch.unroll(k)
        sch.vectorize(i1)

    check_text(
        row_sum(8, 3),
        schedule,
        """
for i in T.parallel(2):
    for k in T.unroll(3):
        for i_1 in T.vectorized(4):
            with T.block("Y"):
                vi = T.axis.spatial(8, i * 4 + i_1)
                vk = T.axis.reduce(3, k)
""",
        native=True,
    )


def test_parallel_after_fuse():
    def schedule(sch):
        i, j = sch.get_loops("S")
        sch.parallel(sch.fuse(i, j))
        i, j = sch.get_loops("Y")
        a, b = sch.split(sch.fuse(i, j), [None, 4])
        sch.parallel(a)
        sch.vectorize(b)

    check_schedule(chain(), schedule, *SIZES)


def test_vectors_over_the_ends_of_rows():
    def schedule(sch):
        for block, lanes in (("S", 16), ("Y", 5)):
            i, j = sch.get_loops(block)
            sch.vectorize(sch.split(sch.fuse(i, j), [None, lanes])[1])

    check_schedule(chain(14, 14), schedule)
    check_schedule(chain(3, 7), schedule)
    check_schedule(chain(), schedule, *SIZES)


def test_bind():
    sch = Schedule(from_source(row_sum(8, 3)))
    sch.bind(sch.get_loops("Y")[0], "blockIdx.x")
    assert 'for i in T.thread_binding(8, thread="blockIdx.x"):' in loops_text(sch)


def test_add_unit_loop():
    def schedule(sch):
        sch.add_unit_loop(sch.get_block("Y"))
        sch.add_unit_loop(sch.get_loops("Y")[0])

    check_text(
        row_sum(8, 3),
        schedule,
        """
for u, i, k, u_1 in T.grid(1, 8, 3, 1):
    with T.block("Y"):
        vi, vk = T.axis.remap("SR", [i, k])
""",
    )


def test_loop_partition():
    check_text(
        row_sum(9, 4),
        lambda sch: sch.loop_partition(sch.get_loops("Y")[0], [4, None]),
        """
for i, k in T.grid(4, 4):
    with T.block("Y_i0"):
        vi, vk = T.axis.remap("SR", [i, k])
for i in range(4, 9):
    for k in range(4):
        with T.block("Y_i1"):
            vi, vk = T.axis.remap("SR", [i, k])
""",
    )


def test_loop_partition_of_a_reduction():
    check_text(
        row_sum(4, 9),
        lambda sch: sch.loop_partition(sch.get_loops("Y")[1], [2, None, 3]),
        """
for i in range(4):
    for k in range(2):
        with T.block("Y_k0"):
            vi, vk = T.axis.remap("SR", [i, k])
    for k in range(2, 6):
        with T.block("Y_k1"):
            vi, vk = T.axis.remap("SR", [i, k])
    for k in range(6, 9):
        with T.block("Y_k2"):
            vi, vk = T.axis.remap("SR", [i, k])
""",
        native=True,
    )


def test_merge():
    def schedule(sch):
        sch.merge(sch.get_loops("S")[1], sch.get_loops("Y")[1])

    check_text(
        chain(),
        schedule,
        """
for i, j in T.grid(n, m):
    with T.block("S"):
        vi, vj = T.axis.remap("SS", [i, j])
    with T.block("Y"):
        vi, vj = T.axis.remap("SS", [i, j])
""",
        *SIZES,
    )


def test_reorder_block_iter_var():
    check_text(
        row_sum(4, 6),
        lambda sch: sch.reorder_block_iter_var("Y", [1, 0]),
        """
for i, k in T.grid(4, 6):
    with T.block("Y"):
        vk, vi = T.axis.remap("RS", [k, i])
""",
    )


def test_annotations():
    sch = Schedule(from_source(row_sum()))
    i, _ = sch.get_loops("Y")
    block = sch.get_block("Y")
    sch.annotate(i, "pragma", "fast")
    sch.annotate(block, "tile", [4, sch.sample_categorical([8], [1.0])])
    assert 'annotations={"pragma": "fast"}' in sch.mod.script()
    assert 'T.block_attr({"tile": [4, 8]})' in sch.mod.script()
    sch.unannotate(i, "pragma")
    sch.unannotate(block, "tile")
    assert "pragma" not in sch.mod.script() and "tile" not in sch.mod.script()


COPY = """
@T.prim_func
def main(X: T.Buffer((3,), "float32"), Y: T.Buffer((3,), "float32")):
    for i in range(3):
        with T.block("Y"):
            vi = T.axis.spatial(3, i)
            Y[vi] = X[vi]
"""


def test_parts_of_which_no_iteration_is_left():
    def schedule(sch):
        outer, _ = sch.split(sch.get_loops("Y")[0], [None, 4])
        sch.loop_partition(sch.split(outer, [None, 2])[1], [1, None])

    check_schedule(COPY, schedule)


def test_unrolled_copies_of_which_no_iteration_is_left():
    check_schedule(COPY, lambda sch: sch.unroll(sch.split(sch.get_loops("Y")[0], [None, 8, 2])[1]))
