"""Generated programs: parsed, printed and parsed again, and run against Python on NumPy scalars."""

import itertools

import numpy as np
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from xrelax.script import from_source

SETTINGS = settings(
    max_examples=40,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
ROWS, COLUMNS, INNER = 3, 4, 5
PAD = 2


class Python:
    """The functions of `T` on NumPy scalars."""

    float32, int32 = np.float32, np.int32
    max, min, abs = staticmethod(max), staticmethod(min), staticmethod(abs)
    tanh, floor = staticmethod(np.tanh), staticmethod(np.floor)
    Cast = staticmethod(lambda dtype, value: np.asarray(value).astype(dtype)[()])
    Select = staticmethod(lambda condition, a, b: a if condition else b)
    if_then_else = Select
    floordiv = staticmethod(lambda a, b: a // b)
    floormod = staticmethod(lambda a, b: a % b)
    truncdiv = staticmethod(lambda a, b: type(a)(np.trunc(a / b)))


def conditions(axes):
    """Conditions on integers, which no rounding can turn."""
    axis = st.sampled_from(axes)
    simple = st.one_of(
        st.builds("{} % {} == {}".format, axis, st.integers(2, 3), st.integers(0, 1)),
        st.builds("{} {} {}".format, axis, st.sampled_from(["<", "<=", ">", ">=", "!="]), axis),
        st.builds("{} + {} < {}".format, axis, axis, st.integers(0, 6)),
    )
    return st.recursive(
        simple,
        lambda inner: st.one_of(
            st.builds("({} and {})".format, inner, inner),
            st.builds("({} or {})".format, inner, inner),
            st.builds("(not {})".format, inner),
        ),
        max_leaves=3,
    )


def index(axis, size):
    """An index into a dim of the size of the axis with padding on both sides."""
    return st.one_of(
        st.builds("{} + {}".format, st.just(axis), st.integers(0, 2 * PAD)),
        st.builds("{} - {}".format, st.just(f"{size + 2 * PAD - 1}"), st.just(axis)),
        st.builds("({} * {} + 1) % {}".format, st.just(axis), st.integers(1, 3), st.just(size)),
    )


def floats(axes, sizes):
    element = st.builds(
        "X[{}, {}]".format, *(index(a, s) for a, s in zip(axes, sizes, strict=True))
    )
    leaf = st.one_of(
        element,
        st.builds("T.float32({})".format, st.sampled_from([0, 1, -2, 0.5, 3.25])),
        st.sampled_from(["1.5", "2", "-0.25"]),
        st.builds('T.Cast("float32", {})'.format, st.sampled_from(axes)),
        st.sampled_from(axes),
    )
    return st.builds(
        "({} {} {})".format,
        element,
        st.sampled_from("+-*"),
        st.recursive(
            leaf,
            lambda inner: st.one_of(
                st.builds("({} {} {})".format, inner, st.sampled_from("+-*"), inner),
                st.builds("T.{}({}, {})".format, st.sampled_from(["max", "min"]), inner, inner),
                st.builds("T.tanh({} * 0.5)".format, inner),
                st.builds("(-{})".format, inner),
                st.builds("T.abs({})".format, inner),
                st.builds("T.Select({}, {}, {})".format, conditions(axes), inner, element),
                st.builds("T.if_then_else({}, {}, {})".format, conditions(axes), element, inner),
                st.builds("({} if {} else {})".format, element, conditions(axes), inner),
            ),
            max_leaves=6,
        ),
    )


def integers(axes, sizes):
    element = st.builds(
        "X[{}, {}]".format, *(index(a, s) for a, s in zip(axes, sizes, strict=True))
    )
    leaf = st.one_of(element, st.integers(-9, 9).map("T.int32({})".format), st.sampled_from(axes))
    return st.builds(
        "({} {} {})".format,
        element,
        st.sampled_from("+-*&|^"),
        st.recursive(
            leaf,
            lambda inner: st.one_of(
                st.builds("({} {} {})".format, inner, st.sampled_from("+-*&|^"), inner),
                st.builds(
                    "({} {} {})".format, inner, st.sampled_from(["//", "%"]), st.integers(1, 7)
                ),
                st.builds("({} >> {})".format, inner, st.integers(0, 5)),
                st.builds("(~{})".format, inner),
                st.builds("(-{})".format, inner),
                st.builds("T.max({}, {})".format, inner, inner),
                st.builds("T.Select({}, {}, {})".format, conditions(axes), inner, element),
            ),
            max_leaves=6,
        ),
    )


def python(expression, **names):
    with np.errstate(all="ignore"):
        return eval(expression, {"T": Python, **names})


def data(dtype, shape, seed):
    rng = np.random.default_rng(seed)
    if dtype == "int32":
        return rng.integers(-100, 100, shape).astype(dtype)
    return (rng.standard_normal(shape) * 2).astype(dtype)


def run(text, call, round_trip, x, shape):
    program = from_source(text)
    printed = round_trip(program)
    out = np.zeros(shape, x.dtype)
    result = call(program, x, out)[-1]
    np.testing.assert_array_equal(call(from_source(printed), x, out)[-1], result)
    return result


def compare(result, expected):
    if result.dtype == np.int32:
        np.testing.assert_array_equal(result, expected)
    else:
        np.testing.assert_allclose(result, expected, rtol=1e-4, atol=1e-4)


def program(dtype, x_shape, y_shape, body):
    return (
        f'@T.prim_func\ndef kernel(X: T.Buffer({x_shape}, "{dtype}"), '
        f'Y: T.Buffer({y_shape}, "{dtype}")):\n{body}'
    )


PADDED = (ROWS + 2 * PAD, COLUMNS + 2 * PAD)
MAPS = [
    ("float32", floats(["vi", "vj"], (ROWS, COLUMNS))),
    ("int32", integers(["vi", "vj"], (ROWS, COLUMNS))),
]
SUMS = [
    ("float32", floats(["vi", "vk"], (ROWS, INNER))),
    ("int32", integers(["vi", "vk"], (ROWS, INNER))),
]


def typed(cases):
    return st.one_of(*(st.tuples(st.just(dtype), text) for dtype, text in cases))


@SETTINGS
@given(typed(MAPS), st.sampled_from(["T.grid({}, {})", "T.serial"]), st.integers(0, 9))
def test_stencils(call, round_trip, case, loops, seed):
    dtype, expression = case
    nest = f"    for i, j in T.grid({ROWS}, {COLUMNS}):\n"
    inner = "        "
    if loops == "T.serial":
        nest = f"    for i in T.parallel({ROWS}):\n        for j in T.serial({COLUMNS}):\n"
        inner = "            "
    body = (
        f'{nest}{inner}with T.block("Y"):\n{inner}    vi, vj = T.axis.remap("SS", [i, j])\n'
        f"{inner}    Y[vi, vj] = {expression}\n"
    )
    x = data(dtype, PADDED, seed)
    text = program(dtype, PADDED, (ROWS, COLUMNS), body)
    result = run(text, call, round_trip, x, (ROWS, COLUMNS))
    expected = np.zeros((ROWS, COLUMNS), dtype)
    for i, j in itertools.product(range(ROWS), range(COLUMNS)):
        expected[i, j] = python(expression, X=x, vi=i, vj=j)
    compare(result, expected)


@SETTINGS
@given(typed(SUMS), st.sampled_from(["+", "max"]), st.integers(0, 9))
def test_reductions(call, round_trip, case, kind, seed):
    dtype, expression = case
    start = -100000 if kind == "max" else 0
    update = f"Y[vi] + {expression}" if kind == "+" else f"T.max(Y[vi], {expression})"
    body = (
        f'    for i, k in T.grid({ROWS}, {INNER}):\n        with T.block("Y"):\n'
        f'            vi, vk = T.axis.remap("SR", [i, k])\n            with T.init():\n'
        f"                Y[vi] = T.{dtype}({start})\n            Y[vi] = {update}\n"
    )
    shape = (ROWS + 2 * PAD, INNER + 2 * PAD)
    x = data(dtype, shape, seed)
    result = run(program(dtype, shape, (ROWS,), body), call, round_trip, x, (ROWS,))
    expected = np.full(ROWS, start, dtype)
    for i, k in itertools.product(range(ROWS), range(INNER)):
        with np.errstate(all="ignore"):
            expected[i] = python(update, X=x, Y=expected, vi=i, vk=k)
    compare(result, expected)


@SETTINGS
@given(typed(MAPS), conditions(["vi", "vj"]), conditions(["vi", "vj"]), st.data())
def test_branches_and_bindings(call, round_trip, case, first, second, more):
    dtype, expression = case
    other = more.draw(dict(MAPS)[dtype])
    body = (
        f"    for vi, vj in T.grid({ROWS}, {COLUMNS}):\n"
        f"        a = {expression}\n        b: T.{dtype} = {other}\n"
        f"        if {first}:\n            Y[vi, vj] = a\n        elif {second}:\n"
        "            c = a + b\n            Y[vi, vj] = c - b\n        else:\n"
        "            Y[vi, vj] = b\n        Y[vi, vj] += a\n"
    )
    x = data(dtype, PADDED, 1)
    text = program(dtype, PADDED, (ROWS, COLUMNS), body)
    result = run(text, call, round_trip, x, (ROWS, COLUMNS))
    expected = np.zeros((ROWS, COLUMNS), dtype)
    for i, j in itertools.product(range(ROWS), range(COLUMNS)):
        names = {"X": x, "vi": i, "vj": j}
        a, b = (np.dtype(dtype).type(python(e, **names)) for e in (expression, other))
        with np.errstate(all="ignore"):
            value = a if python(first, **names) else (a + b) - b if python(second, **names) else b
            expected[i, j] = value + a
    compare(result, expected)
