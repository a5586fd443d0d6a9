"""What calls write: arguments that are changed in place, and tensors of the graph.

Most programs go through TVMScript and back, and are compiled with every pass checked against the
reference evaluator.
"""

import re

import numpy as np
import pytest

import xrelax as tvm
from xrelax.script import from_source

X = np.arange(6, dtype="float32").reshape(2, 3)


TWICE = """
    @T.prim_func(private=True)
    def twice(a: T.handle):
        n = T.int64()
        A = T.match_buffer(a, (n,), "float32")
        for i in range(n):
            with T.sblock("twice"):
                v = T.axis.spatial(n, i)
                A[v] = A[v] * T.float32(2)
"""


def test_calls_in_place(build, names):
    tvm.register_func("tests.copy", lambda x, y: y.copyfrom(x), override=True)
    main = build(
        TWICE
        + """    @T.prim_func(private=True)
    def both(a: T.handle, b: T.handle, c: T.handle):
        n = T.int64()
        A = T.match_buffer(a, (n,), "float32")
        B = T.match_buffer(b, (n,), "float32")
        C = T.match_buffer(c, (n,), "float32")
        for i in range(n):
            with T.sblock("both"):
                v = T.axis.spatial(n, i)
                C[v] = A[v] + B[v]
                B[v] = B[v] + T.float32(1)
    @R.function
    def main(x: R.Tensor(("n",), "float32"), w: R.Tensor(("n",), "float32")):
        n = T.int64()
        cls = M
        a = R.call_dps_packed("tests.copy", x, out_sinfo=R.Tensor((n,), "float32"))
        b = R.call_tir_inplace(cls.twice, (a,), inplace_indices=[0], out_sinfo=R.Tensor((n,),
            "float32"))
        c = R.call_tir_inplace(cls.both, (x, b), inplace_indices=[1, -1],
            out_sinfo=[R.Tensor((n,), "float32"), R.Tensor((n,), "float32")])
        d = R.call_tir_inplace(cls.twice, (w,), inplace_indices=[0], out_sinfo=R.Tensor((n,),
            "float32"))
        e = c[0]
        g = c[1]
        return (e, g, d)
"""
    )
    x, w = X.copy()
    found = [t.numpy() for t in main(x, w)]
    for got, wanted in zip(found, (2 * X[0] + 1, 3 * X[0], 2 * X[1]), strict=True):
        np.testing.assert_allclose(got, wanted)
    np.testing.assert_array_equal(x, X[0])
    np.testing.assert_array_equal(w, 2 * X[1])


IN_PLACE = """
@I.ir_module
class M:
    @T.prim_func(private=True)
    def twice(A: T.Buffer((4,), "float32")):
        for i in range(4):
            A[i] = A[i] * T.float32(2)

    @R.function
    def main(
        x: R.Tensor((4,), "float32"),
        p: R.Tuple(R.Tensor((4,), "float32"), R.Tensor((4,), "float32")),
    ):
        cls = M
        v = R.reshape(x, (2, 2))
        p1 = p[1]
        a = R.call_tir_inplace(cls.twice, (x,), [0], R.Tensor((4,), "float32"))
        u = R.reshape(a, (4, 1))
        b = R.call_tir_inplace(cls.twice, (a,), [0], R.Tensor((4,), "float32"))
        c = R.call_tir_inplace(cls.twice, (p1,), [0], R.Tensor((4,), "float32"))
        one = R.const([1.0, 1.0, 1.0, 1.0], "float32")
        k = R.call_tir_inplace(cls.twice, (one,), [0], R.Tensor((4,), "float32"))
        s = M.sub(b)
        return (v, u, b, c, k, s)

    @R.function
    def sub(y: R.Tensor((4,), "float32")):
        cls = M
        a = R.call_tir_inplace(cls.twice, (y,), [0], R.Tensor((4,), "float32"))
        return a
"""


def twice(array):
    """What the kernel does, as a registered function."""
    array.copyfrom(array.numpy() * np.float32(2))
    return array


CALL = r"call_tir_inplace\(cls.twice, \((\w+),\), \[0\], (R.Tensor\(.*\))\)"
BY_NAME = re.sub(
    CALL, r'call_inplace_packed("tests.twice", \1, inplace_indices=[0], sinfo_args=\2)', IN_PLACE
)


