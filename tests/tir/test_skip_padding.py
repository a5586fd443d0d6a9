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
    """Only the condition of all results of a tile would be a bound, and it is none."""

    def schedule(sch):
        i, k = sch.get_loops("Y")
        outer, inner = sch.split(i, [None, 4])
        sch.reorder(outer, k, inner)
        sch.decompose_reduction("Y", k)
        sch.skip_padding(k)

    message = (
        "skip_padding: expected block 'Y_update' to have a condition on loop 'k' outside of which "
        "it does not change its result"
    )
    check_refused(windows(n=8, count=8), schedule, message)


REFUSED = (
    (
        windows(),
        lambda s: s.skip_padding(s.get_loops("Y")[1]),
        "skip_padding: expected loop 'k' to hold one block, a reduction that is initialized "
        "before it, got Y",
    ),
    (
        row_sum(),
        lambda s: s.skip_padding(s.get_loops("Y")[0]),
        "skip_padding: expected loop 'i' to hold one block, a reduction that is initialized "
        "before it, got Y",
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
