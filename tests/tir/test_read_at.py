"""`read_at` and `write_at`: copies of what a block accesses in an iteration of a loop."""

import pytest
from programs import matmul_relu
from schedule_check import check_refused, check_schedule, check_text

SIZES = {"n": 4, "m": 8, "p": 6}
NUMBERS = matmul_relu(**SIZES)


def tiles(sch):
    """The loops over tiles of 2 x 4 x 3 of the product."""
    parts = [sch.split(x, [None, f]) for x, f in zip(sch.get_loops("Y"), (2, 4, 3), strict=True)]
    outer, inner = zip(*parts, strict=True)
    sch.reorder(*outer, *inner)
    return outer


def test_copies_are_blocks_of_their_own():
    def schedule(sch):
        sch.read_at(tiles(sch)[2], "Y", "A", "local")

    check_text(
        NUMBERS,
        schedule,
        """
Y = T.alloc_buffer((4, 8))
A_local = T.alloc_buffer((4, 6), scope="local")
for i, j, k in T.grid(2, 2, 2):
    with T.block("A_local"):
        v_ax0_o, v_ax1_o = T.axis.remap("SS", [i, k])
        T.block_attr({"auto_copy": True})
        for ax0, ax1 in T.grid(2, 3):
            A_local[ax0 + v_ax0_o * 2, ax1 + v_ax1_o * 3] = A[ax0 + v_ax0_o * 2, ax1 + v_ax1_o * 3]
    for i_1, j_1, k_1 in T.grid(2, 4, 3):
        with T.block("Y"):
            vi = T.axis.spatial(4, i * 2 + i_1)
            vj = T.axis.spatial(8, j * 4 + j_1)
            vk = T.axis.reduce(6, k * 3 + k_1)
            with T.init():
                Y[vi, vj] = T.float32(0)
            Y[vi, vj] = Y[vi, vj] + A_local[vi, vk] * B[vk, vj]
for i, j in T.grid(4, 8):
    with T.block("C"):
        vi, vj = T.axis.remap("SS", [i, j])
        C[vi, vj] = T.max(Y[vi, vj], T.float32(0))
""",
        native=True,
    )


def test_all_operands_are_copied():
    def schedule(sch):
        _, j, k = tiles(sch)
        copies = [sch.read_at(k, "Y", name, "local") for name in "AB"]
        copies.append(sch.write_at(j, "Y", 0, "local"))
        assert [sch.get(c).name_hint for c in copies] == ["A_local", "B_local", "Y_local"]
        assert all(sch.get(c).annotations["auto_copy"] for c in copies)

    check_schedule(NUMBERS, schedule)


def test_a_single_element_is_copied_by_a_block_without_loops():
    def schedule(sch):
        copy = sch.read_at(sch.get_loops("C")[-1], "C", "Y", "local")
        assert len(sch.get_loops(copy)) == 2

    check_schedule(matmul_relu("n", "m", "p"), schedule, SIZES)


REFUSED = {
    "tiles that do not divide": (
        lambda s: s.read_at(s.split(s.get_loops("Y")[1], [None, 3])[0], "Y", "B", "local"),
        "read_at: expected the 3 iterations",
    ),
    "a partial result": (
        lambda s: s.write_at(s.get_loops("Y")[2], "Y", 0, "local"),
        "write_at: expected every loop out of which block 'Y' comes to index its result",
    ),
    "another loop": (
        lambda s: s.read_at(s.get_loops("C")[0], "Y", "A", "local"),
        "read_at: compute_at requires all the consumers of block 'A_local' to be in the loop",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refused(name):
    """The module stays as it was, also if the second step is refused."""
    schedule, message = REFUSED[name]
    check_refused(NUMBERS, schedule, message, whole=False)