@pytest.mark.parametrize("program", [IN_PLACE, BY_NAME], ids=["kernel", "registered"])
@pytest.mark.parametrize("check", [False, True])
def test_users_find_what_calls_change_in_place(program, check):
    """In their arrays; views, constants and what callees get in the graph keep their values."""
    tvm.register_func("tests.twice", twice, override=True)
    built = tvm.build(from_source(program), check=check)
    x, p0, p1 = np.ones((3, 4), "float32")
    for scale in (1, 4):
        v, u, b, c, k, s = (t.numpy() for t in built["main"](x, (p0, p1)))
        for got, wanted in ((v, 1), (u, 2), (b, 4), (x, 4), (s, 8)):
            np.testing.assert_array_equal(got, np.full(got.shape, scale * wanted))
        np.testing.assert_array_equal(c, p1)
        np.testing.assert_array_equal(k, np.full(4, 2))
    np.testing.assert_array_equal((p0[0], p1[0]), (1, 4))
    strided = np.ones(8, "float32")
    assert (built["sub"](strided[::2]).numpy() == 2).all()
    np.testing.assert_array_equal(strided, [2, 1] * 4)
    strided.flags.writeable = False
    with pytest.raises(
        ValueError, match="expected argument 'y' to be writable, got read-only memory"
    ):
        built["sub"](strided[:4])


@pytest.mark.parametrize("program", [IN_PLACE, BY_NAME], ids=["kernel", "registered"])
@pytest.mark.parametrize("check", [False, True])
def test_results_that_are_computed_in_place_are_the_arguments(program, check):
    tvm.register_func("tests.twice", twice, override=True)
    vm = tvm.relax.VirtualMachine(tvm.build(from_source(program), check=check))
    x, y = (tvm.nd.array(np.full(4, v, "float32")) for v in (1, 3))
    assert vm["sub"](x) is x and (x.numpy() == 2).all()
    vm.set_input("main", x, (y, y := tvm.nd.array(y.numpy())))
    vm.invoke_stateful("main")
    _, u, b, c, k, s = vm.get_outputs("main")
    assert b is x and c is y and u is not x and s is not x
    found = [int(t.numpy().ravel()[0]) for t in (u, b, c, k, s)]
    assert found == [4, 8, 6, 2, 16]
    strided = np.ones(8, "float32")[::2]
    assert np.shares_memory(vm["sub"](strided).view(), strided)


PACKED = """
    @R.function
    def main(x: R.Tensor((4,), "float32"), y: R.Tensor((4,), "float32")):
        with R.dataflow():
            a = R.add(x, y)
            b = R.call_inplace_packed(
                "tests.both", x, y, inplace_indices=[0, -1],
                sinfo_args=(R.Tensor((4,), "float32"), R.Tensor((4,), "float32")))
            c = R.add(b[0], a)
            R.output(b, c)
        return (c, b)
"""


def test_registered_functions_change_what_kernels_have_read(build, names):
    """A kernel that is fused with what follows such a call still runs before it."""

    def both(x, y):
        new = x.numpy() * y.numpy()
        x.copyfrom(x.numpy() + np.float32(10))
        return x, new

    tvm.register_func("tests.both", both, override=True)
    x, y = np.arange(8, dtype="float32").reshape(2, 4)
    was = x.copy()
    c, (b0, b1) = build(PACKED)(x, y)
    for got, wanted in ((c, 2 * was + y + 10), (b0, was + 10), (b1, was * y), (x, was + 10)):
        np.testing.assert_array_equal(got, wanted)


@pytest.mark.parametrize("dtype", ["float32", "float16"])
def test_registered_functions_that_return_nothing_change_arrays_of_users(build, names, dtype):
    tvm.register_func("tests.count", lambda x: x.copyfrom(x.numpy() + 1), override=True)
    kind = f'R.Tensor((3,), "{dtype}")'
    main = build(f"""
    @R.function
    def main(x: {kind}, y: {kind}):
        _ = R.call_inplace_packed("tests.count", x, inplace_indices=[0], sinfo_args={kind})
        return R.add(y, y)
""")
    x, y = np.ones((2, 3), dtype)
    assert (main(x, y).numpy() == 2).all() and (x == 2).all() and (y == 1).all()


