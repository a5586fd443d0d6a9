"""`loop_overlap`: what is left of a loop is a last tile that overlaps the one before."""

import pytest
from programs import chain, row_sum, scaled
from schedule_check import check_refused, check_schedule, check_text


def test_loop_overlap():
    check_text(
        scaled(19),
        lambda sch: sch.loop_overlap(sch.get_loops("Y")[0], 8),
        """
for i in range(16):
    with T.block("Y_i0"):
        vi = T.axis.spatial(16, i)
        Y[vi] = X[vi] * T.float32(2)
for i in range(11, 19):
    with T.block("Y_i1"):
        vi = T.axis.spatial((11, 19), i)
        Y[vi] = X[vi] * T.float32(2)
""",
        native=True,
    )


@pytest.mark.parametrize("count", [1, 2])
def test_loop_overlap_of_tiles(count):
    def schedule(sch):
        i, _ = sch.get_loops("Y")
        size = sch.sample_categorical([9], [1.0])
        parts = sch.loop_overlap(i, size)
        assert len(parts) == count
        for part in parts:
            sch.vectorize(sch.split(part, [None, size])[1])
            sch.loop_overlap(sch.get_loops(sch.get_child_blocks(part)[0])[-1], 4)

    def stores_first(sch):
        _, i = sch.get_loops("Y")
        _, second = sch.loop_overlap(i, 4)
        sch.vectorize(sch.split(second, [None, 4])[1])

    check_schedule(chain(20 if count == 2 else 18, 7), stores_first)


REFUSED = [
    (
        scaled(19),
        lambda s: s.loop_overlap(s.get_loops("Y")[0], 0),
        "loop_overlap: expected a size of at least 1, got 0",
    ),
    (
        scaled(19),
        lambda s: s.loop_overlap(s.get_loops("Y")[0], 20),
        "loop_overlap: expected loop 'i' to have at least 20 iterations, got extent 19",
    ),
    (
        scaled("n"),
        lambda s: s.loop_overlap(s.get_loops("Y")[0], 1),
        "loop_overlap: expected loop 'i' to have at least 1 iterations, got extent n",
    ),
    (
        row_sum(8, 6),
        lambda s: s.loop_overlap(s.get_loops("Y")[0], 5),
        "loop_overlap: expected block 'Y' of loop 'i' to have spatial axes only, got spatial, "
        "reduce",
    ),
    (
        scaled(19, value="Y[vi]"),
        lambda s: s.loop_overlap(s.get_loops("Y")[0], 8),
        "loop_overlap: expected loop 'i' not to load 'Y', which it stores",
    ),
    (
        scaled(19).replace("    X = T", '    T.func_attr({"tir.noalias": False})\n    X = T', 1),
        lambda s: s.loop_overlap(s.get_loops("Y")[0], 8),
        "loop_overlap: expected loop 'i' not to load 'Y', which it stores",
    ),
    (
        scaled(19),
        lambda s: (s.vectorize(s.get_loops("Y")[0]), s.loop_overlap(s.get_loops("Y")[0], 8)),
        "loop_overlap: expected loop 'i' to be serial, got vectorized",
    ),
    (
        scaled("n"),
        lambda s: s.loop_overlap(
            s.get_loops("Y")[0], s.sample_perfect_tile(s.get_loops("Y")[0], 2)[0]
        ),
        "loop_overlap: expected a size, got a factor of a symbolic extent",
    ),
]


@pytest.mark.parametrize(
    ("source", "change", "message"), REFUSED, ids=[row[-1][-50:] for row in REFUSED]
)
def test_refused(source, change, message):
    check_refused(source, change, message)
