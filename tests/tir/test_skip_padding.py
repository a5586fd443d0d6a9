"""`skip_padding`: reductions over windows run over data only."""

import pytest
from programs import program, row_sum
from schedule_check import check_refused, check_schedule, check_text

SIZES = ({"n": 9}, {"n": 2}, {"n": 1})


def windows(
    n="n",
    count="n",
    element="X[vi + vk - 1]",
    inside="1 <= vi + vk and vi + vk < {n} + 1",
    **options,
):
    """Block "Y", sums over windows of three elements of a padded buffer."""
    term = options.get("term", "T.if_then_else({inside}, {element}, T.float32({outside})) * W[vk]")
    update = options.get("update", "Y[vi] + {term}")
    text = term.replace("{inside}", inside).replace("{element}", element)
    text = update.replace("{term}", text.replace("{outside}", options.get("outside", "0")))
    body = f"""
    for i, k in T.grid({{count}}, 3):
        with T.block("Y"):
            vi, vk = T.axis.remap("SR", [i, k])
            with T.init():
                Y[vi] = T.float32({options.get("start", "0")})
            Y[vi] = {text}
"""
    buffers = {"X": "({n},)", "W": "(3,)", "Y": "({count},)"}
    sizes = {"n": n, "count": count}
    lines = program(body, buffers, **sizes).splitlines()
    return "\n".join(dict.fromkeys(lines))  # a symbol is declared once


def skip(sch):
    loop = sch.get_loops("Y")[1]
    sch.decompose_reduction("Y", loop)
    sch.skip_padding(loop)


def test_the_bounds_depend_on_the_loop_around():
    check_text(
        windows(),
        skip,
        """
for i in range(n):
    with T.block("Y_init"):
        vi = T.axis.spatial(n, i)
        Y[vi] = T.float32(0)
    for k in range(T.max(-i + 1, 0), T.min(-i + n + 1, 3)):
        with T.block("Y_update"):
            vi = T.axis.spatial(n, i)
            vk = T.axis.reduce(3, k)
            Y[vi] = Y[vi] + X[vi + vk - 1] * W[vk]
""",
        *SIZES,
        native=True,
    )


def test_other_conditions_stay():
    inside = "1 <= vi + vk and vi + vk < {n} + 1 and vk * vk < 4"
    sch = check_schedule(windows(inside=inside), skip, *SIZES)
    assert "if_then_else(vk * vk < 4, X[vi + vk - 1]" in sch.func.script()


def test_strides_and_dilation():
    inside = "4 <= vi * 2 + vk * 3 and vi * 2 + vk * 3 < {n} + 4"
    source = windows(count=7, element="X[vi * 2 + vk * 3 - 4]", inside=inside)
    sch = check_schedule(source, skip, *SIZES)
    assert "if_then_else" not in sch.func.script()


def test_reversed_windows():
    inside = "0 <= vi - vk and vi - vk < {n}"
    sch = check_schedule(windows(element="X[vi - vk]", inside=inside), skip, *SIZES)
    assert "if_then_else" not in sch.func.script()


def test_windows_without_data():
    """The first windows have padding only, and no iterations."""
    inside = "5 <= vi + vk and vi + vk < {n} + 5"
    source = windows(count=16, element="X[vi + vk - 5]", inside=inside)
    check_schedule(source, skip, *SIZES)


def test_maxima():
    source = windows(
        outside='"-inf"',
        start='"-inf"',
        term="T.if_then_else({inside}, {element}, T.float32({outside}))",
        update="T.max(Y[vi], {term})",
    )
    sch = check_schedule(source, skip, *SIZES)
    assert "if_then_else" not in sch.func.script()


def test_the_loop_is_around_a_tile():
    """The bounds are those of any result of the tile, and the condition stays."""

    def schedule(sch):
        i, k = sch.get_loops("Y")
        outer, inner = sch.split(i, [None, 4])
        sch.reorder(outer, k, inner)
        sch.decompose_reduction("Y", k)
        sch.skip_padding(k)

    inside = "0 <= vi - vk and vi - vk < 6"
    source = windows(n=6, count=12, element="X[vi - vk]", inside=inside)
    text = check_schedule(source, schedule).func.script()
    assert "for k in range(T.max(0, i * 4 - 5), T.min(3, i * 4 + 4))" in text
    assert "if_then_else(0 <= vi - vk" in text


MASK = """
    P = T.alloc_buffer(({n}, {n}), "float32")
    for i, j in T.grid({n}, {n}):
        with T.block("P"):
            vi, vj = T.axis.remap("SS", [i, j])
            P[vi, vj] = T.if_then_else(vj <= vi{offset}, X[vi, vj] + 1, T.float32({hidden}))
    for i, k in T.grid({n}, {n}):
        with T.block("Y"):
            vi, vk = T.axis.remap("SR", [i, k])
            with T.init():
                Y[vi] = T.float32({start})
            Y[vi] = {update}
"""


