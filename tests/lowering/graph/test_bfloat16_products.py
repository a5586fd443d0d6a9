"""Contractions of bf16 equal the float64 sums of their products, rounded once."""

import textwrap

import numpy as np
import pytest

from xrelax import relax
from xrelax.inspection import lower_to, module_of
from xrelax.reference.evaluate import evaluate
from xrelax.runtime.tensor import array
from xrelax.script import from_source

TARGETS = ("llvm -mcpu=native", "llvm -mcpu=x86-64-v3")
WITH_INSTRUCTION = (
    "llvm -mtriple=x86_64-linux-gnu -mcpu=znver4",
    "llvm -mtriple=aarch64-linux-gnu -mcpu=neoverse-v1",
)
DEPTHS = (1, 7, 24)


def bfloat16(shape, seed):
    """A tensor of normal numbers, rounded to bf16."""
    draw = np.random.default_rng(seed).standard_normal(shape)
    return array(draw.astype("float32"), dtype="bfloat16")


def values(tensor):
    return tensor.numpy().astype("float64")


def matmul(x, w):
    return x @ w


def transposed(x, w):
    return x @ w.T


def linear(x, w, b):
    return x @ w.T + b


LAYERS = {
    "matmul": ("R.matmul(x, w)", matmul, "bfloat16"),
    "in float32": ('R.matmul(x, w, out_dtype="float32")', matmul, "float32"),
    "as float32": ('R.matmul(R.astype(x, "float32"), R.astype(w, "float32"))', matmul, "float32"),
    "transposed": ("R.matmul(x, R.permute_dims(w))", transposed, "bfloat16"),
    "linear": ("R.linear(x, w, b)", linear, "bfloat16"),
    "linear in float32": ('R.linear(x, w, b, out_dtype="float32")', linear, "float32"),
}
"""A call, the same in NumPy, and the dtype of the result."""


def source(call, shapes):
    """The text of a module whose function calls an operator of parameters x, w and b."""
    dims = [f"({', '.join(map(str, shape))},)" for shape in shapes]
    parameters = [f'{n}: R.Tensor({d}, "bfloat16")' for n, d in zip("xwb", dims, strict=False)]
    text = f"""
@R.function
def main({", ".join(parameters)}):
    R.func_attr({{"num_input": 1}})
    return {call}
"""
    return f"@I.ir_module\nclass Module:\n{textwrap.indent(text, '    ')}"


def product(layer, batch, depth):
    """A layer over `m` rows: its text, operands, the same in NumPy, and the result's dtype."""
    call, function, dtype = LAYERS[layer]
    matrix = (depth, 19) if function is matmul else (19, depth)
    operands = [bfloat16((*batch, 5, depth), 0), bfloat16(matrix, 1)]
    operands += [bfloat16((19,), 2)] if function is linear else []
    shapes = [(*batch, '"m"', depth), matrix, (19,)]
    return source(call, shapes[: len(operands)]), operands, function, dtype


CONVOLUTIONS = {
    "conv1d": ("padding=[2, 1], strides=[2]", (5, 6, 3), ([(2, 1)], (2,), (1,))),
    "points": ("", (5, 6, 1, 1), ([(0, 0), (0, 0)], (1, 1), (1, 1))),
    "odd channels": ("padding=[1, 1, 1, 1]", (5, 3, 3, 3), ([(1, 1), (1, 1)], (1, 1), (1, 1))),
    "strides": (
        "padding=[2, 0, 1, 1], strides=[2, 1]",
        (5, 4, 3, 2),
        ([(2, 1), (0, 1)], (2, 1), (1, 1)),
    ),
    "dilation": ("dilation=[2, 3]", (5, 1, 3, 2), ([(0, 0), (0, 0)], (1, 1), (2, 3))),
    "float32": ('out_dtype="float32"', (5, 7, 2, 2), ([(0, 0), (0, 0)], (1, 1), (1, 1))),
}
"""Attributes, the shape of the weight, and padding, strides and dilation."""


def convolution(name):
    """A convolution over `n` images of `h` rows, as `product` gives layers."""
    attributes, weight, options = CONVOLUTIONS[name]
    rank = len(weight) - 2
    operands = [bfloat16((2, weight[1], *(9, 8)[:rank]), 0), bfloat16(weight, 1)]
    shapes = [('"n"', weight[1], *('"h"', 8)[:rank]), weight]
    call = f"R.nn.conv{rank}d(x, w, {attributes})"
    dtype = "float32" if name == "float32" else "bfloat16"
    return source(call, shapes), operands, lambda x, w: convolved(x, w, *options), dtype


