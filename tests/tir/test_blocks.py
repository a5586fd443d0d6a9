"""Parts of nests made blocks: `blockize`."""

import pytest
from programs import SHAPES, chain, matmul_relu, program, row_sum
from schedule_check import body, check_refused, check_schedule


def test_a_loop_made_a_block():
    def schedule(s):
        _, k = s.get_loops("Y")
        _, k1 = s.split(k, [None, 4])
        s.blockize(k1)

    sch = check_schedule(row_sum(3, 8), schedule)
    assert body(sch) == (
        """    for i, k in T.grid(3, 2):
        with T.block("Y_o"):
            vi_o, vk_o = T.axis.remap("SR", [i, k])
            T.reads(X[vi_o, vk_o * 4:vk_o * 4 + 4])
            T.writes(Y[vi_o])
            with T.init():
                with T.block("Y_init"):
                    T.reads()
                    T.writes(Y[vi_o])
                    Y[vi_o] = T.float32(0)
            for k_1 in range(4):
                with T.block("Y"):
                    vk_i = T.axis.reduce(4, k_1)
                    T.reads(Y[vi_o], X[vi_o, vk_i + vk_o * 4])
                    T.writes(Y[vi_o])
                    Y[vi_o] = Y[vi_o] + X[vi_o, vk_o * 4 + vk_i]"""
    )


def test_a_block_of_indices_that_wrap_around():
    """`vi % 4` stays, though a row of the block has one value of `vi` then."""
    source = """
@T.prim_func
def main(X: T.Buffer((4, 5), "float32"), Y: T.Buffer((9, 5), "float32")):
    for i, j in T.grid(9, 5):
        with T.block("Y"):
            vj, vi = T.axis.remap("SS", [j, i])
            Y[vi, vj] = X[vi % 4, vj] + T.cast(vi // 4, "float32")
"""
    for at in range(2):
        check_schedule(source, lambda s, at=at: s.blockize(s.get_loops("Y")[at]), native=True)


def test_a_block_of_nothing():
    source = """
@T.prim_func
def main(X: T.Buffer((0, 4), "float32"), Y: T.Buffer((0, 4), "float32")):
    for i, j in T.grid(0, 4):
        with T.block("Y"):
            vi, vj = T.axis.remap("SS", [i, j])
            Y[vi, vj] = X[vi, vj]
"""
    check_schedule(source, lambda sch: sch.blockize(sch.get_loops("Y")[0]))


@pytest.mark.parametrize("binding", ["0", "f // 23", "f"])
@pytest.mark.parametrize("units", [True, False])
def test_a_block_of_nothing_in_parts(binding, units):
    source = f"""
@T.prim_func
def main(X: T.Buffer((0, 4), "float32"), Y: T.Buffer((0, 4), "float32")):
    for f, j in T.grid(0, 4):
        with T.block("Y"):
            vi = T.axis.spatial(0, {binding})
            vj = T.axis.spatial(4, j)
            Y[vi, vj] = X[vi, vj]
"""

    def schedule(sch):
        f, _ = sch.get_loops("Y")
        sch.vectorize(sch.loop_partition(f, [None])[0])
        (name,) = (n for n in ("Y", "Y_f0") if f'"{n}"' in sch.mod.script())
        sch.blockize(sch.get_loops(name)[0], preserve_unit_iters=units)

    check_schedule(source, schedule)


@pytest.mark.parametrize("rows", ["n", 8])
@pytest.mark.parametrize("at", [0, 1])
def test_copies_in_blocks_that_read_from_an_offset(rows, at):
    body = """
    for i, j in T.grid({n}, 16):
        with T.block("Y"):
            v, w = T.axis.remap("SS", [i, j])
            Y[v, w] = X[v, w + 3] * T.float32(2)
"""

    def schedule(sch):
        sch.split(sch.get_loops("Y")[1], [None, 4])
        sch.blockize(sch.get_loops("Y")[-1 - at])
        copy = sch.cache_read("Y", 0, "local")
        sch.vectorize(sch.get_loops(copy)[-1])

    source = program(body, {"X": "({n}, 21)", "Y": "({n}, 16)"}, n=rows)
    check_schedule(source, schedule, *({"n": n} for n in (3, 0)))


@pytest.mark.parametrize("at", [0, 1, 2])
def test_blocks_of_empty_sums_start(at):
    sizes = {"n": 3, "m": 5, "p": 0}
    for source in (matmul_relu(), matmul_relu(**sizes), matmul_relu("n", 5, 0)):
        check_schedule(source, lambda s: s.blockize(s.get_loops("Y")[at]), sizes)


@pytest.mark.sampled
@pytest.mark.parametrize("units", [True, False])
@pytest.mark.parametrize("at", [0, 1, 2])
def test_blocks_of_products(at, units):
    check_schedule(
        matmul_relu(),
        lambda s: s.blockize(s.get_loops("Y")[at], preserve_unit_iters=units),
        *SHAPES,
    )


@pytest.mark.parametrize("units", [True, False])
def test_blocks_of_tiles(units):
    def schedule(s):
        i, j, k = s.get_loops("Y")
        (i0, i1), (j0, j1), (k0, k1) = (s.split(x, [None, 2]) for x in (i, j, k))
        s.reorder(i0, k0, j0, k1, i1, j1)
        outer = s.blockize(s.blockize(i1, units) and j0, units)
        s.parallel(s.get_loops(outer)[0])

    check_schedule(matmul_relu(8, 6, 4), schedule)


def test_several_blocks_in_one():
    def schedule(s):
        s.compute_at("S", s.get_loops("Y")[0])
        s.blockize([s.get_block("S"), s.get_block("Y")], preserve_unit_iters=False)

    sch = check_schedule(chain(), schedule, {"n": 5, "m": 7}, {"n": 1, "m": 1})
    assert 'with T.block("S_Y_o"):\n            vi_o = T.axis.spatial(n, i)' in body(sch)


REFUSED = [
    (
        matmul_relu(7, 13, 5),
        lambda s: s.blockize([s.get_block("C"), s.get_block("C")]),
        "blockize: expected block 'C' once",
    ),
    (
        matmul_relu(7, 13, 5),
        lambda s: s.blockize(s.split(s.get_loops("Y")[0], [None, 4])[1]),
        "blockize: expected the 4 iterations of loops in the new block to divide axis 'vi' of "
        "block 'Y', of 7 iterations",
    ),
    (
        row_sum(8, 6),
        lambda s: s.blockize(s.split(s.fuse(*s.get_loops("Y")), [None, 4])[1]),
        "blockize: expected axis 'vi' of block 'Y' to begin at 0 and to count the iterations of "
        "the loops in the new block without gaps",
    ),
    (
        chain(8, 6),
        lambda s: (
            s.compute_at("S", s.get_loops("Y")[0]),
            s.blockize(s.get_loops("Y")[0]),
        ),
        "blockize: expected one block in loop 'i', got 2",
    ),
    (
        matmul_relu(8, 6, 4),
        lambda s: (s.reverse_compute_at("C", s.get_loops("Y")[0]), s.blockize(["Y"])),
        "blockize: expected no reduction axis of block 'Y' to be bound to a loop around the blocks",
    ),
    (chain(8, 6), lambda s: s.blockize([]), "blockize: expected at least one block"),
]


@pytest.mark.parametrize(
    ("source", "change", "message"), REFUSED, ids=[row[-1][-50:] for row in REFUSED]
)
def test_refused(source, change, message):
    check_refused(source, change, message)
