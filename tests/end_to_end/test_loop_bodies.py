"""What a loop's function takes, returns and does: tuples, views, branches, effects, casts.

Programs go through TVMScript and back, and are compared with NumPy.
"""

import numpy as np
import pytest
from loop_arrays import arrays, compare


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