def convolved(x, w, padding, strides, dilation):
    """The convolution in NumPy."""
    rank = w.ndim - 2
    x = np.pad(x, [(0, 0), (0, 0), *padding])
    reach = [d * (n - 1) + 1 for d, n in zip(dilation, w.shape[2:], strict=True)]
    windows = np.lib.stride_tricks.sliding_window_view(x, reach, tuple(range(2, 2 + rank)))
    windows = windows[:, :, *(slice(None, None, s) for s in strides)]
    windows = windows[..., *(slice(None, None, d) for d in dilation)]
    return np.einsum("nchwyx,ocyx->nohw" if rank == 2 else "nchx,ocx->noh", windows, w)


def require_one_rounding(drawn, terms, turn):
    """The error is at most that of the float32 sums, and of one rounding to bf16.

    Targets, and constant weights or those of a call, take turns.
    """
    text, operands, function, dtype = drawn
    data, *weights = operands
    is_constant = turn // 2 % 2
    constants = dict(zip("wb", weights, strict=False)) if is_constant else {}
    module = relax.transform.BindParams("main", constants)(from_source(text))
    call = relax.build(module, TARGETS[turn % 2], check=True)["main"]
    found = call(data) if is_constant else call(*operands)
    exact = function(*map(values, operands))
    sizes = function(*(np.abs(values(x)) for x in operands))
    rounding = 2.0**-8 * np.abs(exact) if dtype == "bfloat16" else 0
    assert (found.dtype, found.shape) == (dtype, exact.shape)
    error = np.abs(values(found) - exact)
    np.testing.assert_array_less(error, (terms + 2) * 2.0**-23 * sizes + rounding)


@pytest.mark.sampled
@pytest.mark.parametrize("depth", range(len(DEPTHS)), ids=map(str, DEPTHS))
@pytest.mark.parametrize("layer", LAYERS)
def test_products(layer, depth):
    turn = [*LAYERS].index(layer) + depth
    batch = (2,) if turn % 3 == 0 else ()
    require_one_rounding(product(layer, batch, DEPTHS[depth]), DEPTHS[depth], turn)


@pytest.mark.sampled
@pytest.mark.parametrize("name", CONVOLUTIONS)
def test_convolutions(name):
    terms = int(np.prod(CONVOLUTIONS[name][1][1:]))
    require_one_rounding(convolution(name), terms, [*CONVOLUTIONS].index(name))


@pytest.mark.sampled
@pytest.mark.parametrize(("number", "name"), [*enumerate((*LAYERS, *CONVOLUTIONS))])
def test_loops_for_other_processors(number, name):
    """The reference runs what is lowered for them, in float64; processors take turns."""
    target = WITH_INSTRUCTION[number % 2]
    text, operands, function, _ = product(name, (2,), 7) if name in LAYERS else convolution(name)
    lowered = lower_to(module_of(from_source(text)), "loops", target=target)
    assert any(op in str(lowered) for op in ("tir.bfdot", "tir.mmla"))
    (found,) = evaluate(lowered, "main", [x.view() for x in operands], float64=True)
    np.testing.assert_allclose(found, function(*map(values, operands)), rtol=1e-12, atol=1e-12)


def test_differences_of_bfloat16_are_contracted_in_float32():
    """A number that is subtracted from bf16 is no zero point."""
    text = """
@R.function
def main(x: R.Tensor((3, 5), "bfloat16"), w: R.Tensor((5, 2), "bfloat16"),
         z: R.Tensor((), "bfloat16")):
    y = R.subtract(R.astype(x, "float32"), R.astype(z, "float32"))
    return R.matmul(y, R.astype(w, "float32"))
"""
    x, w = bfloat16((3, 5), 0), bfloat16((5, 2), 1)
    z = array(np.array(1.0078125, "float32"), dtype="bfloat16")
    lowered = lower_to(module_of(from_source(text)), "relax", target=WITH_INSTRUCTION[0])
    (found,) = evaluate(lowered, "main", [t.view() for t in (x, w, z)])
    expected = (values(x) - 1.0078125) @ values(w)
    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-5)
