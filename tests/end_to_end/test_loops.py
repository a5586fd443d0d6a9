"""Loops of graphs against NumPy: recurrences, while loops, nesting, effects, threads and weights.

Each program goes through TVMScript and back, and every pass is compared with the reference
evaluator.
"""

import numpy as np
import pytest

import xrelax as tvm
from xrelax import relax
from xrelax.inspection import stage_text
from xrelax.runtime import num_threads, set_num_threads

CELL = """
    @R.function(private=True)
    def cell(
        i: R.Prim(value="i"),
        h: R.Tensor(("b", {0}), "float32"),
        x: R.Tensor(("b", {0}), "float32"),
        w: R.Tensor(({0}, {0}), "float32"),
    ):
        i, b = T.int64(), T.int64()
        with R.dataflow():
            state = R.tanh(R.add(R.matmul(h, w), x))
            result = (state, R.sum(state, axis=1))
            R.output(result)
        return result

    @R.function
    def main(
        x: R.Tensor(("n", "b", {0}), "float32"),
        h: R.Tensor(("b", {0}), "float32"),
        w: R.Tensor(({0}, {0}), "float32"),
    ):
        n, b = T.int64(), T.int64()
        with R.dataflow():
            r = R.loop(cls.cell, (h,), scanned=(x,), given=(w,))
            R.output(r)
        return r
"""


def arrays(*shapes, seed=0):
    rng = np.random.default_rng(seed)
    return [(rng.standard_normal(s) * 0.3).astype(np.float32) for s in shapes]


def recurrence(x, h, w):
    sums = []
    for row in x:
        h = np.tanh(h @ w + row)
        sums.append(h.sum(axis=1))
    return h, np.array(sums, np.float32).reshape(len(x), len(h))


def compare(found, wanted, **tolerance):
    for got, expected in zip(found, wanted, strict=True):
        assert got.shape == expected.shape
        np.testing.assert_allclose(got.numpy(), expected, **({"rtol": 1e-5} | tolerance))


def test_a_recurrence_of_any_length(build):
    main = build(CELL.format(8))
    for trips in (0, 1, 2, 3, 50):
        for batch in (1, 0, 5):
            args = arrays((trips, batch, 8), (batch, 8), (8, 8))
            compare(main(*args), recurrence(*args), atol=1e-5)


def test_strided_arguments(build):
    main = build(CELL.format(6))
    x, h, w = arrays((12, 8, 5), (6, 4), (6, 6))
    args = x[::2, 2:].transpose(0, 2, 1)[..., ::-1], np.broadcast_to(h[:, 0], (5, 6)), w.T
    compare(main(*args), recurrence(*args), atol=1e-5)


def test_parallel_kernels_give_the_same_bits(build, module):
    text = CELL.format(512)
    assert "parallel" in stage_text(module(text), "loops")
    main = build(text, check=False)
    args = arrays((5, 128, 512), (128, 512), (512, 512))
    before, results = num_threads(), []
    try:
        for threads in (1, 2, 3):
            set_num_threads(threads)
            results.append([r.numpy() for r in main(*args)])
    finally:
        set_num_threads(before)
    for others in results[1:]:
        for a, b in zip(results[0], others, strict=True):
            np.testing.assert_array_equal(a, b)
    compare(main(*args), recurrence(*args), rtol=1e-4, atol=1e-3)


@pytest.mark.parametrize("names", [(), ("h",), ("x", "w"), ("x", "h", "w")])
def test_bound_parameters(module, names):
    """Trips and dims become numbers, and constants stay outside of the loop."""
    args = dict(zip("xhw", arrays((4, 3, 8), (3, 8), (8, 8)), strict=True))
    bound = relax.transform.BindParams("main", {n: args[n] for n in names})(module(CELL.format(8)))
    assert ("trips=4" in bound.script(show_meta=True)) == ("x" in names)
    main = relax.build(bound, check=True)["main"]
    compare(main(*(args[n] for n in "xhw" if n not in names)), recurrence(**args), atol=1e-5)


@pytest.mark.parametrize("symbols", [{"n": 4}, {"b": 3}, {"n": 4, "b": 3}])
def test_bound_symbols(module, symbols):
    bound = relax.transform.BindSymbolicVars(symbols, "main")(module(CELL.format(8)))
    args = arrays((4, 3, 8), (3, 8), (8, 8))
    compare(relax.build(bound, check=True)["main"](*args), recurrence(*args), atol=1e-5)


def test_saved_and_loaded(module, tmp_path):
    executable = relax.build(module(CELL.format(8)))
    executable.save(tmp_path / "loop.xr")
    args = arrays((4, 3, 8), (3, 8), (8, 8))
    for got, wanted in zip(
        tvm.runtime.load(tmp_path / "loop.xr")["main"](*args),
        executable["main"](*args),
        strict=True,
    ):
        np.testing.assert_array_equal(got.numpy(), wanted.numpy())


