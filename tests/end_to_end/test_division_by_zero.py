"""Quotients and remainders by 0 are 0: of data, of parameters, evaluated, compiled and folded."""

import numpy as np
import pytest

import xrelax
from xrelax import IRModule, relax
from xrelax.reference import evaluate
from xrelax.script import from_source

DTYPES = ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64")


def operands(dtype: str) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Dividends, divisors, their quotients and remainders, rounded down."""
    least = np.iinfo(dtype).min
    rows = [(7, 0, 0, 0), (0, 0, 0, 0), (5, 2, 2, 1), (least, 0, 0, 0)]
    if least:
        rows += [(-7, 0, 0, 0), (least, -1, least, 0), (-7, 2, -4, 1), (7, -2, -4, -1)]
    return tuple(np.array(column, dtype) for column in zip(*rows, strict=True))


def test_of_data():
    names = {("//", d): f"q_{d}" for d in DTYPES} | {("%", d): f"r_{d}" for d in DTYPES}
    text = "@I.ir_module\nclass M:\n"
    for (op, dtype), name in names.items():
        n = len(operands(dtype)[0])
        buffers = ", ".join(f'{b}: T.Buffer(({n},), "{dtype}")' for b in "XZY")
        text += f"""
    @T.prim_func
    def {name}({buffers}):
        for i in range({n}):
            with T.block("Y"):
                v = T.axis.spatial({n}, i)
                Y[v] = X[v] {op} Z[v]
"""
    module = from_source(text)
    code = xrelax.build(module)
    for (op, dtype), name in names.items():
        x, z, quotients, remainders = operands(dtype)
        want, got = quotients if op == "//" else remainders, np.full_like(x, 3)
        code[name](x, z, got)
        np.testing.assert_array_equal(got, want, name)
        *_, evaluated = evaluate(module.op, name, [x, z, np.full_like(x, 3)])
        np.testing.assert_array_equal(evaluated, want, name)


@pytest.mark.parametrize("dtype", DTYPES)
def test_of_graphs(dtype):
    x, z, quotients, remainders = operands(dtype)
    module = from_source(f"""
@I.ir_module
class M:
    @R.function
    def main(x: R.Tensor(({x.size},), "{dtype}"), z: R.Tensor(({x.size},), "{dtype}")):
        return R.floor_divide(x, z), R.floor_mod(x, z), R.mod(x, z)
""")
    bound = relax.transform.BindParams("main", {"x": x, "z": z})(module)
    folded = relax.transform.FoldConstant()(bound)
    assert not any(f"R.{name}(" in folded.script() for name in ("floor_divide", "floor_mod", "mod"))
    with np.errstate(divide="ignore"):
        truncated = np.fmod(x, z)
    for results in (relax.build(module)(x, z), relax.build(folded)()):
        for got, want in zip(results, (quotients, remainders, truncated), strict=True):
            np.testing.assert_array_equal(got.numpy(), want)


@pytest.mark.parametrize("extent", [1, 4])
@pytest.mark.parametrize(
    "element, want",
    [
        ("7 % v", [0, 0, 1, 1]),
        ("7 // v * v + 7 % v", [0, 7, 7, 7]),
        ("v * 3 // v", [0, 3, 3, 3]),
        ("(v + i) * v // (v * v)", [0, 2, 2, 2]),
    ],
)
def test_of_loop_variables(element, want, extent):
    kernel = from_source(f"""
@T.prim_func
def main(Y: T.Buffer(({extent},), "int32")):
    for i in range({extent}):
        with T.block("Y"):
            v = T.axis.spatial({extent}, i)
            Y[v] = T.cast({element}, "int32")
""")
    y = np.full(extent, 77, np.int32)
    xrelax.build(kernel)["main"](y)
    (evaluated,) = evaluate(IRModule({"main": kernel}).op, "main", [np.full_like(y, 77)])
    for got in (y, evaluated):
        np.testing.assert_array_equal(got, want[:extent])


@pytest.mark.parametrize("dtype", ["int32", "int64"])
@pytest.mark.parametrize("element", ["a // b", "a % b", "X[v] % (a % b)", "X[v] // b", "a * v % b"])
def test_of_parameters(element, dtype):
    kernel = from_source(f"""
@T.prim_func
def main(X: T.Buffer((6,), "{dtype}"), Y: T.Buffer((6,), "{dtype}"), a: T.{dtype}, b: T.{dtype}):
    for i in range(6):
        with T.block("Y"):
            v = T.axis.spatial(6, i)
            Y[v] = {element}
""")
    x, y = np.arange(6, dtype=dtype), np.full(6, 3, dtype)
    xrelax.build(kernel)["main"](x, y, 7, 0)
    _, evaluated, *_ = evaluate(
        IRModule({"main": kernel}).op, "main", [x, np.full_like(y, 3), 7, 0]
    )
    for got in (y, evaluated):
        np.testing.assert_array_equal(got, 0)
