"""Kernels in TVM's form, which users see, compute the same as those that builds start from."""

import numpy as np
import pytest

from xrelax import relax
from xrelax.script import from_source

CASES = {
    "conv2d": ([(2, 4, 9, 7), (6, 4, 3, 2)], "R.nn.conv2d(a, b, strides=2, padding=(1, 0, 2, 1))"),
    "groups": ([(1, 8, 6, 5), (4, 4, 3, 3)], "R.nn.conv2d(a, b, padding=1, groups=2)"),
    "depthwise": ([(1, 8, 6, 5), (8, 1, 3, 3)], "R.nn.conv2d(a, b, padding=1, groups=8)"),
    "dilated": (
        [(2, 9, 3), (2, 3, 4)],
        'R.nn.conv1d(a, b, data_layout="NWC", kernel_layout="WIO", dilation=2)',
    ),
    "conv3d": ([(1, 2, 3, 4, 5), (3, 2, 2, 2, 2)], "R.nn.relu(R.nn.conv3d(a, b, padding=1))"),
    "tile": ([(2, 3), (1,)], "R.tile(a, (2, 1, 3))"),
    "repeat": ([(2, 3), (1,)], "R.repeat(a, 2)"),
    "reshape": ([(2, 3, 4), (1,)], "R.reshape(a, (4, 6))"),
    "batch_flatten": ([(2, 3, 4), (1,)], "R.nn.batch_flatten(a)"),
    "log_softmax": ([(3, 5), (1,)], "R.nn.log_softmax(a)"),
    "quantize": ([(3, 5), (5,)], 'R.quantize(a, b, R.const([1, -2, 3, 0, 120], "int8"))'),
}


@pytest.mark.parametrize("name", CASES)
def test_legalized_operators(name):
    shapes, call = CASES[name]
    params = ", ".join(f'{n}: R.Tensor({s}, "float32")' for n, s in zip("ab", shapes, strict=True))
    mod = from_source(f"""
@I.ir_module
class Module:
    @R.function
    def main({params}):
        return {call}
""")
    rng = np.random.default_rng(0)
    a, b = (rng.standard_normal(s).astype("float32") for s in shapes)
    if name in ("log_softmax", "quantize"):
        a[0, :], a[1, :3] = -np.inf, (np.inf, np.nan, 1e9)
    expected = relax.build(mod)["main"](a, b).numpy()
    legal = relax.transform.LegalizeOps()(mod)
    found = relax.build(legal)["main"](a, b).numpy()
    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("call", ["R.squeeze(a, 1)", "R.expand_dims(a, 2)"])
def test_dims_of_one_need_no_division(call):
    mod = from_source(f"""
@I.ir_module
class Module:
    @R.function
    def main(a: R.Tensor((2, 1, 3), "float32")):
        return {call}
""")
    legal = relax.transform.LegalizeOps()(mod).script()
    assert "T.writes" in legal and "//" not in legal and "%" not in legal