COLLATZ = """
    @R.function(private=True)
    def next(
        i: R.Prim(value="i"),
        goes_on: R.Tensor((), "bool"),
        value: R.Tensor((), "int64"),
        count: R.Tensor((), "int32"),
        last: R.Tensor((), "int64"),
    ):
        i = T.int64()
        odd = R.equal(R.mod(value, R.const(2, "int64")), R.const(1, "int64"))
        triple = R.add(R.multiply(value, R.const(3, "int64")), R.const(1, "int64"))
        half = R.floor_divide(value, R.const(2, "int64"))
        new = R.where(odd, triple, half)
        more = R.not_equal(new, last)
        return (more, new, R.add(count, R.const(1, "int32")))

    @R.function
    def main(start: R.Tensor((), "int64"), x: R.Tensor(("n",), "float32")):
        n = T.int64()
        last = R.const(1, "int64")
        state = (R.not_equal(start, last), start, R.const(0, "int32"))
        r = R.loop(cls.next, state, given=(last,){})
        return r
"""


def collatz(value, bound):
    count = 0
    while value != 1 and count < bound:
        value = value * 3 + 1 if value % 2 else value // 2
        count += 1
    return value != 1, value, count


@pytest.mark.parametrize("trips", ["", ", trips=n"])
def test_while_loops(build, trips):
    """Their condition is known before the first iteration."""
    main = build(COLLATZ.format(f"{trips}, is_while=True"))
    for start in (1, 2, 7, 27):
        for bound in (0, 1, 16, 200):
            found = main(np.array(start), np.zeros(bound, np.float32))
            wanted = collatz(start, bound if trips else 1000)
            assert tuple(f.numpy() for f in found) == wanted


NESTED = """
    @R.function(private=True)
    def add(j: R.Prim(value="j"), total: R.Tensor((), "int64"), x: R.Tensor((), "int64")):
        j = T.int64()
        s = R.add(total, x)
        return (s, s)

    @R.function(private=True)
    def sums(x: R.Tensor(("m",), "int64"), total: R.Tensor((), "int64")):
        m = T.int64()
        return R.loop(cls.add, (total,), scanned=(x,))

    @R.function(private=True)
    def row(i: R.Prim(value="i"), total: R.Tensor((), "int64"), x: R.Tensor(("m",), "int64")):
        i, m = T.int64(), T.int64()
        r = cls.sums(x, total)
        return (r[0], r[1])

    @R.function
    def main(x: R.Tensor(("i", "m"), "int64")):
        i, m = T.int64(), T.int64()
        zero = R.const(0, "int64")
        rows = R.loop(cls.row, (zero,), scanned=(x,))
        columns = R.loop(cls.row, (rows[0],), scanned=(R.permute_dims(rows[1]),))
        return (rows[1], columns)
"""


def test_loops_in_loops_and_one_after_the_other(build):
    main = build(NESTED, check=False)
    for shape in ((3, 4), (0, 4), (3, 0), (1, 1)):
        x = np.random.default_rng(0).integers(-9, 9, shape)
        rows = x.ravel().cumsum().reshape(shape)
        columns = x.sum() + rows.T.ravel().cumsum().reshape(shape[::-1])
        found, (last, others) = main(x)
        np.testing.assert_array_equal(found.numpy(), rows)
        np.testing.assert_array_equal(others.numpy(), columns)
        assert last.numpy() == x.sum() + rows.sum()


def test_a_loop_whose_function_calls_itself(build):
    main = build("""
    @R.function(private=True)
    def step(i: R.Prim(value="i"), total: R.Tensor((), "int64"), depth: R.Tensor((), "int64")) -> \\
            R.Tuple(R.Tensor((), "int64"), R.Tensor((), "int64")):
        i = T.int64()
        if R.greater(depth, R.const(0, "int64")):
            less = R.subtract(depth, R.const(1, "int64"))
            inner = R.loop(cls.step, (total, less), trips=2)
            r = (inner[0], depth)
        else:
            r = (R.add(total, R.const(1, "int64")), depth)
        return r

    @R.function
    def main(depth: R.Tensor((), "int64")):
        r = R.loop(cls.step, (R.const(0, "int64"), depth), trips=3)
        return r[0]
""")
    for depth in range(5):
        assert main(np.array(depth)).numpy() == 3 * 2**depth


