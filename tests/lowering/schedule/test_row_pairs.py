"""Contractions of few columns by pairs of rows agree with NumPy, whatever reads their results."""

import numpy as np
import pytest

from xrelax import relax
from xrelax.inspection import stage_text
from xrelax.script import from_source

CONSUMERS = {
    "y": lambda y, r: y,
    "R.add(y, r)": lambda y, r: y + r,
    "R.nn.relu(R.multiply(y, r))": lambda y, r: np.maximum(y * r, 0),
    "R.tanh(R.exp(R.sin(y)))": lambda y, r: np.tanh(np.exp(np.sin(y))),
    "R.sum(y, axis=[0])": lambda y, r: y.sum(0),
    "R.permute_dims(y)": lambda y, r: y.T,
}
TARGETS = ("llvm", "llvm -mcpu=haswell")


def matmul(rows, columns, steps, dtype, consumer):
    return from_source(f"""
@I.ir_module
class M:
    @R.function
    def main(
        x: R.Tensor(({rows}, {steps}), "{dtype}"), w: R.Tensor(({steps}, {columns}), "{dtype}"),
        r: R.Tensor(({rows}, {columns}), "{dtype}"),
    ):
        y = R.matmul(x, w)
        return {consumer}
""")


def drawn(*shape, dtype):
    return np.random.default_rng(sum(shape)).standard_normal(shape).astype(dtype)


@pytest.mark.sampled
@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("consumer", list(CONSUMERS))
@pytest.mark.parametrize(
    ("columns", "dtype"),
    [(24, "float32"), (40, "float32"), (12, "float64"), (20, "float64"), (24, "float16")],
)
@pytest.mark.parametrize(("rows", "steps"), [(28, 9), (26, 33), (4, 1), (314, 8), (27, 5)])
def test_matmuls(rows, steps, columns, dtype, consumer, target):
    x, w = drawn(rows, steps, dtype=dtype), drawn(steps, columns, dtype=dtype)
    r = drawn(rows, columns, dtype=dtype)
    module = matmul(rows, columns, steps, dtype, consumer)
    found = relax.build(module, target)["main"](x, w, r).numpy()
    wide = [a.astype(np.float64) for a in (x, w, r)]
    error = {"float16": 5e-2, "float32": 2e-4, "float64": 1e-11}[dtype]
    wanted = CONSUMERS[consumer](wide[0] @ wide[1], wide[2])
    np.testing.assert_allclose(found, wanted, rtol=error, atol=error)


@pytest.mark.parametrize("channels", [24, 40])
@pytest.mark.parametrize("batch", [1, 3])
def test_convolutions(channels, batch):
    """Of one element, of three without padding, and with padding, where rows stay apart."""
    rng = np.random.default_rng(channels)
    x = rng.standard_normal((batch, 16, 30, 10)).astype(np.float32)
    for size, padding in ((1, 0), (3, 0), (3, 1)):
        module = from_source(f"""
@I.ir_module
class M:
    @R.function
    def main(
        x: R.Tensor(({batch}, 16, 30, 10), "float32"),
        w: R.Tensor(({size}, {size}, 10, {channels}), "float32"),
    ):
        y = R.nn.conv2d(
            x, w, padding={padding}, data_layout="NHWC", kernel_layout="HWIO"
        )
        return R.nn.relu(y)
""")
        w = rng.standard_normal((size, size, 10, channels)).astype(np.float32)
        found = relax.build(module, check=True)["main"](x, w).numpy()
        edges = (padding, padding)
        padded = np.pad(x, ((0, 0), edges, edges, (0, 0)))
        windows = np.lib.stride_tricks.sliding_window_view(padded, (size, size), axis=(1, 2))
        wanted = np.maximum(np.einsum("nhwirs,rsio->nhwo", windows, w), 0)
        np.testing.assert_allclose(found, wanted, rtol=1e-4, atol=1e-4)


def test_vectors_are_whole():
    module = matmul(28, 24, 9, "float32", "R.add(y, r)")
    text = stage_text(module, "loops", "llvm -mcpu=skylake-avx512 -mtriple=x86_64-linux-gnu")
    assert "vector<8xf32>" not in text and "mask" not in text
    assert "alloca" not in text  # sums are in registers
    assert text.count("arith.mulf") == 21