def masked(n="n", offset="", hidden="0", update="Y[vi] + P[vi, vk] * W[vk]", start="0"):
    """Block "Y" reduces rows of what block "P" stores, of which a mask hides a part."""
    buffers = {"X": "({n}, {n})", "W": "({n},)", "Y": "({n},)"}
    body = MASK.replace("{offset}", offset).replace("{update}", update)
    body = body.replace("{hidden}", hidden).replace("{start}", start)
    return program(body, buffers, n=n)


def skip_row(sch, align=1):
    sch.skip_padding(sch.get_loops("Y")[1], align)


def test_what_a_mask_hides_is_not_loaded():
    sch = check_schedule(masked(), skip_row, *SIZES)
    assert "for k in range(T.min(i + 1, n))" in sch.func.script()


def test_rows_that_a_mask_hides_altogether():
    check_schedule(masked(offset=" - 3"), skip_row, *SIZES)


def test_the_largest_of_what_a_mask_leaves():
    source = masked(
        offset=" + 2", hidden='"-inf"', update="T.max(Y[vi], P[vi, vk])", start='"-inf"'
    )
    sch = check_schedule(source, skip_row, *SIZES)
    assert "for k in range(T.min(i + 3, n))" in sch.func.script()


def test_groups_of_iterations():
    sch = check_schedule(masked(), lambda s: skip_row(s, 4), *SIZES)
    assert "for k in range(T.min((i // 4) * 4 + 4, n))" in sch.func.script()


def test_masked_rows_of_a_tile():
    """The loop ends with the last row, so that it is the same for all of them."""

    def schedule(sch):
        i, k = sch.get_loops("Y")
        outer, inner = sch.split(i, [None, 4])
        sch.reorder(outer, k, inner)
        sch.decompose_reduction("Y", k)
        sch.skip_padding(k)

    sch = check_schedule(masked(n=12), schedule)
    assert "for k, i_1 in T.grid(T.min(12, i * 4 + 4), 4)" in sch.func.script()


def test_what_a_mask_hides_must_not_count():
    message = (
        "skip_padding: expected block 'Y' to have a condition on loop 'k' outside of which it does "
        "not change its result"
    )
    check_refused(masked(hidden="1"), skip_row, message)
    check_refused(masked(update="Y[vi] + (P[vi, vk] + W[vk])"), skip_row, message)
    check_refused(masked(update="T.max(Y[vi], P[vi, vk])"), skip_row, message)


REFUSED = (
    (
        windows(),
        lambda s: s.skip_padding(s.get_loops("Y")[1]),
        "skip_padding: expected block 'Y' to be initialized before loop 'k'",
    ),
    (
        row_sum(),
        lambda s: s.skip_padding(s.get_loops("Y")[0]),
        "skip_padding: expected loop 'i' to hold one block, a reduction, got Y",
    ),
    (
        windows(outside="1"),
        skip,
        "skip_padding: expected block 'Y_update' to have a condition on loop 'k' outside of which "
        "it does not change its result",
    ),
    (
        windows(update="T.max(Y[vi], {term})"),
        skip,
        "skip_padding: expected block 'Y_update' to have a condition on loop 'k' outside of which "
        "it does not change its result",
    ),
    (
        windows(),
        lambda s: (
            s.decompose_reduction("Y", s.get_loops("Y")[1]),
            s.unroll(s.get_loops("Y_update")[1]),
            s.skip_padding(s.get_loops("Y_update")[1]),
        ),
        "skip_padding: expected loop 'k' to be serial, got unrolled",
    ),
)


@pytest.mark.parametrize("source,schedule,message", REFUSED)
def test_refused(source, schedule, message):
    check_refused(source, schedule, message)


STALE = """
    P = T.alloc_buffer((8,), "float32")
    for t, j in T.grid(4, 8):
        with T.block("P"):
            vt, vj = T.axis.remap("SS", [t, j])
            P[vj] = T.if_then_else(vj <= vt, X[vt, vj], T.float32(0))
    for i, k in T.grid(8, 8):
        with T.block("Y"):
            vi, vk = T.axis.remap("SR", [i, k])
            with T.init():
                Y[vi] = T.float32(0)
            Y[vi] = Y[vi] + P[vk] * X[0, vk]
"""


def test_a_condition_on_more_than_the_element():
    """Which elements are 0 depends on the iteration that stored them last."""
    source = program(STALE.replace("{", "{{").replace("}", "}}"), {"X": "(4, 8)", "Y": "(8,)"})
    message = (
        "skip_padding: expected block 'Y' to have a condition on loop 'k' outside of which it does "
        "not change its result"
    )
    check_refused(source, skip_row, message)