def test_given_tuples_shapes_and_numbers(build):
    main = build("""
    @R.function(private=True)
    def step(
        i: R.Prim(value="i"),
        h: R.Tensor(("n",), "float32"),
        t: R.Tuple(
            R.Tensor(("n",), "float32"), R.Tuple(R.Tensor((), "float32"), R.Prim(value="k"))
        ),
        s: R.Shape(("n", "m")),
        k: R.Prim(value="k"),
    ):
        i, n, m, k = T.int64(), T.int64(), T.int64(), T.int64()
        with R.dataflow():
            a = R.add(R.multiply(h, t[0]), t[1][0])
            result = (a, R.full((k, m), R.const(1.0, "float32")))
            R.output(result)
        return result

    @R.function
    def main(h: R.Tensor(("n",), "float32"), s: R.Tensor((), "float32"), z: R.Shape(("n", "m"))):
        n, m = T.int64(), T.int64()
        k = R.prim_value(n + m)
        r = R.loop(cls.step, (h,), given=((h, (s, k)), z, k), trips=k)
        return r
""")
    h, wanted = np.array([0.5, 1.5], np.float32), np.array([0.5, 1.5], np.float32)
    for _ in range(5):
        wanted = wanted * h + np.float32(2)
    compare(main(h, np.float32(2), (2, 3)), (wanted, np.ones((5, 5, 3), np.float32)))


def test_results_that_are_repeated_and_viewed(build):
    """Each is computed in one place and copied to the others; views of the result, too."""
    main = build("""
    @R.function(private=True)
    def swap(i: R.Prim(value="i"), a: R.Tensor((2, 3), "float32"), b: R.Tensor((2, 3), "float32")):
        i = T.int64()
        return (b, a, a, R.add(a, b), a)

    @R.function
    def main(a: R.Tensor((2, 3), "float32"), b: R.Tensor((2, 3), "float32")):
        r = R.loop(cls.swap, (a, b), trips=3)
        flat = R.reshape(r[2], (18,))
        first = R.flatten(r[0])
        return (r[1], flat, r[2], r, first, r[4], a)
""")
    a, b = arrays((2, 3), (2, 3))
    stack = np.stack([a, b, a])
    r = (b, a, stack, np.stack([a + b] * 3), stack)
    one, flat, two, whole, first, three, same = main(a, b)
    compare((one, flat, two, *whole), (a, stack.ravel(), stack, *r))
    compare((first, three, same), (b.ravel(), stack, a))


def test_in_a_branch(build):
    """The sizes that a loop needs are checked where it runs."""
    main = build("""
    @R.function(private=True)
    def add(i: R.Prim(value="i"), h: R.Tensor(("n",), "float32"), g: R.Tensor(("n",), "float32")):
        i, n = T.int64(), T.int64()
        return (R.add(h, g),)

    @R.function
    def main(
        c: R.Tensor((), "bool"), h: R.Tensor(("n",), "float32"), g: R.Tensor(("m",), "float32")
    ):
        n, m = T.int64(), T.int64()
        if c:
            r = R.loop(cls.add, (h,), given=(g,), trips=m)
        else:
            q = R.loop(cls.add, (h,), given=(h,), trips=n * 2)
            r = (R.nn.relu(q[0]),)
        return r[0]
""")
    h, g = arrays((4,), (4,))
    compare([main(np.array(True), h, g)], [h + 4 * g], atol=1e-6)
    compare([main(np.array(False), h, g[:1])], [np.maximum(9 * h, 0)])
    message = "call of 'add' in 'main': expected a dim of argument 'g' to be 4, got 1"
    with pytest.raises(ValueError, match=message):
        main(np.array(True), h, g[:1])


def test_sizes_that_a_loop_needs_are_those_of_the_arguments(build):
    main = build(
        """
    @R.function(private=True)
    def add(i: R.Prim(value="i"), h: R.Tensor((4,), "float32"), x: R.Tensor((4,), "float32")):
        i = T.int64()
        a = R.add(h, x)
        return (a, a)

    @R.function
    def main(h: R.Tensor(("n",), "float32"), x: R.Tensor(("m", "k"), "float32")):
        n, m, k = T.int64(), T.int64(), T.int64()
        r = R.loop(cls.add, (h,), scanned=(x,))
        return r
""",
        check=False,
    )
    h, x = arrays((4,), (3, 4))
    compare(main(h, x), (h + x.sum(0), h + x.cumsum(0)), atol=1e-6)
    with pytest.raises(ValueError, match=r"argument 'x' to have shape \(m, 4\), got \(3, 5\)"):
        main(h, np.zeros((3, 5), np.float32))


@pytest.mark.parametrize("outputs", ["", "a"])
def test_a_negative_number_of_trips_is_none(build, outputs):
    """No tensor has a negative number of rows."""
    main = build(
        f"""
    @R.function(private=True)
    def double(i: R.Prim(value="i"), h: R.Tensor(("n",), "float32")):
        i, n = T.int64(), T.int64()
        a = R.add(h, h)
        return (a, {outputs})

    @R.function
    def main(h: R.Tensor(("n",), "float32")):
        n = T.int64()
        r = R.loop(cls.double, (h,), trips=n - 3)
        return r
""",
        check=False,
    )
    compare(main(np.ones(5, np.float32))[:1], [np.full(5, 4, np.float32)])
    ones = np.ones(2, np.float32)
    if outputs:
        with pytest.raises(ValueError, match=r"dims of at least 0, got \(n \+ -3, n\) = \(-1, 2\)"):
            main(ones)
    else:
        compare(main(ones), [ones])


