"""Kernels that prefetch their panels compute the same, also at the ends of what they read."""

import numpy as np
import pytest

from xrelax import relax
from xrelax.inspection import stage_text
from xrelax.ir import IRModule
from xrelax.script import from_source

SIZES = ((1, 97, 301), (3, 64, 509), (5, 9, 4099), (29, 33, 9001))
"""Rows, columns and depth; weights of the last are larger than a second cache."""


def product(rows, columns, depth):
    return f"""
@R.function
def main(x: R.Tensor(({rows}, {depth}), "float32"), w: R.Tensor(({depth}, {columns}), "float32")):
    return R.nn.relu(R.matmul(x, w))
"""


@pytest.mark.parametrize(("rows", "columns", "depth"), SIZES)
def test_products_with_panels_ahead(rows, columns, depth):
    rng = np.random.default_rng(1)
    x, w = (rng.integers(-3, 4, s).astype(np.float32) for s in ((rows, depth), (depth, columns)))
    module = IRModule({"main": from_source(product(rows, columns, depth))})
    bound = relax.transform.BindParams("main", {"w": w})(module)
    text = stage_text(bound, "loops", "llvm -mcpu=haswell")
    assert "loops.prefetch" in text
    np.testing.assert_array_equal(relax.build(bound)(x).numpy(), np.maximum(x @ w, 0))


ROWS = {
    "softmax": "R.nn.softmax(x, axis=-1)",
    "log_softmax": "R.nn.log_softmax(x, axis=-1)",
    "layer_norm": "R.nn.layer_norm(x, g, g, axes=[-1])",
}
SMALL_CACHES = "llvm -cache-sizes=4096,16384,65536"


@pytest.mark.parametrize("shape", ((37, 512), (41, 1000), (3, 13, 400)))
@pytest.mark.parametrize("name", ROWS)
def test_rows_ahead_and_results_past_the_caches(name, shape):
    x = np.random.default_rng(2).standard_normal(shape).astype(np.float32)
    g = np.linspace(0.5, 1.5, shape[-1], dtype=np.float32)
    source = f"""
@R.function
def main(x: R.Tensor({shape}, "float32"), g: R.Tensor(({shape[-1]},), "float32")):
    with R.dataflow():
        y = {ROWS[name]}
        R.output(y)
    return y
"""
    module = IRModule({"main": from_source(source)})
    text = stage_text(module, "loops", SMALL_CACHES)
    assert "loops.prefetch" in text
    found = relax.build(module, SMALL_CACHES)(x, g).numpy()
    centred = x - (x.max(-1, keepdims=True) if "softmax" in name else x.mean(-1, keepdims=True))
    sums = np.exp(centred).sum(-1, keepdims=True)
    expected = {
        "softmax": np.exp(centred) / sums,
        "log_softmax": centred - np.log(sums),
        "layer_norm": centred / np.sqrt((centred**2).mean(-1, keepdims=True) + 1e-5) * g + g,
    }
    np.testing.assert_allclose(found, expected[name], rtol=2e-5, atol=2e-6)
