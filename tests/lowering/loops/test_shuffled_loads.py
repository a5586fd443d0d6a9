"""Lanes that load near elements, some of them the same, agree with NumPy at all widths."""

import numpy as np
import pytest
from fuzzer.guard import Guarded

from xrelax import relax
from xrelax.inspection import stage_text
from xrelax.script import from_source

REPEAT = """
@R.function
def main(x: R.Tensor((3, {width}), "{dtype}")):
    return R.repeat(x, {times}, axis=1)
"""


@pytest.mark.parametrize("target", ["llvm", "llvm -mcpu=haswell", "llvm -mcpu=x86-64"])
@pytest.mark.parametrize("dtype", ["float32", "int8", "float16"])
@pytest.mark.parametrize(("width", "times"), [(32, 2), (33, 2), (31, 4), (64, 8), (17, 3)])
def test_repeated_elements(width, times, dtype, target):
    module = from_source(REPEAT.format(width=width, times=times, dtype=dtype))
    x = np.random.default_rng(0).integers(-9, 9, (3, width)).astype(dtype)
    found = relax.build(module, target)["main"](x).numpy()
    np.testing.assert_array_equal(found, np.repeat(x, times, 1))


def test_they_are_loaded_once():
    module = from_source(REPEAT.format(width=32, times=2, dtype="float32"))
    assert "vector.shuffle" in stage_text(module, "loops", "llvm -mcpu=haswell")


WINDOWS = """
@T.prim_func
def main(X: T.Buffer(({length},), "{dtype}"), Y: T.Buffer(({count},), "{dtype}")):
    for i in T.vectorized({count}):
        with T.block("Y"):
            vi = T.axis.spatial({count}, i)
            Y[vi] = T.if_then_else(
                T.And(vi * {step} >= {start}, vi * {step} - {start} < {length}),
                X[vi * {step} - {start}], T.Cast("{dtype}", 7),
            )
"""


@pytest.mark.parametrize("target", ["llvm", "llvm -mcpu=haswell", "llvm -mcpu=x86-64"])
@pytest.mark.parametrize("dtype", ["float64", "float32", "int32", "int8", "float16"])
@pytest.mark.parametrize("step", [1, 2, 3, 4, 5])
@pytest.mark.parametrize(("length", "count", "start"), [(16, 9, 1), (65, 40, 3), (50, 33, 0)])
def test_lanes_outside_are_not_loaded(length, count, start, step, dtype, target):
    """What follows the data may not be read."""
    given = {"length": length, "count": count, "start": start, "step": step, "dtype": dtype}
    run = relax.build(from_source(WINDOWS.format(**given)), target)
    x = Guarded().place(np.arange(1, length + 1).astype(dtype), at_end=True)
    y = np.zeros(count, dtype)
    run["main"](x, y)
    places = np.arange(count) * step - start
    inside = (places >= 0) & (places < length)
    np.testing.assert_array_equal(y, np.where(inside, x[places * inside], 7).astype(dtype))
