"""Calls of operators as TVM writes them, in scripts and in `topi`."""

import numpy as np
import pytest
from xdsl.dialects.builtin import ModuleOp

from xrelax import relax, te
from xrelax.reference.evaluate import evaluate
from xrelax.script import from_source
from xrelax.te import topi

X = np.array([[0.5, -2.0, 3.0], [4.0, 0.0, -0.25]], "float32")

CALLS = {
    "R.sum(x, axis=[1], keepdims=False)": X.sum(1),
    "R.mean(x, axis=1, keepdims=True)": X.mean(1, keepdims=True),
    "R.variance(x, axis=[0])": X.var(0),
    "R.argmax(x, axis=1, keepdims=False)": X.argmax(1),
    "R.max(x)": X.max(),
    "R.clip(x, R.prim_value(0), R.prim_value(2))": X.clip(0, 2),
    "R.clip(x, 0, 2)": X.clip(0, 2),
    "R.where(R.less(x, R.const(0.0, 'float32')), R.const(1.0, 'float32'), x)": np.where(
        X < 0, 1, X
    ),
    "R.astype(x, dtype='int32')": X.astype("int32"),
    "R.astype(x, 'float16')": X.astype("float16"),
    "R.cumsum(x, axis=1)": X.cumsum(1),
    "R.cumsum(x, axis=1, dtype='float32', exclusive=True)": X.cumsum(1) - X,
    "R.tril(x, k=-1)": np.tril(X, -1),
    "R.triu(x, 1)": np.triu(X, 1),
    "R.nn.leakyrelu(x, alpha=0.5)": np.where(X > 0, X, X * np.float32(0.5)),
    "R.nn.relu(x)": X.clip(0),
    "R.full(R.shape([2, n]), R.const(2.0, 'float32'), dtype='float32')": np.full((2, 3), 2.0),
    "R.full((2, n), R.const(2.0, 'float32'))": np.full((2, 3), 2.0),
    "R.zeros(R.shape([n]), dtype='int8')": np.zeros(3, "int8"),
    "R.ones((n, 1), 'float32')": np.ones((3, 1)),
    "R.zeros_like(x)": np.zeros_like(X),
    "R.full_like(x, R.const(1.5, 'float32'))": np.full_like(X, 1.5),
    "R.arange(R.prim_value(0), R.prim_value(n), R.prim_value(1), dtype='int64')": np.arange(3),
    "R.arange(1, n + 1, dtype='float32')": np.arange(1, 4),
    "R.arange(n)": np.arange(3),
    "R.eye(n, dtype='float32')": np.eye(3),
    "R.one_hot(R.argmin(x, axis=1), R.prim_value(1), R.prim_value(0), 3, -1)": [
        [0, 1, 0],
        [0, 0, 1],
    ],
    "R.clip(x, R.prim_value(T.float64(-1.0)), R.prim_value(T.float64(1.0)))": X.clip(-1, 1),
    "R.one_hot(R.argmin(x, axis=1), R.prim_value(T.int32(2)), R.prim_value(T.int32(0)), 3, -1)": (
        np.array([[0, 2, 0], [0, 0, 2]], "int32")
    ),
    "R.one_hot(R.argmin(x, axis=1), R.prim_value(T.float32(1.0)), T.float32(0.0), depth=3)": (
        np.array([[0, 1, 0], [0, 0, 1]], "float32")
    ),
    "R.one_hot(R.argmin(x, axis=1), T.float16(1.0), T.float16(0.5), T.int64(3), axis=T.int64(0))": (
        np.array([[0.5, 0.5], [1, 0.5], [0.5, 1]], "float16")
    ),
    "R.arange(R.prim_value(T.float32(0.5)), R.prim_value(T.float32(2)), dtype='float32')": (
        np.arange(0.5, 2, dtype="float32")
    ),
    "R.cumsum(x, axis=R.prim_value(1), exclusive=T.bool(True))": X.cumsum(1) - X,
    "R.power(R.abs(x), R.const(0.5, 'float32'))": np.abs(X) ** 0.5,
    "R.logical_not(R.greater(x, R.zeros_like(x)))": ~(X > 0),
}


