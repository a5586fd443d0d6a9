"""Operators that move, choose and order elements, among others: each pass keeps the results."""

import numpy as np
import pytest

from xrelax import relax
from xrelax.script import from_source

X = 'x: R.Tensor(("n", 12), "float32")'
Y = 'y: R.Tensor(("n", "m"), "float32")'
INDICES = 'i: R.Tensor((5,), "int64")'

BODIES = {
    "concat": (f"{X}, {Y}", "R.nn.relu(R.concat((R.add(x, x), R.nn.relu(y)), axis=1))"),
    "concat of three": (
        f"{X}, {Y}",
        "R.concat((x, R.multiply(y, y), R.strided_slice(x, [1], [3], [7])), axis=1)",
    ),
    "stack": (X, "R.add(R.stack((x, R.nn.relu(x)), axis=1), R.expand_dims(x, 1))"),
    "rotate": (
        X,
        "R.add(x, R.concat((R.strided_slice(x, [1], [6], [12]), "
        "R.strided_slice(x, [1], [0], [6])), axis=-1))",
    ),
    "slice": (
        f"{X}, {Y}",
        "R.nn.relu(R.strided_slice(R.add(x, x), [0, 1], [1, -1], [4, 0], [1, -2]))",
    ),
    "pad": (X, "R.nn.relu(R.nn.pad(R.add(x, x), ((1, 2), (0, 3)), pad_mode='reflect'))"),
    "take": (f"{X}, {INDICES}", "R.nn.relu(R.take(R.add(x, x), i, axis=0))"),
    "take of a view": (f"{X}, {INDICES}", "R.take(R.reshape(R.add(x, x), (-1, 3)), i, axis=0)"),
    "index": (f"{X}, {INDICES}", "R.nn.relu(R.index_tensor(R.add(x, x), (i, i)))"),
    "scatter": (
        f"{X}, {INDICES}",
        "R.nn.relu(R.index_put(R.add(x, x), (i,), R.take(R.multiply(x, x), i, axis=0), "
        "accumulate=True))",
    ),
    "topk": (
        X,
        "R.add(R.topk(R.nn.relu(x), 3, ret_type='values'), R.strided_slice(x, [1], [0], [3]))",
    ),
    "sort": (X, "R.multiply(R.sort(R.add(x, x), axis=0, descending=True), x)"),
    "split": (f"{X}, {Y}", "R.split(R.nn.relu(R.concat((x, y), axis=1)), [12], axis=1)"),
    "repeat": (X, "R.add(R.repeat(R.nn.relu(x), 2, axis=0), R.tile(x, (2, 1)))"),
    "flip": (X, "R.add(R.flip(R.add(x, x), [0, 1]), R.roll(x, 5, 1))"),
    "heads": (
        X,
        "R.flatten(R.nn.relu(R.permute_dims(R.reshape(R.add(x, x), (-1, 3, 4)), [1, 0, 2])))",
    ),
}


@pytest.mark.sampled
@pytest.mark.parametrize("name", BODIES)
def test_moved_elements(name):
    params, body = BODIES[name]
    relax.build(
        from_source(f"""
@R.function
def main({params}):
    with R.dataflow():
        out = {body}
        R.output(out)
    return out
"""),
        check=True,
    )


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_short_floats_next_to_a_margin(dtype):
    relax.build(
        from_source(f"""
@R.function
def main(x: R.Tensor(("m", 4, "n", 1), "{dtype}")):
    return R.nn.pad(x, pad_width=[0, 0, 0, 0, 0, 0, 1, 2])
"""),
        check=True,
    )


@pytest.mark.sampled
@pytest.mark.parametrize("operator", ["concat", "stack"])
def test_many_tensors_together(operator):
    names = ", ".join(["x", "y"] * 150)
    function = relax.build(
        from_source(f"""
@R.function
def main(x: R.Tensor((2, 3), "float32"), y: R.Tensor((2, 3), "float32")):
    return R.{operator}([{names}], axis=1)
""")
    )
    x, y = np.arange(12, dtype="float32").reshape(2, 2, 3)
    expected = {"concat": np.concatenate, "stack": np.stack}[operator]([x, y] * 150, axis=1)
    np.testing.assert_array_equal(function(x, y).numpy(), expected)
