"""Tensors and shapes whose rank only the running program knows."""

import numpy as np
import pytest

import xrelax as tvm
from xrelax import relax
from xrelax.script import ir as I
from xrelax.script import relax as R


@I.ir_module
class Module:
    @R.function
    def shape_of(t: R.Tensor(ndim=-1, dtype="int32")) -> R.Shape(ndim=-1):
        return R.shape_of(t)

    @R.function
    def to_tensor(shape: R.Shape(ndim=-1)) -> R.Tensor(ndim=-1):
        return R.shape_to_tensor(shape)

    @R.function
    def reshape(x: R.Tensor(("n",), "float32"), shape: R.Shape(ndim=-1)) -> R.Tensor("float32"):
        return R.reshape(R.add(x, x), shape)

    @R.function
    def cast(x: R.Tensor("float32"), c: R.Tensor((), "bool")) -> R.Tensor("float32"):
        if c:
            y = R.match_cast(x, R.Tensor((3, 2), "float32"))
            z = R.add(y, y)
        else:
            z = x
        return z


@pytest.fixture(scope="module")
def vm():
    return relax.VirtualMachine(relax.build(Module, check=True), tvm.cpu())


def test_every_rank(vm):
    assert vm["shape_of"](np.array(1, "int32")) == ()
    assert vm["shape_of"](np.zeros((1, 2, 3), "int32")) == (1, 2, 3)
    np.testing.assert_array_equal(vm["to_tensor"]((3, 2, 5)), [3, 2, 5])
    x, ones = np.arange(6, dtype="float32"), np.ones((3, 2), "float32")
    np.testing.assert_array_equal(vm["reshape"](x, (2, 3)), 2 * x.reshape(2, 3))
    assert vm["reshape"](x, (1, 6, 1)).shape == (1, 6, 1)
    np.testing.assert_array_equal(vm["cast"](ones, np.array(True)), 2 * ones)
    assert vm["cast"](np.ones((1, 4, 1), "float32"), np.array(False)).shape == (1, 4, 1)


@pytest.mark.parametrize(
    ("function", "args", "message"),
    [
        ("shape_of", [np.zeros(3)], "expected argument 't' to have dtype int32, got float64"),
        ("shape_of", ["x"], "expected argument 't' to be a tensor, got str"),
        ("to_tensor", [np.zeros(3)], "expected argument 'shape' to be a shape, got ndarray"),
        ("reshape", [np.zeros(6, "float32"), (2, 2)], r"expected 6 elements, got shape \(2, 2\)"),
        ("cast", [np.zeros((3, 3), "float32"), np.array(True)], r"float32 of shape \(3, 2\), got"),
    ],
)
def test_arguments_that_do_not_fit(vm, function, args, message):
    with pytest.raises((TypeError, ValueError), match=message):
        vm[function](*args)
