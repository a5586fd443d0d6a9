"""Keys and values of int8, bfloat16, float16 and float32 in the cache, and their errors."""

from __future__ import annotations

import numpy as np
import pytest

from xrelax import relax
from xrelax.llm.options import CACHES
from xrelax.llm.pages import PLACES, PageLayout, PagePool
from xrelax.llm.pages_in_graph import PagesInGraph, page_parameters
from xrelax.relax import BlockBuilder, TensorStructInfo, Var
from xrelax.script import from_source

HEADS, SIZE = 3, 16
SLOTS = np.array([3, 35, 36, 70, 71], np.int32)
ROUNDING = {"int8": 1 / 254, "bfloat16": 2**-8, "float16": 2**-11, "float32": 0}
"""The largest error of a number, as a part of the largest magnitude of its position and head."""


def stored_and_read(dtype):
    """A function that stores keys and values (n, 3, 16) at slots, and returns what is read."""
    layout, builder = PageLayout(1, HEADS, SIZE, dtype), BlockBuilder()
    rows = [Var(n, TensorStructInfo(("n", HEADS, SIZE), "float32")) for n in ("k", "v")]
    slots = Var("slots", TensorStructInfo(("n",), "int32"))
    pages = [Var(name, info) for name, info in page_parameters(layout).items()]
    with builder.function("main", [*rows, slots, *pages]):
        with builder.dataflow():
            own = PagesInGraph(layout, pages, slots)
            own.write(0, *rows)
            found = builder.emit_output(relax.Tuple(own.read(0, slots, "float32")))
        builder.emit_func_output(found)
    return layout, relax.build(builder.get(), check=True)


@pytest.mark.parametrize("dtype", CACHES)
def test_numbers_that_are_stored(dtype):
    layout, run = stored_and_read(dtype)
    pool, rng = PagePool(layout, 4), np.random.default_rng(0)
    keys, values = (rng.standard_normal((2, 5, HEADS, SIZE)) * 3).astype(np.float32)
    keys[1, 1] = 0
    for given, found in zip((keys, values), run(keys, values, SLOTS, *pool.arrays), strict=True):
        largest = np.abs(given).max(-1, keepdims=True)
        assert (np.abs(found.numpy()[0] - given) <= 1.0001 * ROUNDING[dtype] * largest).all()


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_numbers_that_are_not_finite(value):
    """The head of a position is then NaN, and no other one."""
    layout, run = stored_and_read("int8")
    keys = np.ones((5, HEADS, SIZE), np.float32)
    keys[2, 1, 5] = value
    found, _ = run(keys, keys, SLOTS, *PagePool(layout, 4).arrays)
    is_nan = np.isnan(found.numpy()[0]).all(-1)
    assert is_nan.sum() == 1 and is_nan[2, 1] and np.isfinite(found.numpy()[0][~is_nan]).all()


@pytest.mark.parametrize("seed", range(3))
def test_the_error_of_attention(seed):
    """Scores change by at most ``d``, weights by a factor up to ``exp(2 d)``."""
    source = """
@R.function
def main(q: R.Tensor(("n", 6, 16), "float32"), k: R.Tensor(("p", 3, 16, 32), "int8"),
         v: R.Tensor(("p", 3, 32, 16), "int8"), t: R.Tensor(("n", "u"), "int32"),
         l: R.Tensor(("n",), "int32"), a: R.Tensor(("p", 3, 32), "float32"),
         b: R.Tensor(("p", 3, 32), "float32")):
    return R.nn.paged_attention(q, k, v, t, l, a, b)
"""
    rng = np.random.default_rng(seed)
    query = rng.standard_normal((2, 6, SIZE)).astype(np.float32)
    keys, values = rng.standard_normal((2, 64, HEADS, SIZE)).astype(np.float32)
    scales = [np.abs(x).max(-1) / np.float32(127) for x in (keys, values)]
    codes = [np.rint(x / s[..., None]).astype(np.int8) for x, s in zip((keys, values), scales)]
    pages = [x.reshape(2, 32, HEADS, SIZE) for x in codes]
    scales = [s.reshape(2, 32, HEADS).transpose(0, 2, 1).copy() for s in scales]
    table = np.array([[0, 1], [0, 1]], np.int32)
    found = relax.build(from_source(source))(
        query,
        pages[0].transpose(0, 2, 3, 1).copy(),
        pages[1].transpose(0, 2, 1, 3).copy(),
        table,
        np.array([64, 41], np.int32),
        *scales,
    ).numpy()
    for row, length in enumerate((64, 41)):
        own = [np.repeat(x[:length], 2, 1) for x in (keys, values)]
        scores = np.einsum("hd,ihd->hi", query[row], own[0]) / SIZE**0.5
        weights = np.exp(scores - scores.max(1, keepdims=True))
        wanted = np.einsum("hi,ihd->hd", weights / weights.sum(1, keepdims=True), own[1])
        d = np.abs(query[row]).sum(-1) / SIZE**0.5 * np.abs(own[0]).max() / 254
        bound = np.expm1(2 * d)[:, None] * np.abs(own[1]).max() + np.abs(own[1]).max() / 254
        assert (np.abs(found[row] - wanted) < bound).all()
        assert np.abs(found[row] - wanted).max() < 0.02


@pytest.mark.parametrize("dtype", CACHES)
def test_memory(dtype):
    """Keys and values of SmolLM2-135M's three heads of 64, in 30 layers."""
    layout = PageLayout(30, 3, 64, dtype)
    assert (
        sum(a.nbytes for a in PagePool(layout, 4).arrays) == layout.bytes_of_position * 4 * PLACES
    )
    numbers = 2 * 30 * 3 * 64
    wanted = {"int8": numbers + 2 * 30 * 3 * 4, "float32": 4 * numbers}.get(dtype, 2 * numbers)
    assert layout.bytes_of_position == wanted
