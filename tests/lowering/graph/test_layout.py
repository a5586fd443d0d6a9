"""Graphs with their channels last compute what they did, also where images are flattened."""

import numpy as np
import pytest

from xrelax import relax
from xrelax.ir import IRModule
from xrelax.script import from_source

SIZES = ((0, (5, 3), 7), (2, (2, 4), 7), (3, (5, 4), 1))
"""Images, their height and width, and features."""


def network(batch, image, channels, features, is_transposed, other):
    """A convolution, a pool and one or two uses of what is flattened."""
    height, width = (image[0] + 1) // 2, (image[1] + 1) // 2
    length = channels * height * width
    weights = (features, length) if is_transposed else (length, features)
    right = "R.permute_dims(w1)" if is_transposed else "w1"
    result = "(y, R.nn.relu(f))" if other else "y"
    return (
        f"""
@R.function
def main(
    x: R.Tensor(({batch}, 2, {image[0]}, {image[1]}), "float32"),
    w0: R.Tensor(({channels}, 2, 3, 3), "float32"),
    w1: R.Tensor({weights}, "float32"),
):
    with R.dataflow():
        c = R.nn.relu(R.nn.conv2d(x, w0, padding=1))
        p = R.nn.max_pool2d(c, pool_size=2, strides=2, ceil_mode=True)
        f = R.reshape(p, ({batch}, {length}))
        y = R.matmul(f, {right})
        z = {result}
        R.output(z)
    return z
""",
        {"w0": (channels, 2, 3, 3), "w1": weights},
    )


@pytest.mark.sampled
@pytest.mark.parametrize("is_transposed", [False, True])
@pytest.mark.parametrize("other", [False, True])
def test_flattened_images(is_transposed, other):
    rng = np.random.default_rng(3)
    for batch, image, features in SIZES:
        text, shapes = network(batch, image, 5, features, is_transposed, other)
        values = {n: rng.integers(-3, 4, s).astype(np.float32) for n, s in shapes.items()}
        x = rng.integers(-3, 4, (batch, 2, *image)).astype(np.float32)
        module = from_source(text)
        bound = relax.transform.BindParams("main", values)(IRModule({"main": module}))
        expected = relax.build(module)(x, *values.values())
        got = relax.build(bound)(x)
        pairs = zip(got, expected, strict=True) if other else [(got, expected)]
        for ours, theirs in pairs:
            np.testing.assert_array_equal(ours.numpy(), theirs.numpy())