@pytest.mark.parametrize("kind", ['ndim=1, dtype="float32"', 'dtype="float32"', ""])
@pytest.mark.parametrize("check", [False, True])
def test_registered_functions_change_arrays_of_unknown_shape(build, names, kind, check):
    def both(x):
        new = tvm.nd.array(-x.numpy())
        x.copyfrom(x.numpy() + 1)
        return x, new

    tvm.register_func("tests.both", both, override=True)
    kind = f"R.Tensor({kind})"
    main = build(
        f"""
    @R.function
    def main(x: {kind}, y: {kind}):
        a, b = R.call_inplace_packed(
            "tests.both", x, inplace_indices=[0, -1], sinfo_args=({kind}, {kind}))
        c, d = R.call_inplace_packed(
            "tests.both", a, inplace_indices=[0, -1], sinfo_args=({kind}, {kind}))
        return c, b, d, y
""",
        check,
    )
    x, y = np.ones((2, 3), "float32")
    found = [t.numpy()[0] for t in main(x, y)]
    assert found == [3, -1, -2, 1] and (x == 3).all()


@pytest.mark.parametrize("check", [False, True])
def test_the_shape_of_what_is_changed_in_place_is_that_of_the_result(build, names, check):
    tvm.register_func("tests.count", lambda x: x.copyfrom(x.numpy() + 1) or x, override=True)
    kind = 'R.Tensor(ndim=1, dtype="float32")'
    main = build(
        f"""
    @R.function
    def main(x: {kind}):
        y = R.add(x, x)
        a = R.call_inplace_packed("tests.count", y, inplace_indices=[0], sinfo_args={kind})
        b = R.call_inplace_packed("tests.count", a, inplace_indices=[0], sinfo_args={kind})
        return R.multiply(b, x)
""",
        check,
    )
    x = np.arange(4, dtype="float32")
    np.testing.assert_array_equal(main(x).numpy(), (2 * x + 2) * x)


def test_tensors_that_calls_write_have_memory_of_their_own(build, names):
    tvm.register_func("tests.count", lambda x: x.copyfrom(x.numpy() + 1), override=True)
    main = build("""
    @R.function(pure=False)
    def main(x: R.Tensor((4,), "float32"), w: R.Tensor((4, 4), "float32")):
        a = R.zeros((4,), "float32")
        b = R.zeros((4,), "float32")
        c = R.add(x, x)
        d = R.add(x, x)
        t = R.permute_dims(w)
        u = R.add(w, w)
        _ = R.call_packed("tests.count", a, sinfo_args=R.Tuple())
        _ = R.call_packed("tests.count", c, sinfo_args=R.Tuple())
        _ = R.call_packed("tests.count", t, sinfo_args=R.Tuple())
        _ = R.call_packed("tests.count", u, sinfo_args=R.Tuple())
        v = R.add(w, w)
        m = R.matmul(x, t)
        return (a, b, c, d, m, u, v)
""")
    x, w = np.arange(4, dtype="float32"), np.arange(16, dtype="float32").reshape(4, 4)
    for _ in range(2):
        found = [t.numpy() for t in main(x, w)]
        wanted = (0 * x + 1, 0 * x, 2 * x + 1, 2 * x, x @ (w.T + 1), 2 * w + 1, 2 * w)
        for got, want in zip(found, wanted, strict=True):
            np.testing.assert_allclose(got, want)


def test_constants_are_not_written(module, names, tmp_path):
    tvm.register_func("tests.count", lambda x: x.copyfrom(x.numpy() + 1), override=True)
    executable = tvm.build(
        module("""
    @R.function(pure=False)
    def main(x: R.Tensor((), "float32")):
        c = R.const(1, "float32")
        _ = R.call_packed("tests.count", c, sinfo_args=R.Tuple())
        return R.add(c, x)
""")
    )
    executable.save(tmp_path / "module.xr")
    for main in (executable["main"], tvm.runtime.load(tmp_path / "module.xr")["main"]):
        with pytest.raises(ValueError, match="expected a writable tensor, got a read-only one"):
            main(np.float32(2))


def test_equal_tensors_of_which_one_is_changed_in_place(build):
    main = build(
        TWICE
        + """    @R.function
    def main(x: R.Tensor(("n",), "float32")):
        n = T.int64()
        cls = M
        with R.dataflow():
            a = R.add(x, x)
            b = R.add(x, x)
            c = R.call_tir_inplace(cls.twice, (a,), inplace_indices=[0], out_sinfo=R.Tensor((n,),
                "float32"))
            d = R.subtract(c, b)
            R.output(d)
        return d
"""
    )
    np.testing.assert_allclose(main(X[0]).numpy(), 2 * X[0])