def test_effects_happen_in_every_iteration(build, capfd):
    main = build(
        """
    @R.function(private=True, pure=False)
    def show(i: R.Prim(value="i"), h: R.Tensor((), "int64")):
        i = T.int64()
        R.print(h, format="h = {}")
        ok = R.less(h, R.const(4, "int64"))
        R.assert_op(ok, h, format="h is {}")
        return (R.add(h, h),)

    @R.function(pure=False)
    def main(h: R.Tensor((), "int64"), x: R.Tensor(("n",), "float32")):
        n = T.int64()
        r = R.loop(cls.show, (h,), trips=n)
        return r[0]
""",
        check=False,
    )
    assert main(np.array(1), np.zeros(2, np.float32)).numpy() == 4
    assert capfd.readouterr().out == "h = 1\nh = 2\n"
    with pytest.raises(AssertionError, match="h is 4"):
        main(np.array(1), np.zeros(5, np.float32))


def test_what_is_changed_in_place_is_a_copy_in_the_body(build):
    main = build("""
    @T.prim_func(private=True)
    def increment(x: T.handle):
        n = T.int64()
        X = T.match_buffer(x, (n,), "float32")
        for j in range(n):
            with T.block("X"):
                v = T.axis.spatial(n, j)
                X[v] = X[v] + T.float32(1)

    @R.function(private=True)
    def step(
        i: R.Prim(value="i"),
        h: R.Tensor(("n",), "float32"),
        x: R.Tensor(("n",), "float32"),
        g: R.Tensor(("n",), "float32"),
    ):
        i, n = T.int64(), T.int64()
        a = R.call_tir_inplace(
            cls.increment, (h,), inplace_indices=[0], out_sinfo=R.Tensor((n,), "float32")
        )
        b = R.call_tir_inplace(
            cls.increment, (x,), inplace_indices=[0], out_sinfo=R.Tensor((n,), "float32")
        )
        c = R.call_tir_inplace(
            cls.increment, (g,), inplace_indices=[0], out_sinfo=R.Tensor((n,), "float32")
        )
        return (R.add(a, b), c)

    @R.function
    def main(h: R.Tensor(("n",), "float32"), x: R.Tensor(("m", "n"), "float32")):
        n, m = T.int64(), T.int64()
        r = R.loop(cls.step, (h,), scanned=(x,), given=(h,))
        return (r, h)
""")
    h, x = np.arange(3, dtype=np.float32), np.zeros((2, 3), np.float32)
    found, same = main(h, x)
    compare((*found, same), (h + 4, np.stack([h + 1] * 2), h))
    assert not x.any() and (h == np.arange(3)).all()


def test_a_local_function_with_a_loop(build):
    main = build("""
    @R.function(private=True)
    def add(i: R.Prim(value="i"), h: R.Tensor((3,), "float32"), x: R.Tensor((), "float32")):
        i = T.int64()
        return (R.add(h, x),)

    @R.function
    def main(h: R.Tensor((3,), "float32"), x: R.Tensor(("m",), "float32")):
        m = T.int64()

        @R.function
        def inner(a: R.Tensor((3,), "float32")) -> R.Tensor((3,), "float32"):
            r = R.loop(cls.add, (a,), scanned=(x,))
            q = R.loop(cls.add, (r[0],), given=(R.const(1.0, "float32"),), trips=m)
            return q[0]

        return inner(inner(h))
""")
    h, x = arrays((3,), (5,))
    compare([main(h, x)], [h + 2 * x.sum() + 10], atol=1e-5)


def test_shapes_of_casts(build):
    main = build("""
    @R.function(private=True)
    def add(i: R.Prim("int64"), h: R.Tensor("float32", ndim=1), x: R.Tensor((), "float32")):
        n = T.int64()
        a = R.match_cast(h, R.Tensor((n,), "float32"))
        b = R.add(a, x)
        return (b, R.sum(b))

    @R.function
    def main(h: R.Tensor("float32", ndim=1), x: R.Tensor("float32", ndim=1)):
        n, m = T.int64(), T.int64()
        a = R.match_cast(h, R.Tensor((n,), "float32"))
        b = R.match_cast(x, R.Tensor((m,), "float32"))
        r = R.loop(cls.add, (a,), scanned=(b,))
        return r
""")
    h, x = arrays((3,), (5,))
    rows = h + np.cumsum(x)[:, None]
    compare(main(h, x), (rows[-1], rows.sum(1)), atol=1e-5)
