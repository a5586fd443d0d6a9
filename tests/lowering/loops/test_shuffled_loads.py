"""Lanes that load near elements, some of them the same, agree with NumPy at all widths."""

import numpy as np
import pytest

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
