"""Kernels with scalar parameters, called directly and from a graph."""

import numpy as np
import pytest

import xrelax
from xrelax.dialects import get_context
from xrelax.inspection import module_of
from xrelax.script import from_source
from xrelax.tools.located_parser import parse_ir

VALUES = {
    "int32": 3,
    "int64": 3,
    "bool": True,
    "int8": -128,
    "int16": -3,
    "uint8": 200,
    "uint16": 65535,
    "uint32": 2**32 - 1,
    "uint64": 2**40,
    "float16": 2.5,
    "bfloat16": -2.5,
    "float32": 2.5,
    "float64": 2.5,
}
KERNEL = """
@T.prim_func
def scale(X: T.Buffer((4,), "float32"), s: T.DTYPE, Y: T.Buffer((4,), "float32")):
    for i in range(4):
        with T.block("Y"):
            vi = T.axis.spatial(4, i)
            Y[vi] = X[vi] * T.Cast("float32", s)
"""
ONES = np.ones(4, "float32")


def kernel(dtype):
    return from_source(KERNEL.replace("DTYPE", dtype))


@pytest.mark.parametrize("dtype", VALUES)
def test_numbers_of_python(dtype):
    function = kernel(dtype)
    text = str(module_of(function))
    assert str(parse_ir(get_context(), text)) == text
    assert f"s: T.{'int64' if dtype == 'int32' else dtype}," in function.script()
    assert from_source(function.script()).script() == function.script()
    built = xrelax.build(function, check=True)
    for named in (False, True):
        y = np.zeros(4, "float32")
        arguments = {"X": ONES, "s": VALUES[dtype], "Y": y}
        assert (built(**arguments) if named else built(*arguments.values())) is None
        np.testing.assert_array_equal(y, ONES * np.float32(VALUES[dtype]))


@pytest.mark.parametrize(
    ("dtype", "value", "error", "message"),
    [
        ("int32", -1, ValueError, "expected argument 's' to be at least 0, got -1"),
        ("int32", 1.5, TypeError, "expected argument 's' to be an integer, got float"),
        ("uint8", 256, ValueError, r"'s' to be of uint8, in \[0, 255\], got 256"),
        ("int8", -129, ValueError, r"'s' to be of int8, in \[-128, 127\], got -129"),
        ("bool", 2, ValueError, r"'s' to be of bool, in \[0, 1\], got 2"),
        ("int16", 1.0, TypeError, "expected argument 's' to be of int16, got 1.0"),
        ("float32", "1", TypeError, "expected argument 's' to be a tensor, got str"),
        ("float32", np.ones(1, "float32"), ValueError, r"'s' to have shape \(\), got \(1,\)"),
        ("float32", np.float64(1), TypeError, "'s' to have dtype float32, got float64"),
    ],
)
def test_wrong_numbers(dtype, value, error, message):
    y = np.zeros(4, "float32")
    with pytest.raises(error, match=message):
        xrelax.build(kernel(dtype))(ONES, value, y)
    assert not y.any()


REPEAT = """
@I.ir_module
class Module:
    @T.prim_func
    def add(X: T.Buffer((4,), "float32"), times: T.int32, Y: T.Buffer((4,), "float32")):
        for i in range(4):
            Y[i] = T.float32(0)
        for k, i in T.grid(times, 4):
            Y[i] = Y[i] + X[i]

    @R.function
    def main(x: R.Tensor((4,), "float32"), s: R.Shape(["n"])):
        n = T.int64()
        y = R.call_tir(cls.add, (x,), R.Tensor((4,), "float32"), tir_vars=R.shape([n + 1]))
        return y
"""


def test_integers_are_sizes(tmp_path):
    """They may be bounds of loops; users give them to kernels, graphs by `tir_vars`."""
    module = from_source(REPEAT)
    np.testing.assert_array_equal(xrelax.build(module, check=True)["main"](ONES, (2,)).numpy(), 3)
    built = xrelax.build(module["add"], check=True)
    built.export_library(str(tmp_path / "add.xrelax"))
    for library in (built, xrelax.runtime.load_module(str(tmp_path / "add.xrelax"))):
        for times in (0, 5):
            y = np.full(4, 7, "float32")
            assert library["add"](ONES, times, y) is None
            np.testing.assert_array_equal(y, times)


