"""Convolutions by windows of one element compute what they did as products of pixels."""

import numpy as np
import pytest

from xrelax import relax
from xrelax.ir import IRModule
from xrelax.script import from_source

CASES = (
    ("float32", "1", (17, 19, 11, 13), "OIHW", (19, 1, 1)),
    ("float32", "2", (8, 33, 6, 6), "HWIO", (1, 33, 6, 6)),
    ("float32", "'n'", (5, 3, 9, 9), "OHWI", (9,)),
    ("float16", "1", (16, 24, 8, 8), "OIHW", (1, 1)),
    ("float64", "0", (4, 4, 5, 5), "OIHW", (4, 5, 5)),
)
"""Dtype, batch, channels in and out with the image, layout of the weight, shape of a term."""


@pytest.mark.sampled
@pytest.mark.parametrize("dtype, batch, sizes, layout, added", CASES)
def test_pointwise(dtype, batch, sizes, layout, added):
    channels, outputs, height, width = sizes
    dims = {"O": outputs, "I": channels, "H": 1, "W": 1}
    shape = tuple(dims[letter] for letter in layout)
    function = from_source(f'''
@R.function
def main(
    x: R.Tensor(({batch}, {channels}, {height}, {width}), "{dtype}"),
    w: R.Tensor({shape}, "{dtype}"),
    b: R.Tensor({added}, "{dtype}"),
):
    with R.dataflow():
        y = R.nn.conv2d(x, w, kernel_layout="{layout}")
        z = R.nn.relu(R.add(y, b))
        R.output(z)
    return z
''')
    rng = np.random.default_rng(1)
    count = 3 if batch == "'n'" else int(batch)
    x = rng.integers(-3, 4, (count, channels, height, width)).astype(dtype)
    w, b = (rng.integers(-3, 4, s).astype(dtype) for s in (shape, added))
    matrix = w.reshape(channels, outputs).T if layout == "HWIO" else w.reshape(outputs, channels)
    pixels = x.reshape(count, channels, height * width).astype("float64")
    sums = (matrix.astype("float64") @ pixels).reshape(count, outputs, height, width)
    expected = np.maximum(sums + b, 0)
    bound = relax.transform.BindParams("main", {"w": w})(IRModule({"main": function}))
    for module, values in ((function, (x, w, b)), (bound, (x, b))):
        result = relax.build(module, check=True)(*values).numpy()
        np.testing.assert_array_equal(result, expected.astype(dtype))
