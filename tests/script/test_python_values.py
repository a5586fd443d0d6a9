"""Scripts use operators, constants and names of the Python program around them."""

import numpy as np
import pytest

import xrelax as tvm
from xrelax import relax
from xrelax.script import ScriptError, from_source
from xrelax.script import ir as I
from xrelax.script import relax as R
from xrelax.script import tir as T


def built(unary, binary, constant, dtype):
    @I.ir_module
    class Module:
        @R.function
        def main(x: R.Tensor((3,), dtype)):
            nonlocal dtype
            y = unary(x)
            z = binary(y, constant)
            return z

    return Module


def test_operators_and_constants_in_variables():
    constant = relax.const(np.array([1, 2, 3], "float32"))
    module = built(relax.op.nn.relu, relax.op.subtract, constant, "float32")
    assert "R.nn.relu(x)" in module.script() and "R.subtract(y, metadata" in module.script()
    result = tvm.build(module)["main"](np.array([-1, 2, 5], "float32"))
    np.testing.assert_array_equal(result, [-1, 0, 2])


def test_nonlocal_and_global_in_kernels():
    size = 4

    @T.prim_func
    def kernel(X: T.Buffer((size,), "float32")):
        nonlocal size
        global np
        for i in range(size):
            X[i] = 1.0

    assert "range(4)" in kernel.script()


KERNEL = """
@T.prim_func
def f(X: T.Buffer((4,), "float32"), Y: T.Buffer((4,), "float32")):
    B = T.sblock_alloc_buffer([4], strides=[1], elem_offset=T.int64(0), align=64, offset_factor=1)
    for i in range(4):
        B[i] = T.exp(X[i], dtype="float32")
        Y[i] = T.if_then_else(T.likely(i < 2, dtype="bool"), B[i], 0.0, dtype="float32")
"""


def test_intrinsics_state_their_dtype():
    text = from_source(KERNEL).script()
    assert "B = T.alloc_buffer((4,))" in text and "T.exp(X[i])" in text


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (
            'dtype="float32")\n        Y',
            'dtype="float16")\n        Y',
            "T.exp to give float16, got",
        ),
        ("T.int64(0)", "T.int64(2)", "expected elem_offset of a new buffer to be 0"),
        ("strides=[1]", "strides=[2]", r"the strides of compact memory, \[1\], got \[2\]"),
        ("strides=[1]", "strides=[4, 1]", r"the strides of compact memory, \[1\], got \[4, 1\]"),
        (
            "elem_offset",
            "data",
            "expected shape, dtype, scope, strides and align .*, got data",
        ),
    ],
)
def test_what_is_refused(old: str, new: str, message: str):
    assert old in KERNEL
    with pytest.raises(ScriptError, match=message):
        from_source(KERNEL.replace(old, new))
