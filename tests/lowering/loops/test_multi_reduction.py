"""Reductions of lanes: the operation, its lowering, and rows of all lengths agree with NumPy."""

import numpy as np
import pytest
from xdsl.parser import Parser

from xrelax import relax
from xrelax.backend.target import Target
from xrelax.dialects import get_context
from xrelax.dialects.diagnostics import verify
from xrelax.lowering.loops.lower_multi_reduction import lower_multi_reductions
from xrelax.reference import evaluate
from xrelax.script import from_source

LANES = """
loops.func @f(%X: !tir.buffer<[5, 40], {type}>, %Y: !tir.buffer<[6], {type}>) noalias {{
  %s = loops.load %Y[5] : !tir.buffer<[6], {type}> -> {type}
  {rows}
  {stores}
}}
"""
ROW = """
  %v{i} = loops.load %X[{i}, 0] : !tir.buffer<[5, 40], {type}> -> vector<32x{type}>
  %w{i} = loops.load %X[{i}, 32] : !tir.buffer<[5, 40], {type}> -> vector<8x{type}>
  %t{i} = loops.multi_reduction <{kind}>, %s, %v{i}, %w{i} {flags}
    : {type}, vector<32x{type}>, vector<8x{type}>
"""
STORE = "loops.store %t{i}, %Y[{i}] : !tir.buffer<[6], {type}>, {type}\n"
INTEGERS = {
    "add": np.add,
    "mul": np.multiply,
    "and": np.bitwise_and,
    "or": np.bitwise_or,
    "xor": np.bitwise_xor,
    "minsi": np.minimum,
    "maxsi": np.maximum,
}
FLOATS = {
    "add": np.add,
    "mul": np.multiply,
    "minimumf": np.minimum,
    "maximumf": np.maximum,
    "minnumf": np.fmin,
    "maxnumf": np.fmax,
}
CASES = [(k, "int32", f) for k, f in INTEGERS.items()]
CASES += [(k, "float32", f) for k, f in FLOATS.items()]


@pytest.mark.parametrize(("kind", "dtype", "function"), CASES)
def test_totals_of_lanes_that_are_stored_beside_each_other(kind, dtype, function):
    """Five totals: four are joined, the last is reduced by itself."""
    type_, flags = ("i32", "") if dtype == "int32" else ("f32", "fastmath<reassoc>")
    rows = "".join(ROW.format(i=i, type=type_, kind=kind, flags=flags) for i in range(5))
    stores = "".join(STORE.format(i=i, type=type_) for i in range(5))
    text = LANES.format(type=type_, rows=rows, stores=stores)
    module = Parser(get_context(), text).parse_module()
    verify(module)
    rng = np.random.default_rng(1)
    x = rng.choice((-1, 1, 2) if kind != "mul" else (-1, 1), (5, 40)).astype(dtype)
    if "num" in kind:
        x[1, 3] = np.nan
    y = np.full(6, 3, dtype)
    expected = function(y[5], function.reduce(x, axis=1))
    before = evaluate(module, "f", [x, y])[1]
    lower_multi_reductions(module.body.block.first_op, Target("llvm -mcpu=haswell"))
    verify(module)
    assert "multi_reduction" not in str(module)
    assert str(module).count("vector.reduction") == 1
    for found in (before, evaluate(module, "f", [x, y])[1]):
        np.testing.assert_array_equal(found[:5], expected)


SOURCE = """
@R.function
def main(x: R.Tensor((5, {length}), "{dtype}")):
    with R.dataflow():
        y = R.{name}(x, axis=-1)
        R.output(y)
    return y
"""


@pytest.mark.parametrize("dtype", ("float32", "float64", "int32"))
@pytest.mark.parametrize("name", ("sum", "max", "min", "prod"))
@pytest.mark.parametrize("length", (20, 36, 77, 84, 100, 127, 196))
def test_rows_of_constant_length(length, name, dtype):
    x = np.random.default_rng(length).integers(-3, 4, (5, length)).astype(dtype)
    if name == "prod":
        x = np.where(x < 0, -1, 1).astype(dtype)
    x[3, -1] = 9
    if dtype != "int32" and name != "prod":
        x[4, length // 2] = np.nan
    found = relax.build(from_source(SOURCE.format(length=length, name=name, dtype=dtype)))(x)
    np.testing.assert_array_equal(found.numpy(), getattr(np, name)(x, axis=-1))