@pytest.mark.parametrize("call", CALLS)
def test_scripts(call: str):
    function = from_source(f"""
@R.function
def main(x: R.Tensor((2, "n"), "float32")):
    n = T.int64()
    return {call}
""")
    found = relax.build(function)(X).numpy()
    np.testing.assert_allclose(found, CALLS[call], rtol=1e-6)
    if isinstance(CALLS[call], np.ndarray) and "one_hot" in call:
        assert found.dtype == CALLS[call].dtype
    assert from_source(function.script()).script() == function.script()


REFUSED = {
    "R.concat(x)": "expected tensors of 'relax.concat' to be a tuple of tensors, "
    "got !relax.tensor<[2, n], f32>",
    "R.ones(5, 'float32')": "expected shape of 'relax.ones' to be a tuple of ints or "
    "expressions of symbols, got 5",
    "R.reshape(x, n * 2)": "expected shape of 'relax.reshape' to be a tuple of ints or "
    "expressions of symbols, got n * 2",
    "R.one_hot(R.argmin(x), T.int32(1), T.int64(0), 3)": "expected on_value and off_value of "
    "'relax.one_hot' to have one dtype, got int32 and int64",
    "R.clip(x, R.prim_value(n), 3)": "expected min of 'relax.clip' to be a number, got n",
    "R.add(x, R.zeros((2, n + 1), 'float32'))": "expected shapes of 'relax.add' that are provably "
    "compatible, got (2, n) and (2, n + 1): use R.match_cast on an operand",
}


@pytest.mark.parametrize("call", REFUSED)
def test_refused_calls(call: str):
    with pytest.raises(Exception, match="error: ") as caught:
        relax.build(
            from_source(f"""
@R.function
def main(x: R.Tensor((2, "n"), "float32")):
    n = T.int64()
    return {call}
""")
        )
    assert f"<script>:5:12: error: {REFUSED[call]}" in str(caught.value)


def test_one_tensor_is_no_tuple_in_python():
    x = relax.Var("x", relax.TensorStructInfo((2, 3)))
    for concat in (relax.op.concat, topi.concat):
        value = x if concat is relax.op.concat else te.placeholder((2, 3), name="x")
        with pytest.raises(ValueError, match=r"concat' to be a tuple of tensors, got \w+$"):
            concat(value)
    assert relax.op.concat((x,)).struct_info.ndim == 2
    assert relax.op.clip(x, relax.PrimValue(0), relax.PrimValue(1)).struct_info.ndim == 2


FLOAT_ONLY = "sin cos tan asin acos atan sinh cosh asinh acosh atanh"


@pytest.mark.parametrize("name", FLOAT_ONLY.split())
def test_functions_of_floats_take_no_integers(name: str):
    x = te.placeholder((4,), "int32", name="x")
    message = rf"topi\.{name} only supports floating-point inputs, but got int32"
    with pytest.raises(TypeError, match=message):
        getattr(topi, name)(x)
    with pytest.raises(TypeError, match=f"'{name}' expects a float, got int32"):
        getattr(te, name)(x[0])


@pytest.mark.parametrize(
    ("function", "expected"),
    [
        (lambda x: topi.sum(x, axis=1), X.sum(1)),
        (lambda x: topi.exp(x), np.exp(X)),
        (lambda x: topi.nn.softmax(x, axis=-1), np.exp(X) / np.exp(X).sum(1, keepdims=True)),
        (lambda x: topi.max(topi.abs(x), axis=[0], keepdims=True), np.abs(X).max(0, keepdims=True)),
        (lambda x: topi.argmax(x, axis=0), X.argmax(0)),
        (lambda x: topi.clip(x, -1, 1.5), X.clip(-1, 1.5)),
        (lambda x: topi.cast(x, "int32"), X.astype("int32")),
        (lambda x: topi.cumsum(x, axis=0), X.cumsum(0)),
        (lambda x: topi.full((2, 3), topi.zeros((), "float32")), np.zeros((2, 3))),
    ],
)  # fmt: skip
def test_topi(function, expected):
    x = te.placeholder((2, 3), "float32", name="x")
    y = function(x)
    kernel = te.create_prim_func([x, y]).op.clone()
    out = np.zeros(y.shape, y.dtype)
    found = evaluate(ModuleOp([kernel]), "main", [X, out])[-1]
    np.testing.assert_allclose(found, expected, rtol=1e-6)
