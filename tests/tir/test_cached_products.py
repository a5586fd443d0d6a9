"""Schedules of products that work on copies in shared and local memory, as the course's on GPUs."""

from programs import SHAPES, matmul_relu, program
from schedule_check import check_schedule


def test_course_schedule_with_caches():
    """Tiles of the product in local memory, operands in shared memory, as on a GPU."""

    def schedule(sch):
        block = sch.get_block("Y")
        i, j, k = sch.get_loops(block)
        local = sch.cache_write(block, 0, "local")
        i0, i1 = sch.split(i, [None, 4])
        j0, j1 = sch.split(j, [None, 4])
        k0, k1 = sch.split(k, [None, 2])
        sch.reorder(i0, j0, k0, k1, i1, j1)
        sch.reverse_compute_at(local, j0)
        for number in (0, 1):
            shared = sch.cache_read(block, number, "shared")
            sch.compute_at(shared, k0)
            *_, last = sch.get_loops(shared)
            sch.vectorize(last)
        sch.unroll(i1)
        sch.set_scope("Y", 0, "local")

    check_schedule(matmul_relu(), schedule, *SHAPES)
    for sizes in SHAPES:
        check_schedule(matmul_relu(**sizes), schedule)


def test_course_schedule_on_threads():
    """Blocks and threads of a GPU, whose scratch memory becomes that of each iteration."""

    def schedule(sch):
        block = sch.get_block("Y")
        i, j, k = sch.get_loops(block)
        local = sch.cache_write(block, 0, "local")
        i0, i1, i2 = sch.split(i, [None, 2, 2])
        j0, j1, j2 = sch.split(j, [None, 2, 2])
        k0, k1 = sch.split(k, [None, 2])
        sch.reorder(i0, j0, i1, j1, k0, k1, i2, j2)
        sch.reverse_compute_at(local, j1)
        for number in (0, 1):
            sch.compute_at(sch.cache_read(block, number, "shared"), k0)
        sch.reverse_compute_at("C", j1)
        sch.bind(i0, "blockIdx.x")
        sch.bind(j0, "blockIdx.y")
        sch.bind(i1, "threadIdx.x")
        sch.bind(j1, "threadIdx.y")
        sch.decompose_reduction(block, k0)

    sch = check_schedule(matmul_relu(), schedule, *SHAPES, native=False)
    assert 'A_shared = T.alloc_buffer((2, 2), scope="shared")' in sch.func.script()
    check_schedule(matmul_relu(**SHAPES[1]), schedule, native=False)


def test_scratch_of_parallel_loops():
    """A copy that every iteration makes anew is its own; one that they make together is not."""

    def schedule(sch):
        i, _ = sch.get_loops("Y")
        sch.compute_at(sch.cache_read("Y", 0, "local"), i)
        sch.compute_at("S", i)
        sch.parallel(i)

    body = """
    S = T.alloc_buffer(({n},), "float32")
    for i in range({n}):
        with T.block("S"):
            vi = T.axis.spatial({n}, i)
            S[vi] = X[vi] * T.float32(2)
    for i, j in T.grid({n}, {m}):
        with T.block("Y"):
            vi, vj = T.axis.remap("SS", [i, j])
            Y[vi, vj] = S[vj] + T.float32(1)
"""
    source = program(body, {"X": "({n},)", "Y": "({n}, {m})"}, n=6, m=6)
    sch = check_schedule(source, schedule)
    assert "for i in T.parallel(6):\n        S_local = T.alloc_buffer((6,)" in sch.func.script()
