"""The kind and the strides of memory: `set_scope` and `storage_align`."""

import pytest
from programs import SIZES, chain
from schedule_check import check_refused, check_schedule


def test_set_scope():
    sch = check_schedule(chain(), lambda s: s.set_scope("S", "S", "shared.dyn"), *SIZES)
    assert 'S = T.alloc_buffer((n, m), scope="shared.dyn")' in sch.func.script()


@pytest.mark.parametrize("shape", [(6, 5), ("n", "m")])
@pytest.mark.parametrize("axis, factor, offset", [(0, 8, 3), (-2, 4, 0), (1, 3, 2), (-1, 1, 0)])
def test_storage_align(shape, axis, factor, offset):
    sch = check_schedule(
        chain(*shape),
        lambda s: s.storage_align("S", 0, axis, factor, offset),
        *(SIZES if shape == ("n", "m") else ()),
    )
    expected = f'"buffer_dim_align": [[0, {axis % 2}, {factor}, {offset}]]'
    assert expected in sch.func.script()


def test_alignment_of_what_a_parameter_takes_the_place_of():
    def schedule(sch):
        sch.storage_align("S", 0, 0, 8, 3)
        sch.reverse_compute_inline("Y")

    check_schedule(chain(), schedule, *SIZES)


@pytest.mark.parametrize(
    ("schedule", "message"),
    [
        (lambda s: s.set_scope("Y", 0, "local"), "expected 'Y' to be a scratch buffer"),
        (lambda s: s.set_scope("S", 0, "moon"), "wmma, texture), got 'moon'"),
        (
            lambda s: s.storage_align("S", 0, 2, 4, 0),
            "expected an axis from -2 to 1 of 'S', got 2",
        ),
        (lambda s: s.storage_align("S", 0, 0, 0, 0), "a factor of at least 1, got 0"),
        (lambda s: s.storage_align("S", 0, 0, 4, 4), "an offset from 0 to 3, got 4"),
    ],
)
def test_refusals(schedule, message):
    check_refused(chain(), schedule, message, whole=False)
