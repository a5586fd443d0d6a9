"""The planner alone: no overlap for any value of the symbols, and how much memory it takes."""

import itertools

from hypothesis import given, settings
from hypothesis import strategies as st

from xrelax.dialects.int_expr import IntExpr, sym
from xrelax.lowering.runtime.memory_plan import Request, aligned, plan_memory
from xrelax.runtime.memory import ALIGNMENT

n, m = sym("n"), sym("m")
STEPS = 8


@st.composite
def requests(draw: st.DrawFn) -> Request:
    size = draw(
        st.one_of(
            st.integers(0, 300).map(IntExpr.of),
            st.integers(1, 40).map(lambda c: n * c),
            st.sampled_from([m * 4, n * m * 4, n * 4 + m, (n + 7) // 8 * 32, aligned(n * 4)]),
        )
    )
    first = draw(st.integers(0, STEPS))
    return Request(size, first, draw(st.integers(first, STEPS)))


def value(expr: IntExpr, symbols: dict[str, int]) -> int:
    return expr.evaluate(lambda s: symbols[s.name])


def apart(a: tuple[int, int], b: tuple[int, int]) -> bool:
    """Whether two ranges of bytes, as start and end, have none in common."""
    return max(a[0], b[0]) >= min(a[1], b[1])


def peak(wanted: list[Request], symbols: dict[str, int]) -> int:
    """The most bytes that are in use at one step."""
    sizes = [value(aligned(r.size), symbols) for r in wanted]
    steps = range(STEPS + 1)
    return max(
        sum(s for s, r in zip(sizes, wanted, strict=True) if r.first <= t <= r.last) for t in steps
    )


@settings(max_examples=150, deadline=None)
@given(st.lists(requests(), max_size=12))
def test_what_is_in_use_at_the_same_time_does_not_overlap(wanted: list[Request]):
    plan = plan_memory(wanted)
    for i, j in itertools.product((0, 1, 3, 50), repeat=2):
        symbols = {"n": i, "m": j}
        starts = [value(o, symbols) for o in plan.offsets]
        ranges = [(s, s + value(r.size, symbols)) for s, r in zip(starts, wanted, strict=True)]
        total = value(plan.size, symbols)
        assert all(start % ALIGNMENT == 0 and 0 <= start for start in starts)
        assert all(end <= total for _, end in ranges)
        for a, b in itertools.combinations(range(len(wanted)), 2):
            if wanted[a].first <= wanted[b].last and wanted[b].first <= wanted[a].last:
                assert apart(ranges[a], ranges[b])
        assert peak(wanted, symbols) <= total
        assert total <= sum(value(aligned(r.size), symbols) for r in wanted)


def chain(*sizes: IntExpr) -> list[Request]:
    """Buffers of which each is written from the one before: in use for two steps."""
    return [Request(size, i, i + 1) for i, size in enumerate(sizes)]


def test_a_chain_of_equal_buffers_needs_two_slots():
    plan = plan_memory(chain(*[n * 4] * 9))
    assert plan.slots == (aligned(n * 4),) * 2
    assert plan.size == aligned(n * 4) * 2


def test_total_is_the_peak_for_a_growing_chain():
    """A slot grows rather than leaving its bytes unused."""
    wanted = chain(*[IntExpr.of(64 * c) for c in (1, 2, 3, 4)])
    plan = plan_memory(wanted)
    assert plan.size == IntExpr.of(peak(wanted, {})) == IntExpr.of(64 * 7)


def test_a_larger_slot_is_reused_for_less():
    plan = plan_memory(chain(n * 8, m, n * 4, m))
    assert plan.slots == (aligned(n * 8), aligned(m))


def test_sizes_that_cannot_be_compared_do_not_share():
    assert len(plan_memory(chain(n, m, n * n, m * m)).slots) == 4


def test_sizes_that_alignment_makes_equal_share():
    """Scratch memory comes with its size rounded already."""
    plan = plan_memory([Request(n * 4, 0, 0), Request(aligned(n * 4), 1, 1), Request(n * 4, 2, 2)])
    assert plan.slots == (aligned(n * 4),)


def test_a_size_that_is_negative_takes_no_room():
    plan = plan_memory([Request(n * 64 - 640, 0, 1), Request(IntExpr.of(64), 0, 1)])
    assert [value(e, {"n": 3}) for e in (*plan.offsets, plan.size)] == [0, 0, 64]


def test_nothing():
    plan = plan_memory([])
    assert plan.offsets == () and plan.size == IntExpr.of(0)
