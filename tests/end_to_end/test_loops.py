"""Recurrences, while loops and loops in loops against NumPy: lengths, threads and constants.

Each program goes through TVMScript and back, and every pass is compared with the reference
evaluator.
"""

import numpy as np
import pytest
from loop_arrays import arrays, compare

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


def recurrence(x, h, w):
    sums = []
    for row in x:
        h = np.tanh(h @ w + row)
        sums.append(h.sum(axis=1))
    return h, np.array(sums, np.float32).reshape(len(x), len(h))


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