def test_tensors_without_dims_take_numbers():
    main = xrelax.relax.build(
        from_source("""
@R.function
def main(x: R.Tensor((4,), "float32"), s: R.Tensor((), "float32")):
    return R.multiply(x, s)
""")
    )
    np.testing.assert_array_equal(main(ONES, 2).numpy(), 2)


SCALE = """
@I.ir_module
class Module:
    @T.prim_func
    def scale(x: T.Buffer((4,), "float32"), s: T.float32, c: T.Buffer((4,), "float32"),
              k: T.int64, y: T.Buffer((4,), "float32")):
        for i in range(4):
            with T.block("y"):
                vi = T.axis.spatial(4, i)
                y[vi] = x[vi] + s * c[vi] + T.Cast("float32", k)

    @T.prim_func
    def add(k: T.int64, x: T.Buffer((4,), "float32")):
        for i in range(4):
            with T.block("x"):
                vi = T.axis.spatial(4, i)
                x[vi] = x[vi] + T.Cast("float32", k)

    @R.function
    def main(x: R.Tensor((4,), "float32"), s: R.Prim("float32"), k: R.Prim("int64")):
        y = R.call_tir(cls.scale, (x, s, x, k), R.Tensor((4,), "float32"))
        z = R.call_tir(cls.scale, (y, s, x, R.prim_value(3)), R.Tensor((4,), "float32"))
        return R.call_tir_inplace(cls.add, (k, z), [1], R.Tensor((4,), "float32"))
"""


def test_graphs_pass_scalars_among_tensors():
    built = xrelax.relax.build(from_source(SCALE), check=True)
    for k in (10, -10):
        result = built["main"](ONES, 2.5, k).numpy()
        np.testing.assert_array_equal(result, 1 + 2.5 + k + 2.5 + 3 + k)


def test_graphs_pass_bounds_of_loops():
    text = REPEAT.replace('R.Shape(["n"])', 'R.Prim("int64")').replace(
        "        n = T.int64()\n", ""
    )
    text = text.replace("(x,), R", "(x, s), R").replace(", tir_vars=R.shape([n + 1])", "")
    main = xrelax.build(from_source(text), check=True)["main"]
    np.testing.assert_array_equal(main(ONES, 5).numpy(), 5)
    with pytest.raises(ValueError, match="expected argument 's' to be at least 0, got -1"):
        main(ONES, -1)


MIXED = """
@I.ir_module
class Module:
    @T.prim_func(private=True)
    def k(x: T.Buffer((4,), "float32"), s: T.int64, y: T.Buffer((4,), "float32")):
        for i in range(4):
            y[i] = x[i] * T.Cast("float32", s)

    @R.function(pure=False)
    def main(x: R.Tensor((4,), "float32")):
        a = R.call_packed("tests.number", 1099511627776, sinfo_args=(R.Prim("int64"),))
        b = R.call_packed("tests.number", -9, sinfo_args=(R.Prim("int32"),))
        y = R.call_tir(cls.k, (x, a), R.Tensor((4,), "float32"))
        z = R.call_tir(cls.k, (x, b), R.Tensor((4,), "float32"))
        return (y, z)
"""


LISTED = """
@I.ir_module
class Module:
    @T.prim_func(private=True)
    def k(x: T.Buffer((4,), "float32"), s: T.int64, f: T.bfloat16, y: T.Buffer((4,), "float32"),
          t: T.int64):
        for i in range(4):
            y[i] = x[i] * T.Cast("float32", s) + T.Cast("float32", t) * T.Cast("float32", f)

    @R.function
    def main(x: R.Tensor((4,), "float32"), p: R.Prim("int64"), f: R.Prim("bfloat16"),
             shape: R.Shape(["n"])):
        n = T.int64()
        y = R.call_tir(cls.k, (x, p, f), R.Tensor((4,), "float32"), tir_vars=R.shape([n]))
        return y
"""


def test_integers_are_arguments_and_listed():
    main = xrelax.build(from_source(LISTED), check=True)["main"]
    np.testing.assert_array_equal(main(ONES, 3, -2.5, (5,)).numpy(), 3 - 2.5 * 5)


def test_calls_pass_unknown_integers_of_any_size():
    xrelax.register_func("tests.number", lambda value: value, override=True)
    y, z = xrelax.build(from_source(MIXED))["main"](ONES)
    np.testing.assert_array_equal((y.numpy()[0], z.numpy()[0]), (2**40, -9))
