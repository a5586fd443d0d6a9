"""Layers that emit into the function that is being built."""

import numpy as np
import pytest

from xrelax import relax
from xrelax.relax.testing import nn


class Both(nn.Module):
    def __init__(self):
        self.first = nn.Linear(6, 4)
        self.others = {"a": [nn.Linear(4, 2, bias=False)], "again": self.first}

    def forward(self, x):
        return self.others["a"][0](nn.Sequential(self.first, nn.ReLU())(x))


def test_layers_compute_as_numpy():
    bb = relax.BlockBuilder()
    with bb.function("main"):
        model, x = Both(), nn.Placeholder(("n", 6), name="x")
        params = model.parameters()
        bb.emit_func_output(nn.LogSoftmax()(model(x)), params=[x, *params])
    assert [p.name_hint for p in params] == ["linear_weight", "linear_bias", "linear_weight1"]
    rng = np.random.default_rng(0)
    a, w, b, v = (rng.standard_normal(s, "float32") for s in ((3, 6), (6, 4), (4,), (4, 2)))
    y = np.maximum(a @ w + b, 0) @ v
    expected = y - np.log(np.exp(y).sum(1, keepdims=True))
    found = relax.build(bb.get())["main"](a, w, b, v).numpy()
    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-6)


def test_emit_needs_a_function():
    x = nn.Placeholder((4,))
    with pytest.raises(RuntimeError, match=r"expected nn\.emit inside of"):
        nn.emit(relax.op.exp(x))
